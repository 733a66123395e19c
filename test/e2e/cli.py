"""The command nvmemu: dispatch, help, version, the list of variables. Argument: the binary."""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

nvmemu = sys.argv[1]
clean = {k: v for k, v in os.environ.items() if not k.startswith("NVM_")}


def run(*args, **variables):
    return subprocess.run([nvmemu, *args], env=clean | variables, capture_output=True, text=True)


def fails(status, message, *args, **variables):
    done = run(*args, **variables)
    assert done.returncode == status, (args, done)
    assert message in done.stderr, (args, done.stderr)
    assert done.stdout == "", (args, done.stdout)


# dispatch
assert re.fullmatch(r"nvmemu \d+\.\d+\.\d+\n", run("--version").stdout)
top = run("--help")
assert top.returncode == 0 and top.stderr == ""
commands = re.findall(r"^  (\w+) +\w.*$", top.stdout, re.M)
assert {"env", "calibrate", "devices", "doctor", "heat", "predict", "report", "run", "sweep",
        "validate"} == set(commands), commands
for command in commands:
    told = run(command, "--help")
    assert told.returncode == 0 and told.stderr == "", told
    assert told.stdout.startswith(f"usage: nvmemu {command}"), told.stdout
    fails(2, f"nvmemu {command}: unrecognized option '--nonsense'", command, "--nonsense")
    if command not in ("devices", "heat", "predict", "report", "run", "sweep"):
        fails(2, f"nvmemu {command}: unexpected argument 'more'", command, "more")
fails(2, "no command 'nonsense'", "nonsense")
fails(2, "which command?")

# output that cannot be written is a failure
with open("/dev/full", "w") as full:
    done = subprocess.run([nvmemu, "env"], env=clean, stdout=full, stderr=subprocess.PIPE)
assert done.returncode == 1 and b"No space left" in done.stderr, done


# the variables
def rows(**variables):
    done = run("env", **variables)
    assert done.returncode == 0, done
    head, *lines = done.stdout.splitlines()
    assert head.split() == ["variable", "value", "from", "meaning"]
    return {line.split()[0]: line for line in lines}


plain = rows()
assert "NVM_WLAT" in plain and "NVM_OUT" in plain
assert all(" default " in line for line in plain.values()), plain
mine = rows(NVM_WLAT="1us", NVM_STRICT="1")
assert re.match(r"NVM_WLAT +1us +environment ", mine["NVM_WLAT"]), mine
assert re.match(r"NVM_STRICT +on +environment ", mine["NVM_STRICT"]), mine
assert mine["NVM_RLAT"] == plain["NVM_RLAT"]
fails(125, "NVM_WLAT", "env", NVM_WLAT="fast")
near = run("env", NVM_WLATT="300")
assert near.returncode == 0 and "NVM_WLATT" in near.stderr

table = run("env", "--markdown", NVM_WLAT="300").stdout.splitlines()
assert table[:2] == ["| variable | default | meaning |", "| --- | --- | --- |"]
assert all(re.fullmatch(r"\| (NVM_\w+) \| [^|]+ \| [^|]+ \|", line) for line in table[2:]), table
assert [line.split()[1] for line in table[2:]] == list(plain)


# the calibration: kept in the user's cache, printed in both forms
with tempfile.TemporaryDirectory() as cache:
    done = run("calibrate", "--json", XDG_CACHE_HOME=cache)
    assert done.returncode == 0 and done.stderr == "", done
    figures = json.loads(done.stdout)
    assert figures["schema"] == "nvmemu-calibration"
    assert 0 < figures["llc_lat_ns"] < figures["dram_lat_ns"]
    assert figures["fence_ticks"] < figures["threshold_ticks"] < figures["timed_dram_ticks"]
    kept = figures["kept_in"]
    assert kept.startswith(cache + "/nvmemu/") and os.path.getsize(kept) > 0
    before = os.stat(kept).st_ino

    done = run("calibrate", XDG_CACHE_HOME=cache)
    assert done.returncode == 0 and done.stderr == "", done
    assert re.search(r"^dram_lat +[\d.]+ ns +\S", done.stdout, re.M), done.stdout
    assert done.stdout.endswith(f"\nkept in {kept}\n")
    assert os.stat(kept).st_ino != before, "not renewed"

    # no room: the figures are printed, the old ones stay, and the status tells
    with open(kept) as f:
        old = f.read()
    done = subprocess.run(
        [nvmemu, "calibrate"], env=clean | {"XDG_CACHE_HOME": cache},
        capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    assert done.returncode == 1 and f"cannot keep the figures in {kept}" in done.stderr, done
    assert "dram_lat" in done.stdout and "kept in" not in done.stdout
    with open(kept) as f:
        assert f.read() == old


# Every subcommand: what is printed must reach its reader, what is read must be whole, a report and of a
# version that is known, and what is written is there whole or not at all.
def limited():
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))


