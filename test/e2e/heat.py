"""Heat, from a program's misses to the command's tables. Arguments: library, victims, command, a
program of known heat."""
import csv
import gzip
import io
import json
import re
import subprocess
import sys

from victim import check_sums, clean, fresh, programs, run, succeeds

nvmemu, hotsites = sys.argv[3:5]
HEAT = {"NVM_HEAT": "on", "NVM_DRAM_LAT": "100"}
folder = fresh()


def heat(*args, status=0, error=""):
    done = subprocess.run([nvmemu, "heat", *map(str, args)], env=clean, capture_output=True,
                          text="pprof" not in args)
    assert done.returncode == status, (args, done)
    if error:
        assert error in done.stderr, (args, done.stderr)
        assert done.stdout == "", (args, done.stdout)
    else:
        assert not done.stderr, (args, done.stderr)
    return done.stdout


def measured(name, pattern, settings):
    out = folder / name
    done = succeeds(hotsites, pattern, 1.5, 256, settings=settings | {"NVM_OUT": str(out)})
    return out, json.loads(done.stdout), json.loads(out.read_text())


# A run of heat alone: nothing is owed; the account adds up to the nanosecond.
out, truth, report = measured("alone.json", "mixed", HEAT)
check_sums(report)
told = report["heat"]
assert report["totals"]["delay_owed_ns"] == 0 and report["emulated"] == "yes"
assert told["stall_ns"] == report["totals"]["stall_ns"]
assert told["stall_ns"] == told["attributed_ns"] + told["unattributed_ns"]
sites = report["sites"]
assert len(sites) == told["sites_total"] - told["sites_not_listed"]
if not report["totals"]["counters"]["epochs"]:  # else both are scaled, each for itself
    for rows in (sites, told["kinds"]):
        assert sum(row["stall_ns"] for row in rows) == told["attributed_ns"], rows
for row in sites + told["kinds"] + told["arenas"]:
    assert row["stall_wb_ns"] <= row["stall_ns"], row
    off = abs(sum(row["over_time_ns"]) - row["stall_ns"])
    assert off <= len(row["over_time_ns"]) + 1e-5 * row["stall_ns"], row
    assert len(row["over_time_ns"]) <= told["buckets"], row
assert [row["stall_ns"] for row in sites] == sorted((row["stall_ns"] for row in sites), reverse=True)
ids = [site["id"] for site in sites if site["id"]]
assert len(ids) == len(set(ids))
for site in sites:
    assert site["depth"] == len(site["frames"]) <= 8
    assert all(frame["module"] < len(told["modules"]) for frame in site["frames"])

# Off: no heat, and the command says so.
off = folder / "off.json"
succeeds("/bin/true", settings={"NVM_RLAT": "300", "NVM_DRAM_LAT": "100", "NVM_OUT": str(off)})
plain = json.loads(off.read_text())
assert plain["heat"] is None and plain["sites"] is None
heat(off, status=1, error="no heat in it")
heat(folder / "none.json", status=1, error="none.json")
heat(status=2, error="which report?")
heat("--by", "page", out, status=2, error="by")
heat("--sort", "age", out, status=2, error="sort")
heat("--top", "-1", out, status=2, error="top")
heat("--format", "dhat", "--by", "kind", out, status=2, error="of sites only")
heat("diff", out, status=2, error="two reports")
done = run("/bin/true", settings={"NVM_HEAT": "on", "NVM_COUNTERS": "replay:x"})
assert done.returncode == 125 and "NVM_HEAT" in done.stderr, done

# The table, its forms, and what each of them adds up to.
text = heat(out)
assert text.splitlines()[0].split()[:3] == ["rank", "heat%", "+-"], text
assert "unattributed: " in text and "samples lost: 0" in text
rows = json.loads(heat("--format", "json", out))["rows"]
assert sum(row["stall"] for row in rows) == sum(site["stall_ns"] for site in sites)
table = list(csv.DictReader(io.StringIO(heat("--format", "csv", out))))
assert [row["id"] for row in table[:-1]] == [row["id"] or "" for row in rows]
assert [int(row["stall_ns"]) for row in table] == [row["stall"] for row in rows] + [
    told["unattributed_ns"]]
allocs = [row["allocs"] for row in json.loads(heat("--format", "json", "--sort", "allocs", out))["rows"]]
known = [n for n in allocs if n is not None]
assert known == sorted(known, reverse=True) and allocs[:len(known)] == known
assert len(heat("--top", "2", out).splitlines()) == 1 + 2 + (len(rows) > 2) + 2
for by in ("arena", "thread", "kind"):
    assert heat("--by", by, out).splitlines()[0].split()[-1] == by
map_ = heat("--over-time", "--top", "1", out).splitlines()
assert re.search(r" \|[ .0-9]*9[ .0-9]*\|$", map_[-2]), map_

