"""robench and wbbench: arguments and output; not speed. Arguments: the two binaries."""
import re
import subprocess
import sys


def run(binary, *args):
    return subprocess.run([binary, *args], capture_output=True, text=True, timeout=60)


for binary, name in zip(sys.argv[1:], ("robench", "wbbench")):
    done = run(binary, "--bytes", "4M", "--steps", "12345", "--huge", "off")
    assert done.returncode == 0 and done.stderr == "", done
    assert re.fullmatch(name + r": \d+\.\d\d ns per step \(12345 steps, 4 MiB, small pages, "
                        r"[\d.]+ s CPU, [\d.]+ s wall\)\n", done.stdout), done.stdout

    # By time: whole slices of 100,000 steps.
    done = run(binary, "--bytes", "1M", "--seconds", "0.05")
    assert done.returncode == 0 and re.search(r"\(\d*00000 steps, 1 MiB", done.stdout), done

    assert run(binary, "--help").stdout.startswith(f"usage: {name} ")
    for args in (["--bytes", "1X"], ["--bytes", "1"], ["--bytes", "-1"], ["--steps", "x"],
                 ["--seconds", "0"], ["--seconds", "nan"], ["--huge", "maybe"]):
        done = run(binary, *args)
        assert done.returncode == 2 and args[0] in done.stderr and done.stdout == "", done
    done = run(binary, "more")
    assert done.returncode == 2 and "more" in done.stderr, done
    done = run(binary, "--bytes", "1000000G")
    assert done.returncode == 1 and "no memory" in done.stderr, done
