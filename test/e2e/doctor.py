"""nvmemu doctor: its verdict is the library's own, whatever is taken away. Arguments: the library, the
victims' directory, the command."""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys

from victim import EMULATE, clean, fresh, library, prog, run

nvmemu = pathlib.Path(sys.argv[3]).resolve()
STATUS = {"possible": 0, "degraded": 1, "impossible": 125}
SUBJECTS = {"cpu", "kernel", "virtual", "filters", "perf", "pmus", "timers", "monitors", "look-ahead",
            "cores", "calibration", "huge pages", "frequency", "smt"}
QUANTITIES = ["stall time", "dirty fraction", "latency", "addresses", "traffic", "time samples", "delay"]


def doctor(*before, settings={}, **options):
    done = run(*before, nvmemu, "doctor", "--json", preload=None, settings=settings, **options)
    assert done.stdout, done
    told = json.loads(done.stdout)
    assert told["schema"] == "nvmemu-doctor" and told["version"] == 1, told
    assert done.returncode == STATUS[told["verdict"]], done
    severities = {f["severity"] for f in told["findings"]}
    assert severities <= {"fine", "note", "degraded", "impossible"}, told
    worst = next((s for s in ("impossible", "degraded") if s in severities), "possible")
    assert told["verdict"] == worst, told
    assert SUBJECTS <= {f["subject"] for f in told["findings"]}, told
    assert [s["quantity"] for s in told["sources"]] == QUANTITIES, told
    for f in told["findings"]:
        assert f["text"], f
        assert f["mend"] or f["severity"] in ("fine", "note") or f["subject"] == "settings", f
    for s in told["sources"][:5]:
        # nothing is without an explanation: how it is read, or why it is not
        assert s["source"] == "none" or s["how"], s
        assert s["source"] != "none" or s["why_no_better"] or told["verdict"] == "impossible", s
        assert s["why_no_better"] or not s["mend"], s
    for event in told["events"]:
        assert event["opens"] == (event["error"] is None), event
    return told


def source(told, quantity):
    return told["sources"][QUANTITIES.index(quantity)]


def finding(told, subject):
    return next(f for f in told["findings"] if f["subject"] == subject)


def strictly(*before, settings=EMULATE):
    """Does the library itself, where it may not run natively, agree?"""
    env = [f"{k}={v}" for k, v in (settings | {"LD_PRELOAD": str(library),
                                               "NVM_STRICT": "on"}).items()]
    done = run(*before, shutil.which("env"), *env, prog("hello"), preload=None, settings={})
    assert done.returncode in (0, 125), done
    return done.returncode == 0


def agrees(*before, settings={}, **options):
    told = doctor(*before, settings=settings, **options)
    possible = told["verdict"] != "impossible"
    assert possible == strictly(*before, settings=EMULATE | settings), (before, told)
    return told


# as it is; and in words
here = agrees()
done = run(nvmemu, "doctor", preload=None, settings={})
assert done.returncode == STATUS[here["verdict"]] and done.stderr == "", done
lines = done.stdout.splitlines()
assert lines[-1].startswith("emulation is " + {"degraded": "possible, degraded"}.get(
    here["verdict"], here["verdict"])), lines
for subject in SUBJECTS:
    assert any(line.startswith(subject + " ") for line in lines), (subject, done)
for quantity in QUANTITIES:
    assert any(line.startswith(f"  {quantity} ") for line in lines), (quantity, done)
if here["events"]:
    assert f"events of {here['row']}" in done.stdout, done

# look-ahead alone
ahead = agrees(settings={"NVM_COUNTERS": "ahead"})
assert ahead["sources"][0]["source"] == "look-ahead", ahead
for quantity in ("stall time", "dirty fraction", "addresses"):
    assert source(ahead, quantity)["why_no_better"] == "NVM_COUNTERS=ahead", ahead
    assert "NVM_COUNTERS=auto" in source(ahead, quantity)["mend"], ahead
