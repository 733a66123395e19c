"""Hardware counters end to end, with software events in their place: every machine has these. The
task clock counts nanoseconds, so that all of a program's time is stall; and each way in which a
kernel refuses ends in one line, or in look-ahead."""
import os
import pathlib

from victim import EMULATE, check_sums, fresh, prog, reports, run, succeeds, told

CLOCK = EMULATE | {"NVM_PMU_EVENTS": "stall=1/1", "NVM_COUNTERS": "pmu", "NVM_EPOCH": "4ms"}
SOURCES = pathlib.Path(__file__).parent.parent / "prog"
REFUSED = "no hardware counters: NVM_PMU_EVENTS, event "


def reported(*command, settings=CLOCK, quiet=True, **options):
    """What the program's report says, its sums checked."""
    out = fresh()
    done = run(*command, settings=settings | {"NVM_OUT": f"{out}/%e-%p.json"}, **options)
    assert done.returncode == 0, (command, done)
    assert not quiet or done.stderr == "", (command, done)
    found = reports(out)
    for report in found:
        check_sums(report)
    return found, done


def all_stall(totals):
    """All of it, less what the monitor's birth takes, or an epoch that was read early."""
    return totals["stall_ns"] >= 0.5 * totals["cpu_ns"]


[report], _ = reported(prog("threads"), "some")
sources, totals = report["sources"], report["totals"]
assert report["emulated"] == "yes"
assert sources["stall_time"] == "hardware counters", sources
assert sources["counter_events"] == "NVM_PMU_EVENTS", sources
assert sources["dirty_fraction"] == "look-ahead", sources
assert "names no events" in sources["why_not_better"]["dirty_fraction"], sources
assert "written=, all=" in sources["mend"]["dirty_fraction"], sources
assert "stall cycles 1/1 1/0x1" in sources["how"]["stall_time"], sources
assert "one system call an epoch" in sources["how"]["stall_time"], sources
assert sources["latency"] == "calibration" and "DRAM" in sources["how"]["latency"], sources
assert sources["why_not_better"]["stall_time"] == sources["mend"]["stall_time"] == "", sources
assert all_stall(totals), totals
counters = totals["counters"]
assert counters["epochs"] == totals["epochs"] > 0, totals
assert counters["reads"] > 0 and counters["running_share"] == 1, totals
assert counters["wraps"] == counters["backwards"] == counters["uncounted_threads"] == 0, totals
for thread in report["threads"]:
    if not thread["alive"]:
        assert all_stall(thread), thread
# the model goes by them: stall time over DRAM's latency, 200 ns more for each access
assert totals["delay_owed_ns"] > totals["stall_ns"], totals

# an event that hardly ever happens: no stall, no delay, whatever look-ahead thinks
[report], _ = reported(prog("threads"), "some", settings=CLOCK | {"NVM_PMU_EVENTS": "stall=1/3"})
assert report["totals"]["stall_share"] < 0.01, report["totals"]
assert report["totals"]["counters"]["epochs"] == report["totals"]["epochs"], report

# each process of a tree, and children that end in all ways
found, _ = reported(prog("process"), "fork")
assert len(found) > 20, len(found)
assert all(all_stall(r["totals"]) for r in found if r["totals"]["cpu_ns"] > 20000000), found

# socket-wide events: as root, and the paranoid level permitting
socket_wide = CLOCK | {"NVM_PMU_EVENTS": "stall=1/1,written=1/2,all=1/1"}
[report], _ = reported(prog("threads"), "some", settings=socket_wide)
sources = report["sources"]
if sources["dirty_fraction"] == "socket-wide counters":
    assert "written 1/2 1/0x2, over all 1/1 1/0x1" in sources["how"]["dirty_fraction"], sources
    # page faults beside nanoseconds are next to nothing
    assert sources["socket_wide"]["reads"] > 0 == sources["socket_wide"]["failures"], sources
    # but in the first epochs, when nothing is known of the socket yet
    assert report["totals"]["dirty_fraction"] < 0.5, report["totals"]
    swapped = CLOCK | {"NVM_PMU_EVENTS": "stall=1/1,written=1/1,written=1/1,all=1/1"}
    [report], _ = reported(prog("threads"), "some", settings=swapped)
    assert report["sources"]["socket_wide"]["clamps"] > 0, report["sources"]
    assert report["totals"]["dirty_fraction"] <= 1, report["totals"]
else:
    assert "perf_event_paranoid" in sources["why_not_better"]["dirty_fraction"], sources
    assert "perf_event_paranoid=0" in sources["mend"]["dirty_fraction"], sources
