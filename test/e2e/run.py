"""nvmemu run: the program ends, is signalled and finds its environment as natively; its reports come
together. Arguments: the library, the victims' directory, the command."""
import fcntl
import json
import os
import pathlib
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import termios
import time

from sums import check_sums
from victim import clean, fresh, library, prog, run

nvmemu = pathlib.Path(sys.argv[3]).resolve()
PATIENCE = 60
# given, so that no calibration is waited for, nor depends on how busy the machine is
SET = ["--dram-lat", "100", "--rlat", "300", "--wlat", "600"]
temporary = fresh()
clean["TMPDIR"] = str(temporary)


def emulated(*command, options=(), **more):
    return run(nvmemu, "run", "--lib", library, *SET, *options, "--", *command, preload=None,
               settings={}, **more)


def left():
    return sorted(p.name for p in temporary.iterdir())


def refused(status, message, *arguments, **more):
    done = run(nvmemu, "run", *arguments, preload=None, **({"settings": {}} | more))
    assert done.returncode == status and message in done.stderr, (arguments, done)
    assert done.stdout == "" and not left(), (arguments, done, left())
    return done


def started(script, options=(), **more):
    """A victim that says when it is ready; its stdout is read by the line."""
    return subprocess.Popen([nvmemu, "run", "--lib", library, *SET, "-q", *options, "--",
                             sys.executable, "-c", script], env=clean, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, **more)


def line_of(victim):
    return victim.stdout.readline().strip()


# how it ends
for status in (0, 1, 3, 126, 127, 255):
    done = emulated("sh", "-c", f"exit {status}", options=["-q"])
    assert done.returncode == status and done.stdout == done.stderr == "", done
for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGRTMIN + 3):
    done = emulated("sh", "-c", f"kill -{int(number)} $$", options=["-q"])
    assert done.returncode == -number, (number, done)
done = emulated("sh", "-c", f"{prog('hello')}; kill -9 $$")
assert done.returncode == -9 and re.search(r"of process \d+ itself there is no report", done.stderr), done
done = emulated("sh", "-c", "kill -9 $$")
assert done.returncode == -9 and "a program that a signal has killed writes none" in done.stderr, done

# what cannot be started
refused(127, "cannot run nonsense: No such file", *SET, "nonsense")
refused(126, "Permission denied", *SET, "/etc/passwd")
refused(126, "", *SET, str(fresh()))
refused(2, "which program?", *SET)
refused(2, "what is to be emulated?", "true")
refused(2, "unrecognized option '--nonsense'", "--nonsense", "true")
refused(2, "option '--wlat' requires an argument", "--wlat")
refused(125, "NVM_WLAT: bad value 'fast'; accepted: ", "--wlat", "fast", "true")
refused(125, "NVM_RLAT: bad value 'x'", "--wlat", "300", "true", settings={"NVM_RLAT": "x"})
refused(125, "99ns is below this machine's DRAM latency of 100ns", "--dram-lat", "100", "--wlat", "99",
        "true")
refused(125, "cannot read the library /nonsense", "--lib", "/nonsense", *SET, "true")
refused(125, "no report can be written to /nonsense/r: No such file", *SET, "-o", "/nonsense/r", "true")
refused(125, "no library can be preloaded", *SET, prog("hello_static"))
refused(125, "cannot make a directory in /nonsense", *SET, "true", settings={"TMPDIR": "/nonsense"})
blank = fresh() / "a b"
blank.mkdir()
os.link(library, blank / "libnvmemu.so")
refused(125, "blank or a colon", *SET, "--lib", str(blank / "libnvmemu.so"), "true")

# bound to a node: nothing is emulated, and the report tells so
guidance, bound = fresh() / "guidance", fresh() / "bound.json"
guidance.write_text("heap @ nvm\n")
done = run(nvmemu, "run", "--lib", library, "--place", guidance, "--bind", "0", "-o", bound, "--",
           prog("hello"), preload=None, settings={})
if "cannot be bound" not in done.stderr:
    assert done.returncode == 0 and "bound to node 0 instead" in done.stderr, done
    (process,) = json.loads(bound.read_text())["processes"]
    assert process["emulated"] == "no" and process["placement"]["bound_to_node"] == 0, process
    assert process["placement"]["bound_bytes"] > 0, process["placement"]
