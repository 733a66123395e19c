"""What reading a thread's counters costs its monitor at the end of an epoch: CPU time of the
provider's read, formulas included, of a group of four events. near: the monitor has come in the place
of the thread on its core, as the library has it; sleeping: the thread sleeps; apart: the thread runs
on another core meanwhile, which is what is left for a monitor that falls behind, and has no target.
whole: what the end of an epoch costs a thread that computes, all in all: wake, switch to the monitor,
read, formulas, switch back and cold cache (CPU time of both threads beyond the same work alone, in
turns within one process); switch: the same with a monitor that does not read; read: the difference,
which is what reading adds. Hardware events where there are any, else software events; the table says
which. Median over the rounds, with its 95 % interval. Target: reading below 2 us."""

import json
import os

from common import BUILD, Failure, Table, median_interval, progress, run_native

COUNTERS = os.path.join(BUILD, "bin", "nvmemu-counters")
TARGET_NS = 2000


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=1, help="of a round")


def run(options, targets):
    table = Table([("thread", 8, ""), ("events", 9, "%s"), ("count", 5, "%d"),
                   ("ns", 7, "%.0f"), ("from", 7, "%.0f"), ("to", 7, "%.0f"),
                   ("target", 6, "%d"), ("met", 4, "")])
    taken = {state: [] for state in ("near", "sleeping", "apart", "whole", "switch", "read")}
    for i in range(options.rounds):
        progress("round %d of %d" % (i + 1, options.rounds))
        figures = json.loads(run_native([COUNTERS, str(options.seconds)]))
        for state, values in taken.items():
            values.append(figures[state + "_ns"])
    progress("")
    if not options.rounds:
        raise Failure("no rounds")
    table.head()
    for state, values in taken.items():
        middle, low, high = median_interval(values)
        judged = state in ("near", "sleeping", "read")
        table.row(state, figures["kind"], figures["events"], middle, low, high,
                  TARGET_NS if judged else None,
                  targets.judge(middle < TARGET_NS) if judged else "-")
    return table