dry = doctor(settings={"NVM_INJECT": "off"})
assert "dry run" in source(dry, "delay")["source"], dry
assert source(dry, "traffic")["source"] == "none", dry
assert "NVM_RBW" in source(dry, "traffic")["why_no_better"], dry
limited = doctor(settings={"NVM_RBW": "0.5GB/s"})
assert source(limited, "traffic")["source"] == "look-ahead", limited
record = fresh() / "run.rec"
done = run(prog("hello"), settings=EMULATE | {"NVM_RECORD": str(record)})
assert done.returncode == 0, done
again = doctor(settings={"NVM_COUNTERS": f"replay:{record}"})
assert source(again, "stall time")["source"] == "replay", again

# events of the user's: what was opened, with its code; what is not named, and how it could be
named = {"NVM_PMU_EVENTS": "stall=1/1,loads=1/2@64", "NVM_COUNTERS": "pmu"}
told = agrees(settings=named)
assert source(told, "stall time")["source"] == "hardware counters", told
assert "stall cycles 1/1 1/0x1" in source(told, "stall time")["how"], told
assert "a monitor that comes to the thread's core" in source(told, "stall time")["how"], told
assert source(told, "addresses")["source"] == "sampled loads", told
assert "1/2 1/0x2 every 64 times" in source(told, "addresses")["how"], told
assert "names no events" in source(told, "dirty fraction")["why_no_better"], told
assert "written=, all=" in source(told, "dirty fraction")["mend"], told
told = agrees(settings={"NVM_PMU_EVENTS": "stall=0x7fffffff/1"})
assert source(told, "stall time")["source"] == "look-ahead", told
assert "event stall cycles" in source(told, "stall time")["why_no_better"], told
told = doctor(settings={"NVM_PMU_EVENTS": "stall=1/1,written=1/2"})
assert told["verdict"] == "impossible", told
assert "NVM_PMU_EVENTS: wrong at" in finding(told, "settings")["text"], told
assert "NVM_PMU_EVENTS: wrong at" in source(told, "stall time")["why_no_better"], told
done = run(nvmemu, "doctor", preload=None, settings=named)
assert "\n    read         one group of events for each thread" in done.stdout, done
assert "\n    mend         name them there (written=, all=)" in done.stdout, done

# a container's filter that forbids perf_event_open takes nothing that cannot be done without
for error in ("EPERM", "ENOSYS"):
    before = (prog("process"), "refuse-perf", error)
    if run(*before, "/bin/true", preload=None).returncode:
        print("skipped: no filters here")
        break
    told = agrees(*before)
    assert finding(told, "filters")["severity"] == "note", told
    assert "seccomp mode 2" in finding(told, "filters")["text"], told
    assert "filter" in finding(told, "perf")["text"], told
    assert all(not e["opens"] for e in told["events"]), told
    # the filter's answer, but for what is not there to be asked for
    assert any(e["error"] == error for e in told["events"]) or not told["events"], told
    assert told["sources"][0]["source"] == "look-ahead", told
    for quantity in ("stall time", "dirty fraction", "addresses"):
        assert source(told, quantity)["why_no_better"] and source(told, quantity)["mend"], told
    counters = doctor(*before, settings={"NVM_COUNTERS": "pmu"})
    assert counters["verdict"] == "impossible", counters
    assert "NVM_COUNTERS=pmu" in finding(counters, "settings")["text"], counters

# a level that lets nobody count: the kernel's answer by the filter, its level by a file in a namespace
level = fresh() / "paranoid"
level.write_text("3\n")
paranoid = ("unshare", "--mount", "sh", "-c", f"mount --bind {level} /proc/sys/kernel/perf_event_paranoid && "
            'exec "$@"', "sh", prog("process"), "refuse-perf", "EACCES")
if run(*paranoid, "/bin/true", preload=None).returncode:
    print("skipped: no namespaces or filters here")
else:
    for settings in ({}, {"NVM_PMU_EVENTS": "stall=1/1,written=1/2,all=1/1,loads=1/2"}):
        told = doctor(*paranoid, settings=settings)
        assert "perf_event_paranoid is 3" in finding(told, "perf")["text"], told
        assert "perf_event_paranoid=2" in finding(told, "perf")["mend"], told
        stall = source(told, "stall time")
        assert stall["source"] == "look-ahead" and stall["mend"], told
    # of what is there to be asked for
    assert "perf_event_paranoid is 3" in stall["why_no_better"], told
    assert "perf_event_paranoid=2" in stall["mend"], told
    assert "perf_event_paranoid is 3" in source(told, "dirty fraction")["why_no_better"], told
    assert "perf_event_paranoid=0" in source(told, "dirty fraction")["mend"], told
    assert "sampled loads: kernel.perf_event" in source(told, "addresses")["why_no_better"], told

