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
