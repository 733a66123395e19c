"""However a process ends: its status and output are its own, and its report is there and true."""
import os
import signal
import subprocess

from victim import EMULATE, check_sums, clean, fresh, library, prog, reports, run, same, succeeds

# how, exit status; and whether there can be a report
ENDS = {
    "return": 7, "exit": 7, "_exit": 7, "_Exit": 7, "quick_exit": 7, "exit_group": 7, "fork": 7,
    "moved": 7, "renamed": 7, "exit-in-thread": 7, "_exit-in-thread": 7, "main-by-pthread_exit": 0,
    "abort": -signal.SIGABRT, "segv": -signal.SIGSEGV, "term": -signal.SIGTERM,
    "busy-return": 7, "busy-exit": 7, "busy-_exit": 7, "busy-quick_exit": 7, "busy-exit_group": 7,
    "busy-exit-in-thread": 7, "busy-abort": -signal.SIGABRT, "busy-abort-handler": 7,
    "busy-trap": -signal.SIGILL, "busy-recover": 7, "busy-pipe": -signal.SIGPIPE,
    "busy-alarm": -signal.SIGALRM,
}
for sig in (signal.SIGFPE, signal.SIGTRAP, signal.SIGKILL, signal.SIGUSR1, signal.SIGPROF,
            signal.SIGRTMAX):
    ENDS[f"busy-raise-{int(sig)}"] = -sig

for how, status in ENDS.items():
    same(prog("ends"), how)
    out = fresh()
    done = run(prog("ends"), how, settings=EMULATE | {"NVM_OUT": f"{out}/%e.json"})
    assert done.returncode == status and done.stderr == "", (how, done)
    found = reports(out)
    assert len(found) == (0 if status < 0 else 2 if how == "fork" else 1), (how, found)
    for report in found:
        check_sums(report)
        assert report["schema"] == "nvmemu-report" and report["emulated"] == "yes", report
        assert report["program"]["name"] == "prog_ends", report["program"]
        assert report["totals"]["samples"]["taken"] > 0, (how, report)
        assert not list(out.glob("*.tmp")) and len(os.listdir(out)) == len(found), os.listdir(out)


def single(*command, cwd=None, **settings):
    """The report of a run that has one."""
    out = fresh()
    done = run(*command, cwd=cwd, settings=EMULATE | {"NVM_OUT": f"{out}/r.json"} | settings)
    assert done.returncode == 0 and done.stderr == "", done
    (report,) = reports(out)
    check_sums(report)
    return report


# threads: of the dead and of the living
some = single(prog("threads"), "some")
assert some["threads_total"] == 5, some
assert sum(t["alive"] for t in some["threads"]) == 3, some
assert {t["name"] for t in some["threads"]} == {"prog_threads"}, some
storm = single(prog("threads"), "storm")
assert storm["threads_total"] > 1024 and len(storm["threads"]) == 1024, storm["threads_total"]

# a program of one thread has no monitor; C11's threads are followed like any
out = fresh()
succeeds(prog("threads"), "single", output="done\n", settings=EMULATE | {"NVM_OUT": f"{out}/r.json"})
c11 = [r for r in reports(out) if r["threads_total"] == 2]
assert len(c11) == 1 and all(t["samples"]["taken"] > 0 for t in c11[0]["threads"]), c11

# a dry run counts and pays nothing
dry = single(prog("hello"), 600, NVM_INJECT="off")
assert dry["totals"]["delay_owed_ns"] == dry["totals"]["delay_dropped_ns"] > 0, dry
# nothing owed is left at the end of a run that ends well
paid = single(prog("hello"), 600)
assert paid["totals"]["delay_owed_ns"] > 0, paid["totals"]
assert paid["totals"]["delay_dropped_ns"] < 1000, paid["totals"]

# a process that locks itself in has told before
for how in ("sandbox", "sandbox-syscall", "sandbox-_exit"):
    out = fresh()
    succeeds(prog("process"), how, settings=EMULATE | {"NVM_OUT": f"{out}/r.json"})
    (report,) = reports(out)
    check_sums(report)

# the time for which a process is halted is no work, and earns no delay
out = fresh()
succeeds(prog("crowd"), "halt", output="done\n", settings=EMULATE | {"NVM_OUT": f"{out}/r.json"})
(halted,) = [r for r in reports(out) if r["threads_total"] == 4]
check_sums(halted)
used = halted["totals"]["cpu_ns"] + halted["totals"]["delay_paid_ns"]
assert used <= (halted["program"]["wall_ns"] - 900_000_000) * os.cpu_count(), halted

# threads that block all signals are emulated all the same
deaf = single(prog("signals"), "wait")
assert all(t["samples"]["taken"] > 0 for t in deaf["threads"]) and len(deaf["threads"]) == 2, deaf

# a relative name begins where the process did
here = fresh()
run(prog("ends"), "moved", cwd=here, settings=EMULATE | {"NVM_OUT": "r.json"})
assert len(reports(here)) == 1

# a name that is taken is not overwritten, and that is told
(here / "taken").write_text("{}")
done = run(prog("hello"), cwd=here, settings=EMULATE | {"NVM_OUT": "taken"})
assert done.returncode == 0 and done.stdout == "hello\n", done
assert len(done.stderr.splitlines()) == 1 and "taken exists" in done.stderr, done
assert (here / "taken").read_text() == "{}" and (here / "taken.1").exists()

# where no report can be written the program does not suffer
for name in ("/nowhere/at/all/r.json", "/proc/r.json", "/dev/full"):
    done = run(prog("hello"), settings=EMULATE | {"NVM_OUT": name})
    assert done.returncode == 0 and done.stdout == "hello\n", (name, done)
    assert len(done.stderr.splitlines()) <= 1, (name, done)
    assert name == "/dev/full" or "NVM_OUT" in done.stderr, (name, done)
assert not os.path.exists("/dev/full.json")
for extra in (p for p in os.listdir("/dev") if p.startswith("full.")):
    os.unlink(f"/dev/{extra}")

# two at once, and a tree: one report each
out = fresh()
env = clean | EMULATE | {"NVM_OUT": f"{out}/r.json", "LD_PRELOAD": str(library)}
pair = [subprocess.Popen([prog("hello")], env=env, stdout=subprocess.PIPE) for _ in range(2)]
for process in pair:
    assert process.communicate()[0] == b"hello\n" and process.returncode == 0
assert len(reports(out)) == 2
out = fresh()
shell = f"{prog('hello')} & {prog('hello')}; wait; exit 4"
done = run("sh", "-c", shell, settings=EMULATE | {"NVM_OUT": f"{out}/r.json"})
assert done.returncode == 4 and done.stdout == "hello\nhello\n" and done.stderr == "", done
tree = reports(out)
assert sorted(r["program"]["name"] for r in tree) == ["prog_hello", "prog_hello", "sh"], tree
assert (out / "r.json").exists()