# neither a timer nor a thread that could hold an event instead
before = (prog("process"), "refuse-timer", "EAGAIN", prog("process"), "refuse-threads", "EAGAIN")
if run(*before, "/bin/true", preload=None).returncode == 0:
    told = agrees(*before)
    assert told["verdict"] == "impossible", told
    assert source(told, "time samples")["source"] == source(told, "delay")["source"] == "none", told

# one core
core = min(os.sched_getaffinity(0))
told = doctor("taskset", "-c", str(core))
assert ", 1 for this process" in finding(told, "cores")["text"], told

# variables: a bad value, an impossible one
done = run(nvmemu, "doctor", preload=None, settings={"NVM_WLAT": "fast"})
assert done.returncode == 125 and done.stdout == "" and "NVM_WLAT" in done.stderr, done
told = agrees(settings={"NVM_DRAM_LAT": "100", "NVM_RLAT": "99"})
assert told["verdict"] == "impossible", told
assert "99ns" in finding(told, "settings")["text"], told

# a calibration is measured where none is kept, and kept; where it cannot be, that is told
cache = fresh()
told = agrees(settings={"XDG_CACHE_HOME": str(cache)})
assert "measured just now" in finding(told, "calibration")["text"], told
assert list(cache.glob("nvmemu/calibration-*")), list(cache.iterdir())
told = doctor(settings={"XDG_CACHE_HOME": str(cache)})
assert "kept since" in finding(told, "calibration")["text"], told
read_end, write_end = os.pipe()
done = subprocess.Popen([nvmemu, "doctor", "--json"], stdout=write_end, stderr=subprocess.PIPE,
                        env=clean | {"XDG_CACHE_HOME": str(fresh())},
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
os.close(write_end)
with os.fdopen(read_end) as pipe:
    told = json.loads(pipe.read())
assert done.wait() == STATUS[told["verdict"]] and told["verdict"] == "degraded", told
assert any("cannot be kept" in f["text"] and "XDG_CACHE_HOME" in f["mend"]
           for f in told["findings"] if f["severity"] == "degraded"), told


# as nobody, if root may become that one
def as_nobody(*limits):
    setpriv = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    return [*setpriv, *(["prlimit", *limits] if limits else [])]


paths = [nvmemu, library, pathlib.Path(prog("hello"))]
if os.geteuid() != 0 or all(p.stat().st_mode & 0o005 for path in paths
                            for p in [path, *path.parents]):
    cache = fresh()
    for directory in (cache, *cache.parents[:1]):
        directory.chmod(0o777)
    own = {"XDG_CACHE_HOME": str(cache / "own")}
    if os.geteuid() == 0:
        (cache / "own").mkdir()
        os.chown(cache / "own", 65534, -1)
    assert agrees(*as_nobody(), settings=own)["verdict"] == here["verdict"]
    told = agrees(*as_nobody("--sigpending=0:0"), settings=own)
    assert told["verdict"] == "degraded", told
    assert "pending signals" in finding(told, "timers")["mend"], told
    assert "software events" in source(told, "time samples")["source"], told
    assert "pending signals" in source(told, "time samples")["mend"], told
    told = doctor(*as_nobody("--nproc=1:1"), settings=own)
    assert finding(told, "monitors")["severity"] in ("degraded", "fine"), told
    if finding(told, "monitors")["severity"] == "degraded":
        assert "ulimit -u" in finding(told, "monitors")["mend"], told
else:
    print("skipped: nobody may not read the build")

# output that cannot be written
for form in ([], ["--json"]):
    with open("/dev/full", "w") as full:
        done = subprocess.run([nvmemu, "doctor", *form], env=clean, stdout=full,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode != 0 and "No space left" in done.stderr, done
    done = run("sh", "-c", f"exec {nvmemu} doctor {' '.join(form)} >&-", preload=None, settings={})
    assert done.returncode != 0 and "cannot write" in done.stderr, done