# By name: blocks know who asked for them, with what was inlined and where.
by_name = {frame["function"]: row for row in rows for frame in row["stack"] if frame["function"]}
named = any(row["stack"] and row["stack"][0]["function"] for row in rows)
for name in [f"site{i}" for i in range(8)] if named else []:
    row = by_name[name]
    assert row["kind"] == "heap" and row["allocs"] == 1 and row["frees"] == 0, row
    frames = [frame["function"] for frame in row["stack"]]
    assert frames[:2] == ["allocate", name], frames
    assert row["stack"][1]["file"].endswith("hotsites.c") and row["stack"][1]["line"] > 0
    assert row["label"].startswith(f"{name} (hotsites.c:"), row
assert "allocate (" in heat("--stacks", out) or not named
assert "hotsites!0x" in heat("--no-symbols", "--top", "0", out)

# What is hot: by far more than chance or a busy machine could turn around.
if named and report["totals"]["stall_share"] > 0.2:
    shares = [by_name[f"site{i}"]["share"] for i in range(8)]
    assert shares[0] > 0.25 and shares[0] > 2 * shares[3] and shares[1] > shares[5], shares
    assert by_name["site0"]["reads"] > by_name["site0"]["writes"]
    assert by_name["site1"]["writes"] > by_name["site1"]["reads"]

# The page names sites and call paths alike.
page = subprocess.run([nvmemu, "report", "--format", "html", out], env=clean, capture_output=True,
                      text=True, check=True).stdout
assert not named or re.search(r"<summary><bdi>site1 \(hotsites\.c:\d+\).*?</summary><ol>"
                              r"<li>allocate \(hotsites\.c:\d+\)</li><li>site1 \(", page)
assert "hotsites!0x" not in page or not named

# Folded stacks: the program's root first, every nanosecond there.
folded = [line.rsplit(" ", 1) for line in heat("--format", "folded", out).splitlines()]
assert sum(int(n) for _, n in folded) == told["stall_ns"]
assert not named or any(stack.split(";")[-2].startswith("site0 ") for stack, _ in folded
                        if ";" in stack)
bytes_ = [line.rsplit(" ", 1) for line in
          heat("--format", "folded", "--weight", "peak", out).splitlines()]
assert sum(int(n) for _, n in bytes_) >= 255 << 20

# DHAT: all that its viewer asks for, and numbers of frames that are there.
dhat = json.loads(heat("--format", "dhat", out))
assert dhat["dhatFileVersion"] == 2 and dhat["bklt"] and dhat["bkacc"]
assert {"mode", "verb", "tu", "Mtu", "tuth", "cmd", "pid", "te", "tg", "pps", "ftbl"} <= set(dhat)
assert dhat["ftbl"][0] == "[root]" and len(dhat["ftbl"]) == len(set(dhat["ftbl"]))
assert len(dhat["pps"]) == len(rows)
for point, row in zip(dhat["pps"], rows):
    assert set(point) == {"tb", "tbk", "tl", "mb", "mbk", "gb", "gbk", "eb", "ebk", "rb", "wb", "fs"}
    assert point["fs"] and all(0 < n < len(dhat["ftbl"]) for n in point["fs"]), point
    assert point["wb"] == 64 * row["writes"] and point["rb"] == 64 * row["accesses"]
used = {n for point in dhat["pps"] for n in point["fs"]}
assert used == set(range(1, len(dhat["ftbl"])))


# pprof: the message read back by its wire format.
def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    at, found = 0, {}
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        assert key & 7 in (0, 2), key
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
            assert at <= len(data)
        found.setdefault(key >> 3, []).append(value)
    return found


profile = fields(gzip.decompress(heat("--format", "pprof", out)))
strings = [s.decode() for s in profile[6]]
assert strings[0] == "" and len(strings) == len(set(strings))
types = [fields(t) for t in profile[1]]
assert [strings[t[1][0]] for t in types][:2] == ["stall", "accesses"]
locations = {fields(x)[1][0]: fields(x) for x in profile[4]}
functions = {fields(x)[1][0]: strings[fields(x)[2][0]] for x in profile[5]}
mappings = {fields(x)[1][0] for x in profile[3]}
samples = [fields(x) for x in profile[2]]
assert len(samples) == len(rows)
for sample, row in zip(samples, rows):
    assert sample[2][:2] == [row["stall"], row["accesses"]]
    lines = [functions[fields(line)[1][0]] for n in sample[1] for line in locations[n][4]]
    assert all(locations[n][2][0] in mappings for n in sample[1])
    if row["kind"] == "heap" and row["stack"]:
        assert lines == [frame["function"] or line for frame, line in zip(row["stack"], lines)]
        assert len(lines) == len(row["stack"])

# Together with emulation, in another process: sites are the same ones.
other, _, second = measured("other.json", "phases", HEAT | {"NVM_RLAT": "150"})
check_sums(second)
assert second["totals"]["delay_owed_ns"] > 0 or second["totals"]["stall_ns"] < 1000000
common = {site["id"] for site in second["sites"]} & set(ids)
assert len(common) >= 8, (ids, second["sites"])
difference = heat("diff", out, other)
assert "change" in difference.splitlines()[0] and "only in" not in "".join(
    line for line in difference.splitlines() if " site0 (" in line)
