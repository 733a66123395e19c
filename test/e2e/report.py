"""nvmemu report: every form, merging, and whatever files may be wrong with. Arguments: the library, the
victims' directory, the command."""
import copy
import csv
import io
import json
import pathlib
import re
import resource
import signal
import subprocess
import sys

import made_up
import schema
from sums import check_sums
from victim import EMULATE, clean, fresh, prog, run

nvmemu = pathlib.Path(sys.argv[3]).resolve()


def report(*arguments, **options):
    return run(nvmemu, "report", *arguments, preload=None, settings={}, **options)


def fails(message, *arguments, status=1, **options):
    done = report(*arguments, **options)
    assert done.returncode == status and message in done.stderr and not done.stdout, (arguments, done)
    assert len(done.stderr.splitlines()) <= 2, done
    return done


def shown(*arguments, **options):
    done = report(*arguments, **options)
    assert done.returncode == 0 and done.stderr == "", (arguments, done)
    return done.stdout


# a tree of processes, each with a report of its own
place = fresh()
done = run("sh", "-c", f"{prog('spin')} 30; {prog('hello')} 60; true",
           settings=EMULATE | {"NVM_OUT": str(place / "r.%p.json")})
assert done.returncode == 0, done
files = sorted(place.iterdir())
single = {p: json.loads(p.read_text()) for p in files}
assert len(files) >= 3, files
for document in single.values():
    check_sums(document)
hello = next(p for p, d in single.items() if d["program"]["name"] == "prog_hello")
crowd = next(p for p, d in single.items() if d["program"]["name"] == "prog_spin")

# text: of one, of all
text = shown(hello)
totals = single[hello]["totals"]
assert text.startswith(f"prog_hello (process {single[hello]['program']['pid']} on "), text
assert re.search(r"^emulated +read 300 ns, write 600 ns; DRAM 100\.0 ns \(NVM_DRAM_LAT\)$", text, re.M), text
for label, number in (("stall share", totals["stall_share"]), ("dirty fraction", totals["dirty_fraction"])):
    told = re.search(rf"^{label} +([\d.]+) \+- [\d.]+ of", text, re.M)
    assert told and abs(float(told[1]) - number) <= 0.0005, (label, number, text)
delay = re.search(r"^delay +owed ([\d.]+) s, paid ([\d.]+) s", text, re.M)
assert abs(float(delay[1]) - totals["delay_owed_ns"] / 1e9) < 0.001, text
assert "NVM_WLAT" in text and "NVM_BUDGET" not in text, "settings that are not at their defaults"
assert re.search(r"^run time +[\d.]+ s, natively about [\d.]+ s$", text, re.M), text
everything = shown(*files)
assert f"and {len(files) - 1} more" in everything.splitlines()[0], everything
assert re.search(r"^processes$", everything, re.M) and "prog_spin" in everything, everything
assert re.search(r"^threads( \(\d+ of \d+, by delay\))?$", shown(crowd), re.M)

# JSON: all that there is, in one document, whose parts are as they were
merged = json.loads(shown("--format", "json", *files))
assert list(merged) == ["schema", "version", "totals", "processes"], list(merged)
assert merged["schema"] == "nvmemu-run" and merged["version"] == 1
assert sorted(map(json.dumps, merged["processes"])) == sorted(map(json.dumps, single.values()))
parents = {d["program"]["pid"] for d in single.values()}
assert merged["processes"][0]["program"]["ppid"] not in parents, "the first of all comes first"
for key in ("cpu_ns", "stall_ns", "ma_ro", "ma_wb", "delay_paid_ns", "epochs"):
    assert merged["totals"][key] == sum(d["totals"][key] for d in single.values()), key
schema.check_schema(merged)
whole = place / "whole.json"
assert shown("--format", "json", "-o", whole, *files) == ""
assert json.loads(whole.read_text()) == merged
assert json.loads(shown("--format=json", whole)) == merged, "what was merged can be merged"
assert shown(whole) == everything
with hello.open() as stream:
    assert shown("-", stdin=stream) == text

# CSV: rectangular; figures as in the JSON
rows = list(csv.DictReader(io.StringIO(shown("--format", "csv", *files)), strict=True))
assert [r["level"] for r in rows].count("run") == 1 and rows[0]["level"] == "run", rows
assert all(None not in r and None not in r.values() for r in rows), "not a rectangle"
assert sum(r["level"] == "thread" for r in rows) == sum(len(d["threads"]) for d in single.values())


