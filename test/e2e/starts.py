"""Programs that start others: what those inherit, whether they are emulated, and who tells what."""
import difflib
import os
import re

from victim import (EMULATE, INERT, check_sums, clean, fresh, library, prog, reports, run)

STARTS = prog("starts")
ALWAYS = EMULATE | {"NVM_FOLLOW": "always"}
WAYS = ("spawn", "spawnp", "fork-execve", "vfork-execve", "fork-execv", "fork-execvp", "fork-execl",
        "fork-execlp", "vfork-execle", "fork-execvpe", "fork-fexecve", "fork-execveat",
        "vfork-syscall", "thread-vfork", "thread-spawn", "deaf-fork", "deaf-vfork", "deaf-spawn")
ONE_PROCESS = ("execve", "execl", "exec-syscall")


def names(out):
    """Of the reports, with process ids made equal."""
    return sorted(re.sub(r"\d\d+", "PID", name) for name in os.listdir(out))


def told(way, environment, *command, settings=EMULATE, out="r.json", status=3):
    """Same output and status as without; returns the names of the reports."""
    plain = run(STARTS, way, environment, *command, preload=None, settings=INERT)
    assert plain.returncode == status and plain.stderr == "", plain
    folder = fresh()
    done = run(STARTS, way, environment, *command, settings=settings | {"NVM_OUT": f"{folder}/{out}"})
    differing = list(difflib.ndiff(plain.stdout.splitlines(), done.stdout.splitlines()))
    assert done.stdout == plain.stdout, (way, environment, [x for x in differing if x[0] in "+-"])
    assert (done.returncode, done.stderr) == (status, ""), (way, environment, done)
    for report in reports(folder):
        check_sums(report)
    return names(folder)


for way in WAYS:
    pair = ["r.json", "r.json.PID"]
    assert told(way, "environ") == pair, way
    # an environment of the child's own is without the library, which left nothing in the kernel
    mine = "own" if way.endswith("e") else "none"
    assert told(way, mine, STARTS, "show-all") == ["r.json"], way
    # unless it shall be followed always; but LD_PRELOAD, if it is there, is the program's decision
    assert told(way, mine, settings=ALWAYS) == pair, way
assert told("spawn", "named", STARTS, "show-all", settings=ALWAYS) == ["r.json"]
assert told("fork-execve", "named", STARTS, "show-all", settings=ALWAYS) == ["r.json"]
assert told("spawn", "environ", settings=INERT) == []
assert told("vfork-execve", "own", settings=INERT) == []
for way in ONE_PROCESS:
    assert told(way, "environ") == ["r.json", "r.json.exec"], way
    assert told(way, "own", settings=ALWAYS) == ["r.json", "r.json.exec"], way
    assert told(way, "own", STARTS, "show-all") == ["r.json.exec"], way
assert told("execve", "environ", out="r%n.json") == ["r1.json", "r2.json"]
assert told("orphan", "own", out="%p.json", settings=ALWAYS) == ["PID.json"] * 3
for way in ("system", "popen"):
    assert told(way, "environ", f"{STARTS} show") == ["r.json", "r.json.PID", "r.json.PID"], way
    assert told("deaf-" + way, "environ", f"env -u LD_PRELOAD {STARTS} show-all")[0] == "r.json", way

# the two reports of a process that becomes another program are of one process, in turn
out = fresh()
run(STARTS, "execve", "own", settings=ALWAYS | {"NVM_OUT": f"{out}/r.json"})
after, before = reports(out)
assert before["program"]["ended_by"] == "exec" and after["program"]["ended_by"] == "exit"
assert before["program"]["pid"] == after["program"]["pid"]
assert before["totals"]["samples"]["taken"] > 0 and after["totals"]["samples"]["taken"] > 0

# one that fails leaves no report of its own, and the time before is not lost
out = fresh()
done = run(STARTS, settings=EMULATE | {"NVM_OUT": f"{out}/r.json"})
assert done.returncode == 4 and done.stderr == "", done
(report,) = reports(out)
assert report["program"]["ended_by"] == "exit" and report["threads_total"] == 1, report
assert report["totals"]["cpu_ns"] > 30_000_000, report

# what the library cannot enter does not find what was carried for it
for way in ("spawn", "fork-execve", "vfork-execve"):
    told_by = told(way, "own", prog("starts_static"), "show-all", settings=ALWAYS)
    assert told_by == ["r.json"], (way, told_by)

# NVM_FOLLOW=off: children run natively, however they come to be; the first process is emulated
ALONE = EMULATE | {"NVM_FOLLOW": "off"}
for way in (*WAYS[::2], "orphan"):
    for environment in ("environ", "own"):
        assert told(way, environment, STARTS, "show-all", settings=ALONE) == ["r.json"], way
for way in ("system", "popen"):
    assert told(way, "environ", f"{STARTS} show", settings=ALONE) == ["r.json"], way
assert told("execve", "environ", settings=ALONE) == ["r.json", "r.json.exec"]
for what in ("fork", "alone"):
    done = run(prog("process"), what, settings=ALONE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", ""), done
out = fresh()
done = run(prog("ends"), "fork", settings=ALONE | {"NVM_OUT": f"{out}/r.json"})
assert done.returncode == 7 and names(out) == ["r.json"], (done, names(out))
done = run("sh", "-c", "echo $LD_PRELOAD; env | grep ^LD_PRELOAD=", preload=f"libm.so.6:{library}",
           settings=ALONE)
assert done.stdout == f"libm.so.6:{library}\nLD_PRELOAD=libm.so.6\n", done

# a cleaned environment can be cleaned again, and its settings hold
assert "LD_PRELOAD" not in clean
out = fresh()
done = run("env", "-i", "env", "-i", "sh", "-c", f"env; exec {prog('hello')}",
           settings=ALWAYS | {"NVM_OUT": f"{out}/%e.json"})
plain = run("env", "-i", "sh", "-c", f"env; exec {prog('hello')}", preload=None, settings=INERT)
assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, ""), done
assert "prog_hello.json" in names(out), names(out)