both = json.loads(heat("--format", "json", out, other))
assert both["stall_ns"] == told["stall_ns"] + second["heat"]["stall_ns"]

# From heat to placement: the file fits the capacity, the library reads it, each line meets a site.
guidance = folder / "guidance"
assert heat("--guidance", "100M", "--output", guidance, out) == ""
lines = guidance.read_text().splitlines()
assert lines == heat("--guidance", "100M", out).splitlines() and "default @ nvm" in lines
chosen = [line for line in lines if " @ dram  # " in line]
known = {row["stack"][0]["offset"] for row in rows
         if row["stack"] and row["kind"] == "heap" and row["stall"]}
for line in chosen:
    assert int(re.match(r"[^ ]+!0x([0-9a-f]+) ", line)[1], 16) in known, line
taken = sum(int(re.search(r" ([0-9]+) KiB", line)[1]) for line in chosen)
assert 0 < taken <= 100 << 10, chosen
assert not named or all("(hotsites.c:" in line for line in chosen), lines
path = folder / "placed.json"
succeeds(hotsites, "mixed", 0.5, 256, settings={
    "NVM_PLACE": str(guidance), "NVM_RLAT": "150", "NVM_DRAM_LAT": "100", "NVM_OUT": str(path)})
placement = json.loads(path.read_text())["placement"]
assert placement["unmatched_lines"] == placement["ambiguous_sites"] == 0, placement
assert [line["tier"] for line in placement["lines"]].count("dram") == len(chosen), placement

# In reports of all forms: the hottest sites, and what is placed where.
def shown(*args):
    done = subprocess.run([nvmemu, "report", *map(str, args)], env=clean, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout


text = shown(out)
assert "\nmemory by allocation site" in text and "\nregions" not in text and "placement" not in text, text
assert re.search(r"^ +[\d.]+ +0\.\d+ +\d+ +\d+ +128\.0  site0 \(hotsites\.c:\d+\) < ", text, re.M) or not named, text
table = [row for row in csv.DictReader(io.StringIO(shown("--format", "csv", out)), strict=True)
         if row["level"] == "site"]
hot = [row for row in rows if row["stall"]]
assert [(r["name"], int(r["stall_ns"])) for r in table] == [(r["label"], r["stall"]) for r in hot], table
placed = json.loads(path.read_text())["totals"]
nvm = {kind: f"{100 * placed['placement'][kind]['nvm_share']:.1f} %" for kind in ("read", "write")}
wanted = f"on NVM {nvm['read']} of reads, {nvm['write']} of writes; {guidance}: {len(placement['lines'])} lines"
text = shown(path)
assert f"\nplacement        {wanted} with a path\n" in text, (wanted, text)
met = json.loads(path.read_text())
met["placement"]["lines"][0]["sites"] = 0
met["placement"]["ambiguous_sites"] = 3
changed = folder / "changed.json"
changed.write_text(json.dumps(met))
assert "with a path, 1 of them fit no site; lines disagree on 3 sites\n" in shown(changed), shown(changed)
(row,) = (r for r in csv.DictReader(io.StringIO(shown("--format", "csv", path)), strict=True)
          if r["level"] == "placement")
assert int(row["ma_ro"]) == placed["placement"]["read"]["nvm_accesses"], row
summary = subprocess.run([nvmemu, "run", "--lib", sys.argv[1], "--heat=on", "--dram-lat", "100", "--",
                          hotsites, "mixed", "0.5", "256"], env=clean, capture_output=True, text=True)
assert summary.returncode == 0 and "memory by allocation site" in summary.stderr, summary
assert not named or " site0 (hotsites.c:" in summary.stderr, summary

for text in ("100X", "0", "-1", ""):
    heat("--guidance", text, out, status=2, error=f"bad value '{text}' of --guidance")
heat("--guidance", "1M", "--by", "kind", out, status=2, error="of all sites")
heat("--guidance", "1M", "--format", "csv", out, status=2, error="of all sites")
heat("diff", "--guidance", "1M", out, other, status=2, error="two reports")
heat("--guidance", "1M", off, status=1, error="no heat in it")
bare = folder / "bare.json"
bare.write_text(json.dumps(report | {"sites": []}))
heat("--guidance", "1M", bare, status=1, error="no stall time on memory")

# A child has heat of its own.
children = fresh()
succeeds("/bin/sh", "-c", f"{hotsites} mixed 0.3 64 >{children}/a; :",
         settings=HEAT | {"NVM_OUT": f"{children}/%e.%p.json"})
names = sorted(path.name.split(".")[0] for path in children.glob("*.json"))
assert names[0].startswith("nvmemu-hotsites"[:15]) and len(names) == 2, names