refused(125, "NVM_BIND: only with NVM_PLACE=FILE", "--bind", "0", "true")

# found along PATH, as exec finds it; what follows its name is its own
place = fresh()
(place / "mine").write_text("#!/bin/sh\necho mine $1\n")
(place / "mine").chmod(0o755)
done = run(nvmemu, "run", "--lib", library, *SET, "-q", "mine", "--wlat", preload=None,
           settings={"PATH": f"{place}:{clean['PATH']}"})
assert done.stdout == "mine --wlat\n" and done.returncode == 0, done

# arguments, environment, streams
show = "import json, os, sys; json.dump([sys.argv[1:], dict(os.environ), os.getcwd()], sys.stdout)"
words = ["a b", "", "--wlat", "*", "\\", "\u00e9"]
natively = json.loads(run(sys.executable, "-c", show, *words, preload=None, settings={}).stdout)
done = emulated(sys.executable, "-c", show, *words, options=["--budget=0.5", "-q"])
told = json.loads(done.stdout)
assert told[0] == words and told[2] == natively[2], told
extra = {k: v for k, v in told[1].items() if natively[1].get(k) != v}
assert natively[1].items() <= told[1].items(), (natively, told)
assert extra.pop("LD_PRELOAD") == str(library) and extra.pop("NVM_OUT").endswith("/%p.json"), told
assert extra == {"NVM_DRAM_LAT": "100", "NVM_RLAT": "300", "NVM_WLAT": "600",
                 "NVM_BUDGET": "0.5"}, extra
done = run(nvmemu, "run", "--lib", library, *SET, "-q", "sh", "-c", "echo $LD_PRELOAD", preload=None,
           settings={"LD_PRELOAD": "/usr/lib/libm.so.6:libm.so.6"})
assert done.stdout == f"{library}:/usr/lib/libm.so.6:libm.so.6\n", done
done = emulated("cat", options=["-q"], input="to and fro")
assert done.stdout == "to and fro", done
for n in (0, 1, 2):
    inside = f"test -e /proc/self/fd/{n} || exit 7"
    done = run("sh", "-c", f"exec {nvmemu} run --lib {library} {' '.join(SET)} -- sh -c '{inside}' {n}>&-",
               preload=None, settings={})
    assert done.returncode == 7, (n, done)

# a switch by its mere name
done = emulated("sh", "-c", "echo $NVM_STRICT $NVM_FOLLOW", options=["-q", "--strict", "--follow=always"])
assert done.stdout == "on always\n", done

# the summary, and where the report lies
out = fresh()
done = emulated(prog("hello"), 30, options=["-o", str(out / "%e-%p.json")])
assert done.stdout == "hello\n" and done.returncode == 0, done
lines = done.stderr.splitlines()
assert lines[0].startswith("nvmemu: prog_hello (process "), lines
for label in ("emulated", "sources", "run time", "delay", "stall share", "dirty fraction"):
    assert any(line.startswith(label + " ") for line in lines), (label, lines)
assert "read 300 ns, write 600 ns; DRAM 100.0 ns (NVM_DRAM_LAT)" in done.stderr, done
(report,) = out.iterdir()
assert lines[-1].split() == ["report", str(report)], lines
document = json.loads(report.read_text())
(process,) = document["processes"]
assert document["schema"] == "nvmemu-run" and document["version"] == 1, document
assert document["run"]["command"] == f"{prog('hello')} 30" and document["run"]["status"] == 0
assert report.name == f"prog_hello-{process['program']['pid']}.json", report
assert document["run"]["wall_ns"] >= process["program"]["wall_ns"] > 0, document
check_sums(process)

# never replaced; NVM_OUT is the same as -o
done = run(nvmemu, "run", "--lib", library, *SET, "-q", prog("hello"), preload=None,
           settings={"NVM_OUT": str(report)})
assert f"{report} exists, the report is {report}.1" in done.stderr, done
assert json.loads(report.read_text()) == document
assert json.loads(pathlib.Path(f"{report}.1").read_text())["schema"] == "nvmemu-run"

