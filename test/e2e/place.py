"""Placement by a guidance file: whose misses earn delay, what is reported of its lines, what is
refused; nvmemu_malloc; records of placed runs; arenas bound to a node."""
import json
import pathlib
import re
import subprocess

from record_file import EPOCH, load, owed
from victim import EMULATE, check_sums, clean, fresh, prog, reports, run

SOURCE = pathlib.Path(__file__).parent.parent / "prog" / "place.c"
LATENCY = {"read": 300, "write": 600}
PLACED = EMULATE | {"NVM_INJECT": "off", "NVM_BUDGET": "5%"}
(NEAR, FAR) = (next(i for i, line in enumerate(SOURCE.read_text().splitlines(), 1)
                    if f"/* site: {name} */" in line) for name in ("near", "far"))
out = fresh()


def guide(text):
    path = fresh() / "guidance"
    path.write_text(text)
    return str(path)


def placed(text, *arguments, **settings):
    """Reports of a run with that guidance file."""
    folder = fresh()
    done = run(prog("place"), *arguments,
               settings=PLACED | {"NVM_PLACE": guide(text), "NVM_OUT": f"{folder}/%p.json"} | settings)
    assert done.returncode == 0 and not done.stderr and not done.stdout, done
    found = reports(folder)
    for report in found:
        check_sums(report)
    return found


def share(report, kind):
    return report["totals"]["placement"][kind]["nvm_share"]


def agrees(report, reads, writes):
    """Whether of the reads and of the writes nearly all (True) or nearly none are on NVM."""
    totals = report["totals"]
    assert totals["ma_ro"] > 1000 and totals["ma_wb"] > 1000, totals
    for kind, on_nvm in (("read", reads), ("write", writes)):
        found = share(report, kind)
        assert found > 0.8 if on_nvm else found < 0.2, (kind, found, totals["placement"])
    # what is owed is owed for what is on NVM
    nvm = {k: totals["placement"][k]["nvm_accesses"] for k in LATENCY}
    wanted = sum(n * (LATENCY[k] - totals["dram_lat_ns"]) for k, n in nvm.items())
    assert abs(totals["delay_owed_ns"] - wanted) <= 0.05 * wanted + 100000, (totals, wanted)


def call_offset(function):
    """Where the call of malloc() in that function returns to, in the program's file."""
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", prog("place")], text=True,
                          stdout=subprocess.PIPE, check=True, env=clean).stdout
    body = re.search(rf"<{function}[.\w]*>:\n(.*?)(?:\n\n|\Z)", code, re.S).group(1).splitlines()
    (call,) = [i for i, line in enumerate(body) if "<malloc@plt>" in line]
    return int(body[call + 1].split(":")[0], 16)


# source lines, either way round
[report] = placed(f"default @ dram\nplace.c:{FAR} @ nvm\n")
agrees(report, reads=False, writes=True)
[line] = report["placement"]["lines"]
assert line["line"] == 2 and line["tier"] == "nvm" and line["sites"] == 1, line
assert line["code_ranges"] >= 1 and line["text"] == f"place.c:{FAR} @ nvm", line
assert report["placement"]["unmatched_lines"] == report["placement"]["ambiguous_sites"] == 0, report
epochs = report["totals"]["placement"]["write"]["epochs"]
assert sum(epochs.values()) == report["totals"]["epochs"] and epochs["by_epoch"] > 0, epochs
[report] = placed(f"default @ nvm\nprog/place.c:{FAR} @ dram # the other way\n")
agrees(report, reads=True, writes=False)

# return addresses; a line of two frames decides against one of one; one that fits nothing
near, far = call_offset("make_near"), call_offset("make_far")
[report] = placed(f"prog_place!{near:#x} > place.c:{NEAR} @ dram\nprog_place!{near:#x} @ nvm\n"
                  f"nowhere.c:1 > nobody.c:2 @ nvm\nprog_place!{far:#x} @ dram\n")
agrees(report, reads=True, writes=False)
assert [l["sites"] for l in report["placement"]["lines"]] == [0, 1, 0, 1], report["placement"]
assert report["placement"]["unmatched_lines"] == 2, report["placement"]
assert report["placement"]["memory"]["default"] == "dram", report["placement"]

# lines that disagree: the first counts, and it is told
[report] = placed(f"place.c:{FAR} @ nvm\nprog_place!{far:#x} @ dram\n")
agrees(report, reads=False, writes=True)
[first, second] = report["placement"]["lines"]
assert first["ambiguous_sites"] == 1 and first["ambiguous_with_line"] == 2, first
assert report["placement"]["ambiguous_sites"] == 1 and second["sites"] == 0, report["placement"]

