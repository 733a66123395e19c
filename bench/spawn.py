"""Cost of new processes: fork, and fork with exec of /bin/true, from a process with 1 byte to 8 MiB of
data, from the call until the child has been waited for.

Native and emulated runs take turns (ABBA) of some rounds each; figures are medians over all rounds.
Both latencies are DRAM's own: the children owe nothing, what is measured is the library. Target for
each row: at most 1.3 times the native time and 1.5 ms."""

import os
import subprocess

from common import (BUILD, Table, check_exit, clean_environment, emulated_environment, median,
                    progress)

SETTINGS = {"NVM_DRAM_LAT": "100", "NVM_RLAT": "100", "NVM_WLAT": "100"}
SIZES = (("1 B", 1), ("4 KiB", 4 << 10), ("64 KiB", 64 << 10), ("1 MiB", 1 << 20),
         ("8 MiB", 8 << 20))
FACTOR, PLUS_MS = 1.3, 1.5


def add_options(parser):
    parser.add_argument("--pairs", type=int, default=8, help="native and emulated runs of each size")
    parser.add_argument("--rounds", type=int, default=25, help="processes of each kind in a run")


def take(size, rounds, env):
    """Milliseconds of the forks and of the execs of a run."""
    command = [os.path.join(BUILD, "bin", "nvmemu-spawner"), str(size), str(rounds)]
    done = subprocess.run(command, capture_output=True, env=env, check=False)
    check_exit(command, done)
    words = [line.split() for line in done.stdout.decode().splitlines()]
    return [int(w[1]) / 1e6 for w in words], [int(w[3]) / 1e6 for w in words]


def within(native_ms, emulated_ms):
    return emulated_ms <= FACTOR * native_ms + PLUS_MS


def run(options, targets):
    table = Table([("what", 12, ""), ("data", 7, ""), ("native ms", 9, "%.3f"),
                   ("emulated ms", 11, "%.3f"), ("times", 6, "%.2f"), ("plus ms", 8, "%.3f"),
                   ("met", 4, "")])
    table.head()
    native, emulated = clean_environment(), emulated_environment(SETTINGS, "")
    del emulated["NVM_OUT"]
    take(1, 1, emulated)  # the first start of all may calibrate
    for label, size in SIZES:
        taken = {"fork": ([], []), "fork + exec": ([], [])}
        for i in range(options.pairs):
            progress("%s: pair %d of %d" % (label, i + 1, options.pairs))
            for which in ((0, 1) if i % 2 == 0 else (1, 0)):
                forks, execs = take(size, options.rounds, (native, emulated)[which])
                taken["fork"][which].extend(forks)
                taken["fork + exec"][which].extend(execs)
        progress("")
        for what, (without, with_it) in taken.items():
            a, b = median(without), median(with_it)
            table.row(what, label, a, b, b / a, b - a, targets.judge(within(a, b)))
    return table