with tempfile.TemporaryDirectory() as place:
    own = clean | {"NVM_DRAM_LAT": "100", "XDG_CACHE_HOME": place}
    report, folder = os.path.join(place, "report.json"), os.path.join(place, "out")
    os.mkdir(folder)
    done = subprocess.run([nvmemu, "run", "--wlat", "300", "--heat", "-o", report, "--", "true"], env=own,
                          capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "", done
    sweep = ("sweep", "--wlat", "300", "--repeat", "1", "--warmup", "0")

    for args in (*((command, "--help") for command in commands), ("--help",), ("--version",), ("env",),
                 ("devices",), ("devices", "--json"), ("doctor",), ("doctor", "--json"),
                 ("report", report), ("report", "--format", "html", report), ("heat", report),
                 ("heat", "--format", "pprof", report), ("predict", report, "--wlat", "300"),
                 ("predict", report, "--wlat", "300", "--csv", "-"), (*sweep, "--", "true"),
                 (*sweep, "--csv", "-", "--", "true")):
        for stdout, reason in ((">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")):
            done = subprocess.run(["sh", "-c", f'exec "$@" {stdout}', "sh", nvmemu, *args], env=own,
                                  capture_output=True, text=True)
            assert done.returncode == 1 and done.stderr.count("error") == 1, (args, stdout, done)
            assert f"cannot write to the standard output: {reason}\n" in done.stderr, (args, done)

    with open(report, "rb") as f:
        whole = f.read()
    with open(nvmemu, "rb") as f:
        foreign = f.read(5000)
    newer = json.dumps(json.loads(whole) | {"version": 99}).encode()
    wrong = os.path.join(place, "wrong")
    for content in (None, b"", whole[:len(whole) // 2], whole[:-3], foreign, b"a,b\n1,2\n", b"{}", newer):
        if content is not None:
            with open(wrong, "wb") as f:
                f.write(content)
        for args in (("report",), ("heat",), ("heat", "diff", report), ("predict", "--wlat", "300")):
            for path in (wrong, *((place,) if content is None else ())):
                done = subprocess.run([nvmemu, *args, path], env=own, capture_output=True, text=True)
                assert done.returncode == 1 and done.stdout == "", (args, content, done)
                assert f"error: {path}: " in done.stderr, (args, content, done)
                assert len(done.stderr.splitlines()) == 1, (args, content, done)
                assert content != newer or "version 99" in done.stderr, (args, done)

    out = os.path.join(folder, "out")
    for args in (("report", report, "-f", "-o", out), ("heat", report, "-o", out),
                 ("heat", report, "--format", "dhat", "-o", out),
                 ("heat", report, "--format", "pprof", "-o", out),
                 ("heat", "diff", report, report, "-o", out),
                 ("predict", report, "--wlat", "300:900:100", "--csv", out),
                 ("predict", report, "--wlat", "300:900:100", "--svg", out),
                 (*sweep, "--csv", out, "--", "true"), (*sweep, "--svg", out, "--", "true")):
        for before in ([], ["out"]):
            if before:
                with open(out, "w", encoding="ascii") as f:
                    f.write("mine")
            done = subprocess.run([nvmemu, *args], env=own, capture_output=True, text=True,
                                  preexec_fn=limited)
            assert done.returncode == 1 and f"cannot write {out}: File too large" in done.stderr, (args, done)
            assert os.listdir(folder) == before, (args, os.listdir(folder))
            if before:
                with open(out, encoding="ascii") as f:
                    assert f.read() == "mine", args
                done = subprocess.run([nvmemu, *args], env=own, capture_output=True, text=True)
                assert done.returncode == 0 and os.path.getsize(out) > 20, (args, done)
                os.unlink(out)
