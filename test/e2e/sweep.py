"""nvmemu sweep: rounds and their order, tables, files, resumption, interruption, programs that fail;
not times.

Arguments: the command, the library.
"""
import csv
import io
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

nvmemu, library = sys.argv[1:]
work = pathlib.Path(tempfile.mkdtemp(prefix="nvmemu-e2e-sweep-"))
clean = {k: v for k, v in os.environ.items() if not k.startswith(("NVM_", "LD_"))}
clean |= {"NVM_DRAM_LAT": "100", "XDG_CACHE_HOME": str(work / "cache")}
log = work / "log"
# tells with what it was run
tell = ("sh", "-c", f'echo "${{LD_PRELOAD:+emulated}} $NVM_RLAT $NVM_WLAT" >>{log}; '
        'echo out; echo err >&2')


def arguments(*args, program=tell, lib=library):
    return [nvmemu, "sweep", "--lib", lib, "--warmup", "0", *args, "--", *program]


def run(*args, program=tell, lib=library, env=(), **options):
    log.unlink(missing_ok=True)
    options = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
               "timeout": 100} | options
    return subprocess.run(arguments(*args, program=program, lib=lib), env=clean | dict(env),
                          **options)


def fails(status, message, *args, **options):
    done = run(*args, **options)
    assert done.returncode == status, (args, done)
    assert message in done.stderr, (args, done)
    assert done.stdout == "", (args, done)
    return done


def logged():
    return [line.split() for line in log.read_text().splitlines()]


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


# Each round has each point and native once; the program sees its latencies and nothing else changes.
runs, table, picture = work / "runs.csv", work / "table.csv", work / "plot.svg"
done = run("--wlat", "200:400:200", "--rlat", "dram,150", "--repeat", "3", "--runs", str(runs),
           "--csv", str(table), "--svg", str(picture))
assert done.returncode == 0 and done.stderr == "", done
points = [("", "200"), ("", "400"), ("150", "200"), ("150", "400")]
seen = logged()
assert len(seen) == 3 * 5, seen
for i in range(3):
    assert sorted(seen[5 * i:5 * i + 5]) == [[], *sorted(
        ["emulated", *filter(None, point)] for point in points)], seen
kept = rows(runs.read_text())
assert len(kept) == 15 and {row["round"] for row in kept} == {"1", "2", "3"}
assert all(row["status"] == "0" and int(row["wall_ns"]) > 0 for row in kept)
assert all(row["command"].startswith("sh -c 'echo") for row in kept)

# The table, as text and as CSV, says the same.
text = re.findall(r"^ +(\S+) +(\S+) +3 +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$",
                  done.stdout, re.M)
found = rows(table.read_text())
assert [(row["rlat_ns"], row["wlat_ns"]) for row in found] == [("", ""), *points], found
assert [row["run"] for row in found] == ["native"] + 4 * ["emulated"]
assert [row[:2] for row in text] == [(r or "DRAM", w) for r, w in points], done.stdout
for row, line in zip(found[1:], text):
    low, middle, high = (float(row[f"slowdown{end}"]) for end in ("_low", "", "_high"))
    assert low <= middle <= high, row
    assert abs(float(line[4]) - middle) < 0.001 and row["rounds"] == "3", (row, line)
    # what it says follows from the runs alone
    ratios = sorted(int(a["wall_ns"]) / int(b["wall_ns"]) for a in kept for b in kept
                    if (a["rlat_ns"], a["wlat_ns"], a["run"], a["round"]) ==
                    (row["rlat_ns"], row["wlat_ns"], "emulated", b["round"])
                    and b["run"] == "native")
    assert abs(ratios[1] - middle) < 1e-5, (ratios, row)
drawn = xml.parse(picture).getroot()
assert drawn.tag.endswith("svg")
words = [element.text for element in drawn.iter() if element.tag.endswith("}text")]
assert "write latency (ns)" in words and "times as long as native" in words, words
assert "read 150 ns" in words and "read DRAM's" in words, words

# Nothing is left to do; then more rounds, and a point more.
again = ("--wlat", "200:400:200", "--rlat", "dram,150", "--runs", str(runs))
done = run(*again, "--repeat", "3")
assert done.returncode == 0 and not log.exists() and "150" in done.stdout, done
done = run(*again, "--repeat", "4")
assert done.returncode == 0 and len(logged()) == 5, done
done = run("--wlat", "200,300", "--repeat", "1", "--runs", str(runs))
assert done.returncode == 0 and sorted(logged()) == [[], ["emulated", "300"]], logged()
assert [row["round"] for row in rows(runs.read_text())][-2:] == ["5", "5"]

# A last row that was cut off is made anew.
whole = runs.read_bytes()
runs.write_bytes(whole[:-20])
done = run("--wlat", "200,300", "--repeat", "1", "--runs", str(runs))
assert done.returncode == 0 and len(logged()) == 2, done
assert len(rows(runs.read_text())) == len(rows(whole.decode())) + 1

# CSV alone on stdout.
done = run("--wlat", "200", "--repeat", "1", "--csv", "-")
assert [row["wlat_ns"] for row in rows(done.stdout)] == ["", "200"], done
assert rows(done.stdout)[1]["slowdown_low"] == ""

# Input, output; what the caller preloads stays, but no library of ours natively.
done = run("--wlat", "200", "--repeat", "1", "--show-output")
assert done.stdout.count("out\n") == 2 and done.stderr.count("err\n") == 2, done
(work / "input").write_text("x")
done = run("--wlat", "200", "--repeat", "1", "--input", str(work / "input"),
           program=("sh", "-c", f'read x; [ "$x" = x ] && echo ok >>{log}'))
