"""A program of two threads, one chases and writes, one computes: only the chasing thread may be
delayed.

Targets: the computing thread's delay is at most 1 % of its CPU time; the chasing thread is paid the
delay that equation 5 gives for its own counts, within 3 %. The last lines compare both threads'
time a step with a native run (median, interleaved): for the eye, without a target."""

from common import Failure, Table, median, workload_emulated, workload_native

WRITE_NS = 1000


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)


def thread_named(report, name):
    found = [t for t in report["threads"] if t["name"] == name]
    if len(found) != 1:
        raise Failure("the report has %d threads named %s" % (len(found), name))
    return found[0]


def modelled_ns(thread):
    """Equation 5; the read latency is DRAM's own."""
    return thread["ma_wb"] * (WRITE_NS - thread["dram_lat_ns"])


def percent(part, whole):
    return 100 * part / whole if whole else 0.0


def run(options, targets):
    table = Table([("thread", 10, ""), ("CPU s", 8, "%.3f"), ("stall share", 11, "%.3f"),
                   ("delay s", 8, "%.3f"), ("model s", 8, "%.3f"), ("delay/CPU %", 11, "%.2f"),
                   ("delay/model %", 13, "%.1f"), ("met", 4, "")])
    table.head()
    seconds = ["--seconds", str(options.seconds)]
    natives, results, threads = [], [], {"chase": [], "compute": []}
    for _ in range(options.rounds):
        natives.append(workload_native("two-threads", *seconds))
        result, report = workload_emulated("two-threads", {"NVM_WLAT": str(WRITE_NS)}, *seconds)
        results.append(result)
        for name, kept in threads.items():
            kept.append(thread_named(report, name))
    for name, kept in threads.items():
        cpu = median(t["cpu_ns"] for t in kept)
        paid = median(t["delay_paid_ns"] for t in kept)
        share = median(t["stall_share"] for t in kept)
        model = median(modelled_ns(t) for t in kept)
        of_cpu = median(percent(t["delay_paid_ns"], t["cpu_ns"]) for t in kept)
        of_model = median(percent(t["delay_paid_ns"], modelled_ns(t)) for t in kept)
        good = abs(of_model - 100) <= 3 if name == "chase" else of_cpu <= 1
        table.row(name, cpu / 1e9, share, paid / 1e9, model / 1e9, of_cpu, of_model,
                  targets.judge(good))
    print("chase:   %.2f ns a step native, %.2f emulated" %
          (median(r["ns_per_step"] for r in natives), median(r["ns_per_step"] for r in results)))
    print("compute: %.4f ns a step native, %.4f emulated" %
          (median(r["second_cpu_ns"] / r["second_steps"] for r in natives),
           median(r["second_cpu_ns"] / r["second_steps"] for r in results)))
    return table
