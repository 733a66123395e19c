"""A processor without look-ahead, and no PMU: told once, and the program runs as if alone.

Arguments: the library, the victims' directory, and the emulator that runs both: with words of its
own, of which none may be needed by what it starts.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

library, programs, *emulator = sys.argv[1:]
scratch = tempfile.TemporaryDirectory()
EMULATE = {"NVM_DRAM_LAT": "100", "NVM_WLAT": "600"}


def run(name, *args, preload=True, **settings):
    """Only the program inside the emulator gets the library, not the emulator."""
    words = [f"{key}={value}" for key, value in settings.items()]
    if preload:
        words.append(f"LD_PRELOAD={library}")
    inside = [word for setting in words for word in ("-E", setting)]
    return subprocess.run([*emulator, *inside, f"{programs}/prog_{name}", *args], text=True,
                          capture_output=True, timeout=60, cwd=scratch.name,
                          env={"PATH": "/usr/bin:/bin", "HOME": scratch.name})


def check_line(line):
    for word in ("x86-64", "PMU"):
        assert word in line, line


plain = run("hello", preload=False)
assert (plain.returncode, plain.stdout, plain.stderr) == (0, "hello\n", ""), plain

# nothing is asked for: nothing is said
done = run("hello")
assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", ""), done
done = run("hello", NVM_DRAM_LAT="100")
assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", ""), done

# one line, and the program runs natively
done = run("hello", **EMULATE)
assert (done.returncode, done.stdout) == (0, "hello\n"), done
assert len(done.stderr.splitlines()) == 1 and "runs natively: " in done.stderr, done
check_line(done.stderr)
done = run("hello", NVM_LOG="error", **EMULATE)
assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", ""), done

# or not at all
done = run("hello", NVM_STRICT="on", **EMULATE)
assert (done.returncode, done.stdout) == (125, ""), done
assert len(done.stderr.splitlines()) == 1, done
check_line(done.stderr)

# the report, if any, tells it
path = pathlib.Path(scratch.name, "report.json")
done = run("hello", NVM_OUT=str(path), **EMULATE)
assert (done.returncode, done.stdout) == (0, "hello\n"), done
report = json.loads(path.read_text())
assert report["emulated"] == "no", report
check_line(report["why_not"])
assert report["why_not"] in done.stderr, (report, done)
assert report["totals"]["delay_owed_ns"] == 0 and report["threads"] == [], report

# the doctor says the same, and how it ends
nvmemu = pathlib.Path(library).parent.parent / "bin" / "nvmemu"
done = subprocess.run([*emulator, nvmemu, "doctor"], text=True, capture_output=True, timeout=60,
                      env={"PATH": "/usr/bin:/bin", "HOME": scratch.name})
assert done.returncode == 125 and done.stderr == "", done
assert done.stdout.endswith("emulation is impossible\n"), done
[line] = [line for line in done.stdout.splitlines() if line.startswith("look-ahead ")]
check_line(line)
assert "look-ahead does without" not in done.stdout, done

# none of the hooks is in the way
for status, name, *args in ((7, "raw"), (0, "threads", "some"), (0, "signals", "own"),
                            (0, "signals", "reset-raw"), (0, "signals", "small-stack"),
                            (7, "ends", "exit_group"), (7, "ends", "_exit")):
    want, got = run(name, *args, preload=False), run(name, *args, NVM_LOG="error", **EMULATE)
    assert want.returncode == status, want
    assert (got.returncode, got.stdout, got.stderr) == (status, want.stdout, want.stderr), (want, got)
