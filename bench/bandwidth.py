"""STREAM-like kernels under emulated bandwidths, and a pointer chase beside them.

Each row is the median of interleaved runs with NVM_RBW and NVM_WBW set to the cap. What the workload
(bench/streamer.c) reports of itself: `STREAM GB/s` counts what its source code reads and writes, as
STREAM does; `device GB/s` what memory moves for that in the busier direction, lines fetched before they
are overwritten included: that is what a cap limits. Both are over wall time, barriers included. They
are the same but for memcpy and string moves, whose stores fetch no line. `error` is of the device's
figure against the cap of the same run, `from` and `to` are its least and most; `bytes` is what the
library estimated over what the workload moved.

Targets: error at most 5 %, with 1 and 2 threads. A chase beside a stream under a cap takes at most
5 % longer a step than one that is alone (CPU time, so that others on the machine do not count; medians,
interleaved); for the eye, what it takes alone under the cap (the tool's own cost), what both take
natively together, and what is moved in all."""

import contextlib
import json
import os
import subprocess

from common import BUILD, Failure, Table, median, progress, run_emulated, run_native

STREAMER = os.path.join(BUILD, "bin", "nvmemu-streamer")
KERNELS = "copy scale add triad read write memcpy memcpy-nt memset movs stos"
# Which of its ways the C library's memcpy takes must not depend on the size of this machine's caches.
TUNABLES = "glibc.cpu.x86_rep_movsb_threshold=0x10000000000:glibc.cpu.x86_non_temporal_threshold="
THRESHOLDS = {"memcpy": "0x10000000000", "memcpy-nt": "0x100000"}


def add_options(parser):
    parser.add_argument("--seconds", type=float, default=1.0, help="of each run")
    parser.add_argument("--kernels", default=KERNELS, help="names, with blanks between")
    parser.add_argument("--caps", default="8 4 2", help="GB/s, with blanks between")
    parser.add_argument("--threads", default="1 2")
    parser.add_argument("--rounds", type=int, default=3, help="of interleaved runs")
    parser.add_argument("--no-chase", dest="chase", action="store_false", help="streams alone")
    parser.add_argument("--beside-hog", action="store_true",
                        help="beside a process that computes on one of the processors")
    parser.add_argument("--mib", type=int, default=128, help="of each array")


def command(options, kernel, *more):
    return [STREAMER, kernel, "--seconds", str(options.seconds), "--mib", str(options.mib), *more]


def native(options, kernel, *more):
    return json.loads(run_native(command(options, kernel, *more)))


def capped(options, cap, kernel, *more):
    """The workload's own result, and the report."""
    settings = {"NVM_RBW": "%gGB/s" % cap, "NVM_WBW": "%gGB/s" % cap}
    if kernel in THRESHOLDS:
        settings["GLIBC_TUNABLES"] = TUNABLES + THRESHOLDS[kernel]
    out, reports = run_emulated(command(options, kernel, *more), settings)
    return json.loads(out), reports[0]


def device_gb_per_s(result):
    return max(result["read_bytes"], result["written_bytes"]) / result["seconds"] / 1e9


def estimated(result, report):
    """Of the busier direction, warming up included; with it go what filled the arrays (writes)."""
    traffic = report["totals"]["traffic"]
    key = "read_bytes" if result["read_bytes"] >= result["written_bytes"] else "written_bytes"
    passes = (result["passes"] + result["warm_passes"]) / result["passes"]
    return traffic[key] / (result[key] * passes) if result[key] else 0.0


def stream_run(options, kernel, threads, cap):
    """STREAM's figure, the device's, its error in per cent, and the bytes' ratio."""
    result, report = capped(options, cap, kernel, "--threads", str(threads))
    device = device_gb_per_s(result)
    return result["gb_per_s"], device, 100 * (device / cap - 1), estimated(result, report)


def stream_row(table, targets, row, runs):
    kernel, threads, cap = row
    stream, device, error, ratio = (median(column) for column in zip(*runs))
    errors = [run[2] for run in runs]
    table.row("%s %g GB/s" % (kernel, cap), threads, cap, stream, device, error, min(errors),
              max(errors), ratio, None, targets.judge(abs(error) <= 5))


def stream_rows(options, table, targets):
    rows = {(kernel, int(threads), float(cap)): [] for kernel in options.kernels.split()
            for threads in options.threads.split() for cap in options.caps.split()}
    for number in range(options.rounds):
        for (kernel, threads, cap), runs in rows.items():
            progress("round %d: %s, %d threads, %g GB/s" % (number + 1, kernel, threads, cap))
            runs.append(stream_run(options, kernel, threads, cap))
            if number == options.rounds - 1:
                progress("")
                stream_row(table, targets, (kernel, threads, cap), runs)


def chase_rows(options, table, targets, cap):
    alone, limited, beside, streams, together = [], [], [], [], []
    for _ in range(options.rounds):
        alone.append(native(options, "none")["chase_cpu_ns"])
        limited.append(capped(options, cap, "none")[0]["chase_cpu_ns"])
        together.append(native(options, "read", "--chase")["chase_cpu_ns"])
        result, _ = capped(options, cap, "read", "--chase")
        beside.append(result["chase_cpu_ns"])
        streams.append(device_gb_per_s(result) + 64 / result["chase_ns"])
    errors = [100 * (moved / cap - 1) for moved in streams]
    none = [None] * 6
    table.row("chase, alone, native", 1, None, *none, median(alone), "")
    table.row("chase, alone, %g GB/s" % cap, 1, cap, *none, median(limited), "")
    table.row("chase beside read, native", 2, None, *none, median(together), "")
    table.row("chase beside read %g GB/s" % cap, 2, cap, None, median(streams), median(errors),
              min(errors), max(errors), None, median(beside),
              targets.judge(median(beside) <= 1.05 * median(alone)))


@contextlib.contextmanager
def hog():
    """A busy loop on the last of the processors that we may use."""
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as process:
        os.sched_setaffinity(process.pid, {max(os.sched_getaffinity(0))})
        try:
            yield
        finally:
            process.kill()


def run(options, targets):
    if not os.path.exists(STREAMER):
        raise Failure("the build made no " + STREAMER)
    with hog() if options.beside_hog else contextlib.nullcontext():
        return all_rows(options, targets)


def all_rows(options, targets):
    table = Table([("what", 26, ""), ("threads", 7, "%d"), ("cap GB/s", 8, "%g"),
                   ("STREAM GB/s", 11, "%.2f"), ("device GB/s", 11, "%.3f"), ("error %", 7, "%+.1f"),
                   ("from", 6, "%+.1f"), ("to", 6, "%+.1f"), ("bytes", 6, "%.3f"),
                   ("chase ns", 8, "%.1f"), ("met", 4, "")])
    table.head()
    stream_rows(options, table, targets)
    for cap in options.caps.split() if options.chase else []:
        chase_rows(options, table, targets, float(cap))
    return table