assert done.returncode == 0 and log.read_text() == "ok\nok\n", done
done = run("--wlat", "200", "--repeat", "1", env={"LD_PRELOAD": f"{library}:libc.so.6"},
           program=("sh", "-c", f'echo "$LD_PRELOAD" >>{log}'))
assert done.returncode == 0, done
assert set(log.read_text().splitlines()) == {
    f"{os.path.realpath(library)}:libc.so.6", "libc.so.6"}, log.read_text()

# Programs that fail, cannot be started, or kill themselves.
done = fails(1, "ended with status 3, native", "--wlat", "200", "--warmup", "1",
             program=("sh", "-c", "echo why >&2; exit 3"))
assert "why\n" in done.stderr, done
done = fails(1, "signal 9", "--wlat", "200", program=("sh", "-c", "kill -9 $$"))
done = run("--wlat", "200", "--repeat", "1", "--ignore-failure", "--runs", str(work / "failing"),
           program=("sh", "-c", "exit 3"))
assert done.returncode == 0, done
assert {row["status"] for row in rows((work / "failing").read_text())} == {"3"}
fails(127, "No such file", "--wlat", "200", program=("/nonexistent/program",))
fails(126, "Permission denied", "--wlat", "200", program=("/dev/null",))

# Emulation is impossible; the library cannot be read.
fails(125, "nvmemu: error: no hardware counters", "--wlat", "200",
      env={"NVM_COUNTERS": "pmu", "NVM_PMU_EVENTS": "stall=99/1"})
fails(125, "/nonexistent/lib.so", "--wlat", "200", lib="/nonexistent/lib.so")

# Arguments.
fails(2, "no latency", "--rlat", "dram")
fails(2, "which program", "--wlat", "200", program=())
for bad in ("", "x", "200:300", "300:200:10", "200:300:0", "-5"):
    fails(2, "--wlat", f"--wlat={bad}")
fails(2, "--repeat", "--wlat", "200", "--repeat", "0")
fails(2, "--time", "--wlat", "200", "--time", "later")
fails(2, "too many", "--wlat", "101:1000:1", "--rlat", "101:1000:1")
fails(125, "50 ns is below this machine's DRAM latency of 100 ns", "--wlat", "50:200:50")
fails(125, "NVM_MODEL", "--wlat", "200", env={"NVM_MODEL": "strange"})
assert not log.exists()

# Files that are others', or cannot be written.
(work / "notes").write_text("my notes\n")
fails(1, "not a file of runs", "--wlat", "200", "--runs", str(work / "notes"))
assert (work / "notes").read_text() == "my notes\n"
fails(1, "another command", "--wlat", "200", "--runs", str(runs), program=("true",))
fails(1, "/nonexistent/runs", "--wlat", "200", "--runs", "/nonexistent/runs")
done = run("--wlat", "200", "--repeat", "1", "--csv", "/nonexistent/table")
assert done.returncode == 1 and "/nonexistent/table" in done.stderr, done
fails(1, "not a regular file", "--wlat", "200", "--runs", "/dev/full")
short = work / "short"
done = run("--wlat", "200", "--repeat", "9", "--runs", str(short), program=("true",),
           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300)))
assert done.returncode == 1 and f"cannot write {short}" in done.stderr, done
assert not short.read_text().endswith("\n")
done = run("--wlat", "200", "--repeat", "9", "--runs", str(short), program=("true",))
assert done.returncode == 0 and re.search(r"^ +DRAM +200 +9 ", done.stdout, re.M), done


def wait_for(condition):
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("waited in vain")


def interrupt(number, *args):
    """Once two rounds are there."""
    log.unlink(missing_ok=True)
    naps = ("sh", "-c", f"echo >>{log}; exec sleep 0.1")
    with subprocess.Popen(arguments("--wlat", "200", "--repeat", "10000", *args, program=naps),
                          env=clean, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        wait_for(lambda: log.exists() and len(log.read_text()) >= 5)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted" in err, (process.returncode, out, err)
    assert re.search(r"^ +DRAM +200 +[2-9] ", out, re.M), out
    return err


# Interrupted: what is there is told and kept; then it goes on where it stood.
broken = work / "broken"
assert f"--runs {broken}" in interrupt(signal.SIGINT, "--runs", str(broken))
before = len(rows(broken.read_text()))
assert f"--runs {broken}" in interrupt(signal.SIGTERM, "--runs", str(broken))
assert len(rows(broken.read_text())) >= before + 4
interrupt(signal.SIGHUP)


# On a terminal a line tells how far it is and how long it will take, and goes; nowhere else.
def on_terminal(*args):
    main, side = os.openpty()
    with subprocess.Popen(arguments(*args), env=clean, stdin=side, stdout=subprocess.PIPE, stderr=side,
                          text=True) as process:
        os.close(side)
        out = process.stdout.read()
        assert process.wait() == 0, out
    shown = b""
    while select.select([main], [], [], 0)[0]:
        try:
            shown += os.read(main, 65536)
        except OSError:
            break
    os.close(main)
    return out, shown.decode()


out, shown = on_terminal("--wlat", "200", "--repeat", "2")
assert re.search(r"^ +DRAM +200 +2 ", out, re.M), out
states = shown.split("\r\x1b[K")
assert states[0] == states[-1] == "", states
assert [re.search(r"\] (\d) of 4\b", state).group(1) for state in states[1:-1]] == list("0123"), states
assert any(re.search(r"\d of 4, [\dm]+s left: ", state) for state in states), states
assert all(len(state) < 80 for state in states), states
assert run("--wlat", "200", "--repeat", "1").stderr == ""

shutil.rmtree(work)
