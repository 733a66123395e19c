"""STREAM-like kernels under emulated bandwidths, and a pointer chase beside them.

Each row is one run with NVM_RBW and NVM_WBW set to the cap. What the workload (bench/streamer.c)
reports of itself: `STREAM GB/s` counts what its source code reads and writes, as STREAM does;
`device GB/s` what memory moves for that in the busier direction, lines fetched before they are
overwritten included: that is what a cap limits. Both are over wall time, barriers included. They
are the same but for memcpy and string moves, whose stores fetch no line. `error` is of the device's
figure against the cap; `bytes` is what the library estimated over what the workload moved.

Targets: error at most 5 %, with 1 and 2 threads. A chase beside a stream under a cap takes at most
5 % longer a step than one that is alone (medians, interleaved); for the eye, what both take natively
together, and what is moved in all."""

import json
import os

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
    parser.add_argument("--rounds", type=int, default=3, help="of the chase's rows")
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


def stream_row(options, table, targets, kernel, threads, cap):
    result, report = capped(options, cap, kernel, "--threads", str(threads))
    device = device_gb_per_s(result)
    error = 100 * (device / cap - 1)
    table.row("%s %g GB/s" % (kernel, cap), threads, cap, result["gb_per_s"], device, error,
              estimated(result, report), None, targets.judge(abs(error) <= 5))


def chase_rows(options, table, targets, cap):
    alone, beside, streams, together = [], [], [], []
    for _ in range(options.rounds):
        alone.append(native(options, "none")["chase_ns"])
        both = native(options, "read", "--chase")
        together.append(both["chase_ns"])
        result, _ = capped(options, cap, "read", "--chase")
        beside.append(result["chase_ns"])
        streams.append(device_gb_per_s(result) + 64 / result["chase_ns"])
    moved = median(streams)
    table.row("chase, alone, native", 1, None, None, None, None, None, median(alone), "")
    table.row("chase beside read, native", 2, None, None, None, None, None, median(together), "")
    table.row("chase beside read %g GB/s" % cap, 2, cap, None, moved, 100 * (moved / cap - 1),
              None, median(beside), targets.judge(median(beside) <= 1.05 * median(alone)))


def run(options, targets):
    if not os.path.exists(STREAMER):
        raise Failure("the build made no " + STREAMER)
    table = Table([("what", 26, ""), ("threads", 7, "%d"), ("cap GB/s", 8, "%g"),
                   ("STREAM GB/s", 11, "%.2f"), ("device GB/s", 11, "%.3f"), ("error %", 7, "%+.1f"),
                   ("bytes", 6, "%.3f"), ("chase ns", 8, "%.1f"), ("met", 4, "")])
    table.head()
    for kernel in options.kernels.split():
        for threads in options.threads.split():
            for cap in options.caps.split():
                progress("%s, %s threads, %s GB/s" % (kernel, threads, cap))
                stream_row(options, table, targets, kernel, int(threads), float(cap))
    for cap in options.caps.split() if options.rounds else []:
        chase_rows(options, table, targets, float(cap))
    return table