# hard on a library that follows threads: the program's results stay its own
for what in ("cancel", "storm", "stacks"):
    succeeds(prog("threads"), what, output="done\n", settings=CLOCK)
for what in ("alone", "fork", "sandbox", "sandbox-syscall", "sandbox-_exit"):
    succeeds(prog("process"), what, settings=CLOCK)
succeeds(prog("blocking"), settings=CLOCK)

# sampled addresses: page faults in place of loads that miss. All stall time goes to the lines of the
# blocks whose pages fault, in their proportion, and placement goes by the same loads.
FAULTS = CLOCK | {"NVM_PMU_EVENTS": "stall=1/1,loads=1/2@64", "NVM_HEAT": "on"}
[report], _ = reported(prog("fresh"), "0.3", settings=FAULTS)
sources, heat, totals = report["sources"], report["heat"], report["totals"]
assert sources["addresses"] == "sampled loads", sources
assert sources["why_not_better"]["addresses"] == "", sources
assert "1/2 1/0x2 every 64 times" in sources["how"]["addresses"], sources
assert totals["counters"]["loads_sampled"] > 200, totals["counters"]
assert totals["counters"]["unsampled_threads"] == totals["counters"]["loads_damaged"] == 0, totals
assert heat["attributed_ns"] > 0.9 * totals["stall_ns"] > 0, heat
assert sum(site["stall_ns"] for site in report["sites"]) == heat["attributed_ns"], report["sites"]
many, few = report["sites"][:2]
assert many["blocks"]["peak_bytes"] > 3 << 20 > few["blocks"]["peak_bytes"] > 1 << 20, (many, few)
assert 2.5 < many["stall_ns"] / few["stall_ns"] < 3.5, (many, few)
assert many["stall_ns"] + few["stall_ns"] > 0.8 * heat["attributed_ns"], report["sites"]

guidance = fresh() / "guidance"
line = next(i for i, text in enumerate((SOURCES / "fresh.c").read_text().splitlines(), 1)
            if "/* site: many */" in text)
guidance.write_text(f"default @ nvm\nfresh.c:{line} @ dram\n")
[report], _ = reported(prog("fresh"), "0.3", settings=FAULTS | {"NVM_PLACE": str(guidance),
                                                               "NVM_INJECT": "off"})
# over reads and writes: which of them a miss is, windows tell, and here hardly any is a read
totals = report["totals"]
on_nvm = sum(totals["placement"][kind]["nvm_accesses"] for kind in ("read", "write"))
assert 0.15 < on_nvm / (totals["ma_ro"] + totals["ma_wb"]) < 0.45, totals

# a ring that is too small for what there is loses some, and tells how many
[report], _ = reported(prog("fresh"), "0.2", settings=FAULTS | {
    "NVM_PMU_EVENTS": "stall=1/1,loads=1/2@1", "NVM_EPOCH": "20ms"})
assert report["totals"]["counters"]["loads_lost"] > 0, report["totals"]["counters"]
assert report["heat"]["attributed_ns"] > 0.9 * report["totals"]["stall_ns"], report["heat"]

# each quantity for itself: addresses are sampled where no event tells of stalls, be it that none is
# named or that it does not open
for events, warned in (("loads=1/2@64", ""), ("stall=0x7fffffff/1,loads=1/2@64", "comes from look-ahead")):
    # waits for memory, once its pages are there
    [report], done = reported(prog("place"), "plain", quiet=not warned, settings=FAULTS | {
        "NVM_PMU_EVENTS": events, "NVM_COUNTERS": "auto", "NVM_INJECT": "off"})
    assert warned in done.stderr and len(done.stderr.splitlines()) == bool(warned), done
    sources, totals = report["sources"], report["totals"]
    assert sources["stall_time"] == "look-ahead", sources
    assert sources["addresses"] == "sampled loads", sources
    assert sources["why_not_better"]["stall_time"] and sources["mend"]["stall_time"], sources
    assert sources["why_not_better"]["addresses"] == sources["counter_events"] == "", sources
    assert totals["counters"]["epochs"] == totals["counters"]["reads"] == 0, totals["counters"]
    assert totals["counters"]["loads_sampled"] > 200, totals["counters"]
    assert report["heat"]["attributed_ns"] > 0.9 * totals["stall_ns"] > 0, report["heat"]
    done = run(prog("hello"), settings=CLOCK | {"NVM_PMU_EVENTS": events, "NVM_STRICT": "on"})
    assert done.returncode == 125 and "no hardware counters: " in done.stderr, done

# threads, children, cancellation; and an event that no thread may have
for what in ("cancel", "storm"):
    succeeds(prog("threads"), what, output="done\n", settings=FAULTS)