# devices are written to; a full one takes nothing: what is there stays and is told of
done = emulated(prog("hello"), options=["-q", "-o", "/dev/full"])
assert done.returncode == 125 and "cannot write /dev/full: No space left" in done.stderr, done
assert done.stdout == "hello\n" and pathlib.Path("/dev/full").is_char_device(), done
for kept in temporary.iterdir():
    assert [json.loads(p.read_text())["schema"] for p in kept.iterdir()] == ["nvmemu-report"]
    for p in kept.iterdir():
        p.unlink()
    kept.rmdir()
done = emulated(prog("hello"), options=["-q", "-o", "/dev/stdout"])
assert done.stdout.startswith("hello\n{") and done.returncode == 0, done

# no room: nothing under the final name, the single reports stay; the program's own status counts
room = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16000, 16000))}
for status in (0, 5):
    big = fresh() / "r.json"
    done = emulated("sh", "-c", f"for i in 1 2 3 4; do /bin/true; done; exit {status}",
                    options=["-q", "-o", str(big)], **room)
    assert done.returncode == (status or 125), done
    assert "File too large" in done.stderr and not list(big.parent.iterdir()), done
    (kept,) = temporary.iterdir()
    assert str(kept) in done.stderr and len(list(kept.iterdir())) >= 4, done
    for p in kept.iterdir():
        p.unlink()
    kept.rmdir()

# children, stages, threads: all in one document, the first process first
big = fresh() / "r.json"
done = emulated("sh", "-c", f"{prog('spin')} 30 & {prog('hello')} 40; wait; exec {prog('hello')} 60",
                options=["-q", "-o", str(big)])
assert done.returncode == 0 and done.stdout == "hello\nhello\n" and done.stderr == "", done
document = json.loads(big.read_text())
names = [p["program"]["name"] for p in document["processes"]]
assert names.count("prog_hello") == 2 and names.count("prog_spin") == 1, names
first = document["processes"][0]["program"]
assert all(p["program"]["ppid"] != first["ppid"] or p["program"]["pid"] == first["pid"]
           for p in document["processes"]), names
for process in document["processes"]:
    check_sums(process)
for key in ("cpu_ns", "stall_ns", "delay_owed_ns", "epochs"):
    assert document["totals"][key] == sum(p["totals"][key] for p in document["processes"]), key
assert not left(), left()

# a process that outlives the first: its report comes later, into a place that is told
done = emulated("sh", "-c", "sh -c 'echo $$; exec sleep 1' > pid & exit 4", cwd=fresh())
assert done.returncode == 4 and "processes still run: their reports will be in" in done.stderr, done
(kept,) = temporary.iterdir()
assert str(kept) in done.stderr, done
until = time.monotonic() + PATIENCE
while not any(json.loads(p.read_text())["program"]["name"] == "sleep" for p in kept.glob("[0-9]*")):
    assert time.monotonic() < until
    time.sleep(0.05)
for p in kept.iterdir():
    p.unlink()
kept.rmdir()

# signals: passed on once, with what they carry; those that are blocked or ignored stay so
count = """
import os, signal, sys
which = [signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGURG,
         signal.SIGALRM, signal.SIGCONT, signal.SIGWINCH, signal.SIGRTMIN + 1]
signal.pthread_sigmask(signal.SIG_BLOCK, [*which, signal.SIGUSR2])
print("ready", flush=True)
while True:
    got = signal.sigwaitinfo([*which, signal.SIGUSR2])
    print(got.si_signo, flush=True)
    if got.si_signo == signal.SIGUSR2:
        sys.exit(9)
"""
victim = started(count)
assert line_of(victim) == "ready"
for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT,
               signal.SIGALRM, signal.SIGWINCH, signal.SIGRTMIN + 1, signal.SIGURG):
    victim.send_signal(number)
    assert line_of(victim) == str(int(number)), number
victim.send_signal(signal.SIGUSR2)
assert victim.communicate()[0].split() == [str(int(signal.SIGUSR2))] and victim.returncode == 9
victim = started("import signal; print('ready', flush=True); signal.pause()")
assert line_of(victim) == "ready"
victim.terminate()
assert victim.wait(PATIENCE) == -signal.SIGTERM
look = """
import signal
print(sorted(int(s) for s in signal.pthread_sigmask(signal.SIG_BLOCK, [])),
      [int(s) for s in signal.valid_signals() if signal.getsignal(s) == signal.SIG_IGN])
"""


def odd():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