def flat(figures, before=""):
    for key, value in figures.items():
        if isinstance(value, dict):
            yield from flat(value, before + key + "_")
        elif not isinstance(value, list) and key not in ("mean_steps", "running_share"):
            yield before + key, value


for row in (r for r in rows if r["level"] == "process"):
    document = single[pathlib.Path(row["file"])]
    assert int(row["pid"]) == document["program"]["pid"] and row["program"] == document["program"]["name"]
    assert float(row["rlat_ns"]) == 300 and row["emulated"] == "yes", row
    for key, value in flat(document["totals"]):
        assert float(row[key]) == value, (key, value, row)
for key, value in flat(merged["totals"]):
    assert float(rows[0][key]) == value, key

# regions, one within another
marked = fresh() / "marked.json"
done = run(prog("regions"), "phases", settings=EMULATE | {"NVM_OUT": str(marked)})
assert done.returncode == 0, done
regions = json.loads(marked.read_text())["regions"]
table = shown(marked)
assert "\nregions, without those within\n" in table and "\nmemory" not in table, table
rows = {r["name"]: r for r in csv.DictReader(io.StringIO(shown("--format", "csv", marked)), strict=True)
        if r["level"] == "region"}
assert set(rows) == {r["name"] for r in regions["list"]} and rows, rows
for region in regions["list"]:
    assert re.search(rf"^ +{region['calls']} .*  {region['name']}$", table, re.M), table
    for key in ("cpu_ns", "stall_ns", "ma_ro", "ma_wb", "delay_owed_ns", "delay_paid_ns"):
        assert int(rows[region["name"]][key]) == region["exclusive"][key], (key, region)
spoilt = json.loads(marked.read_text())
spoilt["regions"]["list"][0]["exclusive"].pop("cpu_ns")
marked.write_text(json.dumps(spoilt))
for form in ("text", "csv"):
    fails("regions.list[0].cpu_ns: missing", "--format", form, marked)

# bytes moved, where they were counted, and nothing of them elsewhere
assert "GB/s" not in shown(hello)
moved = copy.deepcopy(single[hello])
moved["program"] |= {"wall_ns": 10 ** 10}
moved["threads"] = [moved["threads"][0] | {"tid": tid, "traffic": dict(moved["threads"][0]["traffic"])}
                    for tid in (11, 12)]
made_up.put_traffic(moved)
counted = place / "counted.json"
counted.write_text(json.dumps(moved))
told = shown(counted)
assert re.search(r"^bandwidth +read 4GB/s, write 2GB/s$", told, re.M), told
assert re.search(r"^traffic +read 3\.000 GB, 0\.300 GB/s of run time; written 0\.750 GB, 0\.075 GB/s "
                 r"\(look-ahead\); delay for it 0\.300 s$", told, re.M), told
rows = re.findall(r"^ +(\d+) \S+ +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$",
                  told[told.index("\ntraffic by thread"):], re.M)
assert rows == [("12", "2.000", "0.500", "5.000", "1.250", "0.200"),
                ("11", "1.000", "0.250", "5.000", "1.250", "0.100")], told
counted.unlink()

# names that would do harm
nasty = copy.deepcopy(single[hello])
nasty["program"]["name"] = 'a,"b"\n\x1b[2J\u009b31m'
nasty["threads"][0]["name"] = "=1+1"
odd = place / "odd, name.json"
odd.write_text(json.dumps(nasty))
assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\x80-\x9f]", shown(odd)), shown(odd)
rows = list(csv.DictReader(io.StringIO(shown("--format", "csv", odd)), strict=True))
assert rows[1]["program"] == nasty["program"]["name"] and rows[1]["file"] == str(odd), rows
odd.unlink()

# files of unlike runs, and of the same process
other = copy.deepcopy(single[hello])
other["settings"]["NVM_WLAT"] = "900ns"
other["program"]["pid"] = 1
unlike = place / "unlike.json"
unlike.write_text(json.dumps(other))
assert re.search(r"^note +these are of unlike runs.*: NVM_WLAT is", shown(hello, unlike), re.M)
unlike.unlink()
fails(f"{hello}: process {single[hello]['program']['pid']} (prog_hello) stands in {hello}, too", hello, hello)
fails("stands in", whole, hello)

# no reports, not whole, not to be read, of another time
wrong = fresh()
content = hello.read_bytes()
newer = json.dumps(single[hello] | {"version": 2})


def spoiled(name, data):
    path = wrong / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


