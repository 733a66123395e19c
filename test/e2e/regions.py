"""Regions: what programs mark, however they come by the library, and what the report makes of it."""
import json
import shutil

import record_file
from record_file import EPOCH, REGION, load
from victim import EMULATE, INERT, check_sums, fresh, library, prog, programs, reports, run

FIGURES = ("cpu_ns", "stall_ns", "stall_wb_ns", "ma_ro", "ma_wb", "delay_owed_ns", "delay_paid_ns")
NO_MISUSE = {"ends_without_begin": 0, "left_open": 0, "open_at_end": 0, "cross_thread": 0, "misnested": 0,
             "too_deep": 0, "too_many": 0, "names_cut": 0, "without_name": 0, "resumes_without_pause": 0}
LINKED = {"preload": None}
copied = fresh() / "libnvmemu.so"
shutil.copy(library, copied)


def emulated(*command, **options):
    """The reports of all processes of a run, that of the first one first."""
    out = fresh()
    settings = EMULATE | {"NVM_OUT": f"{out}/%p.json"} | options.pop("settings", {})
    done = run(*command, settings=settings, **options)
    assert done.returncode == 0 and done.stderr == "", (command, done)
    found = reports(out)
    for report in found:
        assert report["emulated"] == "yes", report["why_not"]
        check_sums(report)
        check_regions(report)
    return sorted(found, key=lambda r: r["program"]["started_at"]), done.stdout


def waiting(*command, **options):
    """A run of one process that waits for memory: its report, and what it printed. Where others take
    the core away all the time few samples come, and look-ahead, which they disturb, sees no miss:
    such a run says nothing of delay, and is made again."""
    for _ in range(10):
        (report,), printed = emulated(*command, **options)
        walks = [r for r in report["regions"]["list"] if r["name"] == "walk"]
        if report["totals"]["misses"] and all(r["exclusive"]["samples"] for r in walks):
            break
    return report, printed


def check_regions(report):
    """The parts are the whole, to the nanosecond, and threads make up the process."""
    regions = report["regions"]
    for key in FIGURES:
        inside = sum(r["exclusive"][key] for r in regions["list"])
        assert inside + regions["outside"][key] == report["totals"][key], (key, regions)
        assert inside == sum(r["exclusive"][key] for t in report["threads"] for r in t["regions"]), key
    for r in regions["list"]:
        mine = [m for t in report["threads"] for m in t["regions"] if m["name"] == r["name"]]
        assert r["calls"] == sum(m["calls"] for m in mine), r
        for key in FIGURES:
            assert r["exclusive"][key] <= r["inclusive"][key], (key, r)
            assert r["inclusive"][key] == sum(m["inclusive"][key] for m in mine), (key, r)
        assert r["exclusive"]["delay_paid_ns"] <= r["exclusive"]["delay_owed_ns"], r
    assert regions["paused"]["delay_owed_ns"] == regions["rows_not_listed"] == 0, regions


def check_phases(report, printed):
    """Each region's time is its own, by the program's clock, which may run a bit faster or slower than
    the time-stamp counter. CPU time is split by samples, which come seldom where others want the core,
    and then belong to one region each: the sums hold, and unit.regions has the rest."""
    walk, outer, rest = (named(report, name) for name in ("walk", "outer", "rest"))
    for region, line in zip((walk, rest), printed.splitlines(), strict=True):
        least_ns, most_ns = (int(word) for word in line.split())
        assert 0.999 * least_ns < region["exclusive"]["wall_ns"] < 1.001 * most_ns, (region, line)
    for key in ("cpu_ns", "wall_ns"):
        # of walk's three calls two are within outer
        within = rest["inclusive"][key] + outer["exclusive"][key]
        assert within <= outer["inclusive"][key] <= within + walk["exclusive"][key], (key, walk, outer)
    assert outer["exclusive"]["wall_ns"] < 0.02 * outer["inclusive"]["wall_ns"], outer


def named(report, name):
    (found,) = [r for r in report["regions"]["list"] if r["name"] == name]
    return found


def calls(report):
    return {r["name"]: r["calls"] for r in report["regions"]["list"]}


# inert: nothing happens, nothing is written
for command in ((prog("regions"), "phases"), (prog("regions"), "misuse"), (prog("regions_weak"), "phases")):
    for preload in (None, library):
        done = run(*command, preload=preload, settings=INERT)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (command, preload, done)
done = run(prog("regions"), "stats", preload=None, settings=INERT)
assert done.stdout == 2 * ("0" + 8 * " 0" + "\n"), done