# by kind; a forked child
[report] = placed("anonymous @ nvm\n", "mapped")
agrees(report, reads=False, writes=True)
[report] = placed("default @ nvm\nmmap @ dram\n", "mapped")
agrees(report, reads=True, writes=False)
[report] = placed("data @ nvm\n", "data")
agrees(report, reads=False, writes=True)
[report] = placed("heap @ nvm\n")
agrees(report, reads=True, writes=True)
found = placed(f"place.c:{FAR} @ nvm\n", "fork")
child = max(found, key=lambda r: r["totals"]["ma_ro"])
assert len(found) == 2, len(found)
agrees(child, reads=False, writes=True)

# nvmemu_malloc needs no line
[report] = placed("default @ dram\n", "marked")
agrees(report, reads=False, writes=True)
assert report["placement"]["sites_of_nvmemu_malloc"] == 1, report["placement"]

# what a record of a placed run holds is what a replay owes, whatever the latencies
settings = {"NVM_RECORD": f"{out}/placed.rec"}
[report] = placed(f"place.c:{FAR} @ nvm\n", **settings)
record = load(out / "placed.rec")
assert any(e["dram_ro_ppm"] > 500000 > e["dram_wb_ppm"] for e in record.of(EPOCH)), record.of(EPOCH)
mine = record.threads()[0]
assert [e["owed_ns"] for e in mine] == owed(mine, 300000, 600000), mine
replay = {"NVM_COUNTERS": f"replay:{out}/placed.rec", "NVM_WLAT": "450", "NVM_INJECT": "off"}
done = run(prog("place"), settings=replay | {"NVM_OUT": f"{out}/again.json"})
assert done.returncode == 0 and not done.stderr, done
again = json.loads((out / "again.json").read_text())
assert again["totals"]["delay_owed_ns"] in owed(mine, 0, 450000), again["totals"]
assert again["totals"]["delay_owed_ns"] > 0 and "placement" not in again, again
assert "placement" in again["totals"], again["totals"]

# refused before the program starts, with the place and the accepted form
hello = prog("hello")
for text, wanted in (("place.c:12\n", ":1: 'place.c:12'; accepted: FRAME > FRAME"),
                     ("# x\n\ndefault @ slow\n", ":3: 'default @ slow'; accepted: "),
                     ("heap @ nvm\nheap @ dram\n", ":2: 'heap' again, after line 1")):
    path = guide(text)
    done = run(hello, settings=EMULATE | {"NVM_PLACE": path})
    assert done.returncode == 125 and not done.stdout, done
    assert f"NVM_PLACE: {path}{wanted}" in done.stderr and done.stderr.count("\n") == 1, done
for value, wanted in (("/nonexistent", "No such file or directory; accepted: all, or a guidance"),
                      ("/", "Is a directory"), ("/dev/null", "Invalid argument")):
    done = run(hello, settings=EMULATE | {"NVM_PLACE": value})
    assert done.returncode == 125 and wanted in done.stderr, done
done = run(hello, settings=replay | {"NVM_PLACE": guide("")})
assert done.returncode == 125 and "not with NVM_COUNTERS=replay" in done.stderr, done
# inert: not even read
assert run(hello, settings={"NVM_PLACE": "/nonexistent"}).returncode == 0
# lines that are nowhere: a warning
done = run(hello, settings=EMULATE | {"NVM_PLACE": guide("nowhere.c:1 @ nvm\n")})
assert done.returncode == 0 and "no source line of it" in done.stderr, done

# bound to a node instead: named sites by their arenas, nothing else
far_bound = {"NVM_PLACE": guide(f"place.c:{FAR} @ nvm\n"), "NVM_BIND": "0"}
done = run(prog("place"), "bound", settings=far_bound)
assert done.returncode == 0, done
if "none" in done.stdout:
    print("skipped: no numa_maps")
elif "cannot be bound" not in done.stderr:
    assert done.stdout == "near default\nfar bind:0\n" and not done.stderr, done
for settings, wanted in (({"NVM_BIND": "1023"}, "cannot be bound to node 1023"),
                         ({"NVM_BIND": "1024"}, "bad value '1024'"),
                         ({"NVM_RLAT": "300"}, "not with emulated latencies"),
                         ({"NVM_PLACE": "all"}, "only with NVM_PLACE=FILE")):
    done = run(hello, settings=far_bound | settings)
    assert done.returncode == 125 and wanted in done.stderr, done