for what in ("alone", "fork"):
    succeeds(prog("process"), what, settings=FAULTS)
[report], _ = reported(prog("hello"), settings=CLOCK | {
    "NVM_PMU_EVENTS": "stall=1/1,loads=0x7fffffff/1"})
assert report["sources"]["addresses"] != "sampled loads", report["sources"]
assert "sampled loads: " in report["sources"]["why_not_better"]["addresses"], report["sources"]
for wrong in ("miss=1/2,loads=1/2", "stall=1/1,loads=1/2@0", "stall=1/1,loads=1/2@", "stall=1/1,loads=1/2@9x",
              "stall=1/1,loads=1/2@9223372036854775808", "stall=1/1,loads=1/2,loads=1/2"):
    done = run(prog("hello"), settings=CLOCK | {"NVM_PMU_EVENTS": wrong})
    assert done.returncode == 125 and "NVM_PMU_EVENTS: wrong at" in done.stderr, (wrong, done)

# the program's descriptors are its own, and so is its limit
plain = run(prog("files"), preload=None, settings={})
for settings in (CLOCK, socket_wide):
    assert told(run(prog("files"), settings=settings)) == told(plain), plain
heat_alone = run(prog("files"), settings=CLOCK | {"NVM_HEAT": "on"})
assert told(run(prog("files"), settings=FAULTS)) == told(heat_alone), heat_alone
for report in reported(prog("files"))[0]:
    assert report["totals"]["counters"]["uncounted_threads"] == 0, report["totals"]

# where monitors cannot have a file table of their own, descriptors are high and close-on-exec; and
# where there are too few, threads do without counters, in one line
for settings in (CLOCK, socket_wide):
    succeeds(prog("process"), "refuse-unshare", "EPERM", prog("threads"), "cancel", output="done\n",
             settings=settings)
done = run("prlimit", "--nofile=5:5", prog("process"), "refuse-unshare", "EPERM", prog("threads"),
           "cancel", settings=CLOCK)
if done.returncode != 77:
    assert done.returncode == 0 and done.stdout == "done\n", done
    assert len(done.stderr.splitlines()) <= 1, done

# what a kernel or a filter may answer: counters that were asked for, and are not there
for error, words in {"EPERM": "perf_event", "EACCES": "perf_event", "ENOSYS": "built without",
                     "ENOENT": "PMU", "ENODEV": "PMU", "EMFILE": "ulimit -n",
                     "EBUSY": "another profiler"}.items():
    refuse = [prog("process"), "refuse-perf", error]
    done = run(*refuse, prog("hello"), settings=CLOCK | {"NVM_LOG": "error"})
    if done.returncode == 77:
        print("skipped: no filters")
        break
    assert told(done) == (0, "hello\n", ""), done
    # the filter's own process comes first; so it is told by the one behind it
    out = fresh()
    done = run(*refuse, prog("hello"), settings=CLOCK | {"NVM_OUT": f"{out}/%e%p.json"})
    assert done.returncode == 0 and done.stdout == "hello\n", done
    [report] = [r for r in reports(out) if r["program"]["name"] == "prog_hello"]
    assert report["emulated"] == "no" and REFUSED in report["why_not"], report
    assert words in report["why_not"], report["why_not"]
    # strict: it does not start
    done = run(*refuse, prog("hello"), settings=CLOCK | {"NVM_STRICT": "on"})
    assert done.returncode == 125 and done.stdout == "", done
    assert len(done.stderr.splitlines()) == 1 and words in done.stderr, done
    # auto: look-ahead stands in, and the user who named events is told
    done = run(*refuse, prog("hello"), settings=CLOCK | {"NVM_COUNTERS": "auto"})
    assert done.returncode == 0 and done.stdout == "hello\n", done
    assert done.stderr.count("comes from look-ahead") == 1 and words in done.stderr, done
    # nobody named any: the report alone tells
    [report] = [r for r in reported(*refuse, prog("hello"), settings=EMULATE)[0]
                if r["program"]["name"] == "prog_hello"]
    assert report["sources"]["stall_time"] == "look-ahead", report["sources"]
    assert report["sources"]["why_not_better"]["stall_time"], report["sources"]
    assert report["sources"]["mend"]["stall_time"], report["sources"]

# names of libpfm4, where it is installed
[report], done = reported(prog("hello"), settings=CLOCK | {"NVM_PMU_EVENTS": "stall=perf::TASK-CLOCK"},
                          quiet=False) if os.path.exists("/usr/lib/x86_64-linux-gnu/libpfm.so.4") \
    else ([None], None)
if report:
    assert report["sources"]["stall_time"] == "hardware counters", report["sources"]