# linked, linked and preloaded, preloaded from elsewhere, found at run time: all the same
PHASES = {"outer": 1, "walk": 3, "rest": 1}
for program, options in (("regions", LINKED), ("regions", {}), ("regions", {"preload": copied}),
                         ("regions_weak", {})):
    report, printed = waiting(prog(program), "phases", "80", "clock", **options)
    assert calls(report) == PHASES and report["regions"]["misuse"] == NO_MISUSE, report["regions"]
    assert report["regions"]["begins"] == 5 and report["regions"]["pauses"] == 1, report["regions"]
    walk, rest = named(report, "walk"), named(report, "rest")
    check_phases(report, printed)
    assert rest["inclusive"]["delay_owed_ns"] < walk["exclusive"]["delay_owed_ns"] / 20, (rest, walk)
    paused_ns, rest_ns = report["regions"]["paused"]["cpu_ns"], rest["exclusive"]["cpu_ns"]
    assert 0.99 * rest_ns <= paused_ns <= rest_ns, (report, rest)
    assert walk["exclusive"]["delay_owed_ns"] > 0 and walk["exclusive"]["samples"] > 0, walk
    assert report["regions"]["outside"]["delay_owed_ns"] > 0, report["regions"]
done = run(prog("regions_weak"), "phases", preload=None)
assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
for preload in (None, library, copied):
    (report,), printed = emulated(prog("regions"), "copies", preload=preload)
    assert printed == "1\n" and calls(report) == {"copies": 1}, (printed, report["regions"])

# loaded at run time, with and without a preload; other copies leave the work to the first
module = programs / "libprog_regions_module.so"
others = [fresh() / "libnvmemu.so.9" for _ in range(2)]
for other in others:
    shutil.copy(library, other)
for preload in (library, None):
    (report,), _ = emulated(prog("regions_opener"), module, *others, preload=preload)
    assert calls(report) == {"of the module": 1, "by a copy": 2}, (preload, report["regions"])
    assert report["regions"]["misuse"] == NO_MISUSE, report["regions"]

# short regions are told apart by samples and counters: hardly any time is outside
report, _ = waiting(prog("regions"), "often", "300")
walk, outer = named(report, "walk"), named(report, "outer")
assert walk["calls"] == outer["calls"] > 20, walk
assert walk["exclusive"]["cpu_ns"] > 0.9 * outer["inclusive"]["cpu_ns"], (walk, outer)
assert walk["exclusive"]["delay_owed_ns"] > 0, walk
assert outer["exclusive"]["wall_ns"] < walk["exclusive"]["wall_ns"] / 20, report["regions"]

# emulated inside alone: all delay is owed there, none for the rest
report, printed = waiting(prog("regions"), "phases", "80", "clock", settings={"NVM_REGIONS": "only"})
check_phases(report, printed)
outside, walk = report["regions"]["outside"], named(report, "walk")["exclusive"]
assert outside["stall_ns"] > 0, report["regions"]
assert outside["delay_owed_ns"] == 0 < walk["delay_owed_ns"], report["regions"]
assert report["totals"]["delay_owed_ns"] == sum(
    r["exclusive"]["delay_owed_ns"] for r in report["regions"]["list"]), report["regions"]
done = run(prog("regions"), "phases", settings=EMULATE | {"NVM_REGIONS": "inside"})
assert done.returncode == 125 and "NVM_REGIONS: bad value 'inside'" in done.stderr, done
report, _ = waiting(prog("hello"), "100", settings={"NVM_REGIONS": "only"})
assert report["totals"]["delay_owed_ns"] == 0 < report["totals"]["stall_ns"], report["totals"]
report, _ = waiting(prog("regions"), "phases", settings={"NVM_INJECT": "off"})
assert named(report, "walk")["exclusive"]["delay_owed_ns"] > 0 == report["totals"]["delay_paid_ns"]

# misuse is counted, and told
(report,), _ = emulated(prog("regions"), "misuse")
assert report["regions"]["misuse"] == NO_MISUSE | {
    "ends_without_begin": 3, "open_at_end": 2, "cross_thread": 2, "misnested": 2,
    "too_deep": 100 - 64, "too_many": 300 - (255 - 5) + 63 + 1, "names_cut": 1, "without_name": 1,
    "resumes_without_pause": 1}, report["regions"]["misuse"]
assert calls(report)["(unnamed)"] == 1 and calls(report)["n" * 63] == 1, calls(report)
(report,), _ = emulated(prog("regions"), "mortal")
assert calls(report) == {"mortal": 1} and named(report, "mortal")["exclusive"]["cpu_ns"] > 0, report["regions"]
(report,), _ = emulated(prog("regions"), "signal")
assert report["regions"]["misuse"] == NO_MISUSE, report["regions"]
assert calls(report)["outer"] == calls(report)["inner"] >= 1000000, calls(report)
assert calls(report)["in the handler"] >= 20, calls(report)