for path, message in (
        (wrong / "missing", "cannot be opened: No such file"),
        (wrong, "cannot be read: Is a directory"),
        (spoiled("empty", ""), "empty"),
        (spoiled("newer", newer), "of version 2 of the report format, this nvmemu reads those up to 1"),
        (spoiled("other", '{"schema": "nvmemu-doctor", "version": 1}'), "of schema 'nvmemu-doctor'"),
        (spoiled("json", "[1, 2]"), "no report of nvmemu"),
        (spoiled("record", b"\x93NVMREC\n" + bytes(300)), "a record of NVM_RECORD"),
        (spoiled("program", pathlib.Path(prog("hello")).read_bytes()), "no JSON in line 1"),
        (spoiled("latin", content.replace(b"prog_hello", b"prog_h\xe9llo")), "no JSON in line"),
        (spoiled("type", content.replace(b'"cpu_ns": ', b'"cpu_ns": -1', 1)), "totals.cpu_ns: not a value"),
        (spoiled("key", content.replace(b'"epochs"', b'"apochs"', 1)), "totals.epochs: missing"),
        (spoiled("deep", "[" * 100000), "no JSON in line 1"),
        (spoiled("number", content.replace(b'"ma_ro": ', b'"ma_ro": 99999999999999999999', 1)), "no JSON in line"),
        *((spoiled(f"cut{n}", content[:len(content) * n // 7]), "it is cut off") for n in range(1, 7))):
    left = sorted(wrong.iterdir())
    for arguments in ([path], [hello, path], ["--format", "csv", path], ["-o", wrong / "out", path]):
        done = fails(message, *arguments)
        assert f"error: {path}: " in done.stderr, done
    assert sorted(wrong.iterdir()) == left, "something was written"

# output: never in place of another file, never half there, and told where it cannot be
kept = spoiled("kept", "mine")
fails(f"{kept} exists; --force replaces it", "-o", kept, hello)
assert kept.read_text() == "mine"
assert shown("--force", "-o", kept, hello) == "" and kept.read_text() == text
fails("cannot write /nonsense/x: No such file", "-o", "/nonsense/x", hello)
fails("Is a directory", "-f", "-o", wrong, hello)
for form in ("text", "json", "csv"):
    small = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))}
    left = sorted(wrong.iterdir())
    fails("File too large", "--format", form, "-o", wrong / "new", hello, **small)
    fails("File too large", "--format", form, "-f", "-o", kept, hello, **small)
    assert sorted(wrong.iterdir()) == left and kept.read_text() == text, "half a file"
    fails("cannot write /dev/full: No space left", "--format", form, "-o", "/dev/full", hello)
    with open("/dev/full", "w") as full:
        done = subprocess.run([nvmemu, "report", "--format", form, hello], env=clean, stdout=full,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "cannot write to the standard output: No space left" in done.stderr, done
    done = run("sh", "-c", f"exec {nvmemu} report --format {form} {hello} >&-", preload=None, settings={})
    assert done.returncode == 1 and "cannot write to the standard output" in done.stderr, done
    reader = subprocess.Popen(["true"], stdin=subprocess.PIPE)
    reader.wait()
    done = subprocess.run([nvmemu, "report", "--format", form, hello], env=clean, stdout=reader.stdin,
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == -signal.SIGPIPE and not done.stderr, done
assert shown("-o", "-", hello) == text
assert shown("-o", "/dev/stdout", hello) == text

# arguments
fails("which report?", status=2)
fails("bad value 'xml' of --format", "--format", "xml", hello, status=2)
fails("unrecognized option", "--nonsense", hello, status=2)
fails("requires an argument", "-o", status=2)

# the schema: what it forbids
if schema.jsonschema:
    for strict in (False, True):
        validator = schema.validator(strict)
        for document in (merged, *single.values()):
            assert validator.is_valid(schema.shortened(document)), strict
        for spoil in (lambda d: d["totals"].pop("epochs"), lambda d: d["totals"].update(cpu_ns=-1),
                      lambda d: d.update(version=2), lambda d: d["program"].update(started_at="today"),
                      lambda d: d["totals"].update(stall_share=1.5), lambda d: d["threads"][0].pop("tid")):
            document = copy.deepcopy(single[hello])
            spoil(document)
            assert not validator.is_valid(document), strict
    extra = single[hello] | {"novelty": 1}
    assert schema.validator(False).is_valid(extra) and not schema.validator(True).is_valid(extra)
    assert json.loads(shown("--format", "json", spoiled("extra", json.dumps(extra))))[
        "processes"][0]["novelty"] == 1
else:
    print("skipped: no jsonschema")
