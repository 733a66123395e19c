"""What the library costs when it has nothing to delay: both latencies are DRAM's own, so that it
samples, looks ahead and models as ever and then owes nothing.

Native and emulated runs of the same number of steps take turns (ABBA); the figure is the median of
the paired ratios of user and system CPU time of the whole process, monitor threads included, with
its 95 % interval. Target: at most 1 % slower. Start-up: `true` with and without, median difference
of the wall time. Target: below 2 ms."""

import os
import time

from common import (Table, WORKLOAD, clean_environment, emulated_environment, median,
                    median_interval, progress, scratch, workload_native)

SETTINGS = {"NVM_DRAM_LAT": "100", "NVM_RLAT": "100", "NVM_WLAT": "100"}
KERNELS = (("arithmetic", "arith"), ("chase", "chase-w100"), ("malloc-heavy", "malloc"))


def add_options(parser):
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=1, help="CPU time of a run, about")
    parser.add_argument("--starts", type=int, default=200, help="runs of true, with and without")


def spawn(command, env):
    """Returns CPU seconds and wall seconds of a run that prints nowhere."""
    quiet = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    start = time.perf_counter()
    pid = os.posix_spawn(command[0], command, env, file_actions=quiet)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - start
    if status:
        raise RuntimeError("%s: wait status %d" % (command[0], status))
    return usage.ru_utime + usage.ru_stime, wall


def pairs(command, with_env, without_env, count, which, label):
    """Paired (native, emulated) figures; every other pair in the other order."""
    taken = []
    for i in range(count):
        progress("%s: pair %d of %d" % (label, i + 1, count))
        first, second = (without_env, with_env) if i % 2 == 0 else (with_env, without_env)
        a, b = spawn(command, first)[which], spawn(command, second)[which]
        taken.append((a, b) if i % 2 == 0 else (b, a))
    progress("")
    return taken


def run(options, targets):
    number = "%.3f"
    table = Table([("what", 14, ""), ("native", 9, "%.4f"), ("emulated", 9, "%.4f"),
                   ("unit", 4, "%s"), ("slower", 8, number), ("from", 8, number),
                   ("to", 8, number), ("unit", 4, "%s", "slower_unit"), ("target", 6, "%.1f"),
                   ("met", 4, "")])
    table.head()
    with scratch() as folder:
        emulated = emulated_environment(SETTINGS, os.path.join(folder, "report.json"))
        del emulated["NVM_OUT"]
        native = clean_environment()
        for label, kernel in KERNELS:
            probe = workload_native(kernel, "--seconds", "0.3")
            steps = int(options.seconds * 1e9 / probe["ns_per_step"])
            command = [WORKLOAD, kernel, "--steps", str(steps)]
            # not measured: memory that the host has to find first
            spawn(command, native)
            taken = pairs(command, emulated, native, options.pairs, 0, label)
            middle, low, high = median_interval([100 * (b / a - 1) for a, b in taken])
            table.row(label, median(a for a, _ in taken), median(b for _, b in taken), "s", middle,
                      low, high, "%", 1.0, targets.judge(middle <= 1.0))
        # the first start of all may calibrate; it is not measured
        spawn(["/bin/true"], emulated)
        taken = pairs(["/bin/true"], emulated, native, options.starts, 1, "start-up")
        middle, low, high = median_interval([1000 * (b - a) for a, b in taken])
        table.row("start-up", 1000 * median(a for a, _ in taken),
                  1000 * median(b for _, b in taken), "ms", middle, low, high, "ms", 2.0,
                  targets.judge(middle < 2.0))
    return table