# threads have their own; two leave a region open, and main ends one too many
(report,), _ = emulated(prog("regions"), "threads")
assert calls(report) == {"main": 1, "common": 4, "even": 2, "odd": 2, "left open": 2}, calls(report)
assert report["regions"]["misuse"] == NO_MISUSE | {
    "left_open": 2, "ends_without_begin": 1, "cross_thread": 1}, report["regions"]["misuse"]
listed = [sorted(r["name"] for r in t["regions"]) for t in report["threads"]]
assert sorted(listed) == [["common", "even"]] * 2 + [["common", "left open", "odd"]] * 2 + [["main"]], listed

# a child goes on in the regions that its parent had open, with nothing counted
(parent, child), _ = emulated(prog("regions"), "forks")
if parent["program"]["pid"] == child["program"]["ppid"]:
    parent, child = parent, child
else:
    parent, child = child, parent
assert calls(parent) == {"outer": 1, "inner": 1}, parent["regions"]
assert calls(child) == {"outer": 0, "inner": 0, "of the child": 1}, child["regions"]
for report in (parent, child):
    assert report["regions"]["misuse"] == NO_MISUSE, report["regions"]
assert child["regions"]["begins"] == 1, child["regions"]
assert child["regions"]["outside"]["cpu_ns"] > 0 < named(child, "of the child")["exclusive"]["cpu_ns"]
assert named(child, "outer")["inclusive"]["cpu_ns"] >= named(child, "of the child")["inclusive"]["cpu_ns"]

# C++: also where an exception leaves a region
if (programs / "prog_regions_cxx").exists():
    for preload in (None, library):
        report, _ = waiting(prog("regions_cxx"), preload=preload)
        assert calls(report) == {"main": 1, "throws": 3, "thread": 1}, report["regions"]
        assert report["regions"]["misuse"] == NO_MISUSE and report["regions"]["pauses"] == 3
        assert named(report, "throws")["inclusive"]["delay_owed_ns"] < \
            report["totals"]["delay_owed_ns"] / 20, report["regions"]

# the program's own view: what the report says in the end, but for its last epochs
for preload in (None, library):
    (report,), printed = emulated(prog("regions"), "stats", preload=preload)
    process, thread = ([int(word) for word in line.split()] for line in printed.splitlines())
    assert process == thread and process[0] == 1, printed
    told = dict(zip(("cpu_ns", "stall_ns", "stall_wb_ns", "ma_ro", "ma_wb", "delay_owed_ns", "delay_paid_ns",
                     "epochs"), process[1:]))
    for key, value in told.items():
        assert 0 <= value <= report["totals"][key], (key, told, report["totals"])
    assert 0 < told["epochs"] <= report["totals"]["epochs"] <= told["epochs"] + 2, (told, report["totals"])
    assert report["totals"]["cpu_ns"] - told["cpu_ns"] < 50e6, (told, report["totals"])

# in a record, epochs tell their regions, and the model over them gives each region's delay
for settings in ({}, {"NVM_REGIONS": "only"}):
    out = fresh()
    report, _ = waiting(prog("regions"), "phases", settings=settings | {"NVM_RECORD": f"{out}/%p.rec"})
    recorded = out / f"{report['program']['pid']}.rec"
    record = load(recorded)
    known = {r["region"]: r for r in record.of(REGION)}
    assert {r["name"] for r in known.values()} - {""} == set(PHASES), known
    for name in PHASES:
        mine = [e for e in record.of(EPOCH) if e["region"] and known[e["region"]]["name"] == name]
        for key in ("cpu_ns", "stall_ns", "stall_wb_ns"):
            assert sum(e[key] for e in mine) == named(report, name)["exclusive"][key], (name, key)
    exempt = {number for number, r in known.items() if r["owes"]}
    owed = record_file.owed(record.of(EPOCH), 300000, 600000, exempt=exempt)
    assert owed == [e["owed_ns"] for e in record.of(EPOCH)], (settings, known)
    assert owed[-1] == report["totals"]["delay_owed_ns"] > 0, report["totals"]
    assert (0 in exempt) == bool(settings), known

    # replayed, each region owes what the record says
    again = settings | {"NVM_COUNTERS": f"replay:{recorded}", "NVM_OUT": f"{out}/b.json",
                        "NVM_RLAT": "300", "NVM_WLAT": "600"}
    done = run(prog("regions"), "phases", "100", settings=again)
    assert done.returncode == 0 and done.stderr == "", done
    replayed = json.loads((out / "b.json").read_text())
    check_regions(replayed)
    assert replayed["replay"]["left_epochs"] == 0, replayed["replay"]
    for name in PHASES:
        for key in ("stall_ns", "ma_ro", "ma_wb", "delay_owed_ns"):
            assert named(replayed, name)["exclusive"][key] == named(report, name)["exclusive"][key], (name, key)
