"""Running victims under the library. Arguments of each test: the library, the victims' directory."""
import atexit
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

from sums import check_sums  # noqa: F401

library = pathlib.Path(sys.argv[1]).resolve()
programs = pathlib.Path(sys.argv[2]).resolve()
scratch = pathlib.Path(tempfile.mkdtemp(prefix="nvmemu-e2e-"))
atexit.register(shutil.rmtree, scratch, ignore_errors=True)
SKIPPED = 77
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

clean = {k: v for k, v in os.environ.items() if not k.startswith(("NVM_", "LD_"))}
# One calibration for all tests, and none in the user's cache.
clean["XDG_CACHE_HOME"] = str(programs / "cache")
# Given, so that no test depends on how busy this machine's memory is.
EMULATE = {"NVM_DRAM_LAT": "100", "NVM_RLAT": "300", "NVM_WLAT": "600"}
INERT = {}


def prog(name):
    return str(programs / f"prog_{name}")


def run(*command, preload=library, settings=EMULATE, timeout=60, **options):
    env = clean | settings
    if preload:
        env["LD_PRELOAD"] = str(preload)
    options = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run([str(c) for c in command], env=env, timeout=timeout, **options)


def same(*command, **options):
    """The same with the library as without; returns the emulated run."""
    plain = run(*command, preload=None, settings=INERT)
    for settings in (INERT, EMULATE):
        done = run(*command, settings=settings, **options)
        assert told(done) == told(plain), (command, settings, done, plain)
    return done


def told(done):
    return done.returncode, done.stdout, done.stderr


def succeeds(*command, output=None, **options):
    done = run(*command, **options)
    if done.returncode == SKIPPED:
        print("skipped:", *command)
        return done
    assert done.returncode == 0, (command, done)
    assert done.stderr == "", (command, done)
    assert output is None or done.stdout == output, (command, done)
    return done


def reports(directory):
    return [json.loads(p.read_text()) for p in sorted(directory.iterdir())]


def fresh():
    return pathlib.Path(tempfile.mkdtemp(dir=scratch))
