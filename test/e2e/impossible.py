"""Bad settings, and places where emulation cannot be: told once, and the program never harmed."""
import os
import pathlib

from victim import (EMULATE, INERT, SKIPPED, check_sums, fresh, library, prog, reports, run,
                    succeeds)

BAD = {
    "NVM_RLAT": ["", "fast", "0", "-5", "300 ns ns", "2ms", "1e3", "300lightyears"],
    "NVM_WLAT": ["fast", "0x300", "3OO", "nan"],
    "NVM_MODEL": ["both"],
    "NVM_COUNTERS": ["abacus", "replay:x"],
    "NVM_PMU_EVENTS": ["", "stall", "stall=4", "stall=4/0x", "miss=1/1", "stall=1/1,written=1/2"],
    "NVM_EPOCH": ["20", "1us", "2s", "-20ms"],
    "NVM_BUDGET": ["0", "100%", "much"],
    "NVM_INJECT": ["maybe"],
    "NVM_DRAM_LAT": ["none", "0"],
    "NVM_LLC_LAT": ["none"],
    "NVM_STRICT": ["2", "enabled"],
    "NVM_LOG": ["loud"],
    "NVM_OUT": ["/tmp/%q", "x" * 1100],
}


def refused(settings, *words):
    done = run(prog("hello"), settings=settings)
    assert done.returncode == 125 and done.stdout == "", (settings, done)
    assert len(done.stderr.splitlines()) == 1, (settings, done)
    for word in words:
        assert word in done.stderr, (settings, word, done)
    return done


for name, values in BAD.items():
    for value in values:
        if value == "" and name != "NVM_OUT":
            continue
        refused({"NVM_WLAT": "600"} | {name: value}, name)
        if len(value) < 60 and "%" not in value and value != "replay:x":
            refused({"NVM_WLAT": "600"} | {name: value}, name, f"'{value}'", "accepted: ")
# bad values are told even where nothing would be emulated
refused({"NVM_EPOCH": "soon"}, "NVM_EPOCH", "'soon'")
# memory cannot be made faster
for name in ("NVM_RLAT", "NVM_WLAT"):
    refused({"NVM_DRAM_LAT": "100", name: "99ns"}, name, "99ns", "100")
    succeeds(prog("hello"), settings={"NVM_DRAM_LAT": "100", name: "100"}, output="hello\n")
    refused({name: "1ns"}, name, "1ns", "DRAM latency of ")
# names of others are left alone, near misses are told once
succeeds(prog("hello"), settings={"NVM_DIR": "/x", "NVM_BIN": "/y"}, output="hello\n")
done = run("sh", "-c", f"{prog('hello')}; {prog('hello')}", settings={"NVM_WLATT": "300"})
assert done.returncode == 0 and done.stdout == "hello\nhello\n", done
assert done.stderr.count("NVM_WLATT") == 1, done

# perf_event_open is not needed
for error in ("EPERM", "ENOSYS"):
    succeeds(prog("process"), "refuse-perf", error, prog("hello"), output="hello\n",
             settings=EMULATE | {"NVM_STRICT": "on"})
paranoid = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
if os.geteuid() == 0 and os.access(paranoid, os.W_OK):
    before = paranoid.read_text()
    try:
        paranoid.write_text("3")
        succeeds(prog("hello"), output="hello\n", settings=EMULATE | {"NVM_STRICT": "on"})
    except OSError:
        pass
    finally:
        paranoid.write_text(before)

# without a timer, and without a thread to stand in for it, it runs natively, and says so in one line
# for the whole tree
LIMIT = [prog("process"), "refuse-timer", "EAGAIN", prog("process"), "refuse-threads", "EAGAIN"]
if run(*LIMIT, "/bin/true", preload=None, settings=INERT).returncode == SKIPPED:
    print("skipped: no system-call filters here")
    raise SystemExit(0)
out = fresh()
twice = ["/bin/sh", "-c", f"{prog('hello')}; {prog('hello')}"]
done = run(*LIMIT, *twice, settings=EMULATE | {"NVM_OUT": f"{out}/%n.json"})
# those that bring the filters themselves run under the library, before there are any
told = [line for line in done.stderr.splitlines() if "NVM_OUT" not in line]
assert done.returncode == 0 and done.stdout == "hello\nhello\n", done
assert len(told) <= 1, done
for word in ("timer", "pending signals", "ulimit -i"):
    assert all(word in line for line in told), done
native = [r for r in reports(out) if r["program"]["name"] == "prog_hello"]
assert len(native) == 2, native
for report in native:
    check_sums(report)
    assert report["emulated"] == "no" and "timer" in report["why_not"], report
    assert report["totals"]["delay_owed_ns"] == 0, report


def limited(**settings):
    """With the library in the program alone: the first of its tree."""
    env = [f"{k}={v}" for k, v in (EMULATE | settings | {"LD_PRELOAD": str(library)}).items()]
    return run(*LIMIT, "/usr/bin/env", *env, prog("hello"), preload=None, settings=INERT)


done = limited()
assert done.returncode == 0 and done.stdout == "hello\n", done
assert len(done.stderr.splitlines()) == 1 and "runs natively: " in done.stderr, done
done = limited(NVM_LOG="error")
assert done.returncode == 0 and done.stdout == "hello\n" and done.stderr == "", done
done = limited(NVM_STRICT="on")
assert done.returncode == 125 and done.stdout == "", done
assert len(done.stderr.splitlines()) == 1 and "timer" in done.stderr, done