natively = run(sys.executable, "-c", look, preload=None, settings={}, preexec_fn=odd)
done = emulated(sys.executable, "-c", look, options=["-q"], preexec_fn=odd)
assert done.stdout == natively.stdout and str(int(signal.SIGHUP)) in done.stdout, (done, natively)
done = emulated("sh", "-c", "exit 6", options=["-q"], preexec_fn=odd)
assert done.returncode == 6, done

# stop and go on: the command stops with its program
victim = started("import os, signal; print(os.getpid(), flush=True); os.kill(os.getpid(), signal.SIGSTOP);"
                 "print('on', flush=True); signal.pause()",
                 process_group=0)  # one that is watched: the kernel stops no orphaned one by SIGTSTP
inner = int(line_of(victim))
assert os.WIFSTOPPED(os.waitpid(victim.pid, os.WUNTRACED)[1])
victim.send_signal(signal.SIGCONT)
assert line_of(victim) == "on"
victim.send_signal(signal.SIGTSTP)
assert os.WSTOPSIG(os.waitpid(victim.pid, os.WUNTRACED)[1]) == signal.SIGTSTP
assert pathlib.Path(f"/proc/{inner}/stat").read_text().rpartition(")")[2].split()[0] == "T"
victim.send_signal(signal.SIGCONT)
victim.terminate()
assert victim.wait(PATIENCE) == -signal.SIGTERM

# killed: the program does not outlive it
victim = started("import os, signal; print(os.getpid(), flush=True); signal.pause()")
inner = line_of(victim)
victim.kill()
victim.wait()
until = time.monotonic() + PATIENCE
while os.path.exists(f"/proc/{inner}"):
    assert time.monotonic() < until
    time.sleep(0.01)
for kept in temporary.iterdir():
    kept.rmdir()


# a terminal: its signals come once, stop the job, and leave it in the foreground
def as_shell(slave, command):
    """Session leader, with the terminal: starts the job in a group of its own, as shells do."""
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if not job:
        os.setpgid(0, 0)
        os.tcsetpgrp(slave, os.getpid())
        for n in range(3):
            os.dup2(slave, n)
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execve(command[0], command, clean)
    while True:
        status = os.waitpid(job, os.WUNTRACED)[1]
        if not os.WIFSTOPPED(status):
            os._exit(os.waitstatus_to_exitcode(status) & 0xff)
        os.write(slave, b"[stopped by %d]\n" % os.WSTOPSIG(status))
        os.tcsetpgrp(slave, os.getpid())
        time.sleep(0.05)
        os.tcsetpgrp(slave, job)
        os.killpg(job, signal.SIGCONT)


on_terminal = """
import os, signal, sys
seen = {}
def note(number, frame):
    seen[number] = seen.get(number, 0) + 1
    print("got", number, flush=True)
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGCONT):
    signal.signal(number, note)
print("ready", os.tcgetpgrp(0) == os.getpgrp(), flush=True)
for line in sys.stdin:
    if line.strip() == "end":
        break
    print("read", line.strip(), flush=True)
print("seen", sorted(seen.items()), flush=True)
sys.exit(11)
"""
master, slave = pty.openpty()
shell = os.fork()
if not shell:
    as_shell(slave, [str(nvmemu), "run", "--lib", str(library), *SET, "-q", "--", sys.executable, "-c",
                     on_terminal])
os.close(slave)
screen = ""


def shows(text):
    global screen
    until = time.monotonic() + PATIENCE
    while text not in screen:
        assert time.monotonic() < until, (text, screen)
        if select.select([master], [], [], 1)[0]:
            screen += os.read(master, 4096).decode()
    screen = screen.partition(text)[2]


shows("ready True")
os.write(master, b"\x03")
shows("got 2")
os.write(master, b"\x1c")
shows("got 3")
os.write(master, b"one\n")
shows("read one")
os.write(master, b"\x1a")
shows(f"[stopped by {int(signal.SIGTSTP)}]")
shows(f"got {int(signal.SIGCONT)}")
os.write(master, b"two\n")
shows("read two")
os.write(master, b"end\n")
shows(f"seen [(2, 1), (3, 1), ({int(signal.SIGCONT)}, 1)]")
assert os.waitstatus_to_exitcode(os.waitpid(shell, 0)[1]) == 11
os.close(master)
assert not left(), left()
