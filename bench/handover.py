"""Threads that hand work to each other, emulated, against the right run time.

What is right follows from how they depend on each other. Threads that chase in turn take the sum of
what their chases take alone, emulated; threads at work at once as long as the slower one. Both are
measured in the same process, in turns; medians. To that comes what it takes to hand over: the time
of a native run whose chases have as many more nodes as the emulated ones take longer, less that of
its sections, by the clocks of the sections themselves. So what threads on neighbouring processors do
to each other's memory is not counted several times: an emulated access takes what it is set to,
however slow memory is at the moment. The column `hand-overs off` is one emulated run with
NVM_HANDOVER=off, for comparison.

kinds: lock: two threads, each chases under one lock (the sum of both); mixed: the same, with
computing of the same length outside of the lock; barrier: one chases, one computes, both meet at a
barrier (the slower of both); barrier-even: both chase; openmp: the same in a parallel loop of GCC's
OpenMP; queue: a producer chases, three consumers compute, over a condition variable; pipe: two
stages that chase; ask: two threads chase in turn and wake each other over pipes, with
NVM_HANDOVER=io.

Targets: each within 3 %."""

import json
import os

from common import BUILD, Failure, Table, median, progress, run_emulated, run_native

PROGRAM = os.path.join(BUILD, "bin", "nvmemu-handover")
READ_NS = "600"
# kind, nodes chased in a round, computing in units of the native chase
ROWS = [
    ("lock", 100, 0), ("lock", 1000, 0), ("lock", 10000, 0), ("lock", 100000, 0),
    ("mixed", 1000, 1),
    ("barrier", 100, 1.6), ("barrier", 1000, 1.6), ("barrier", 10000, 1.6),
    ("barrier-even", 1000, 0), ("barrier-even", 10000, 0),
    ("openmp", 1000, 0), ("queue", 1000, 1), ("pipe", 1000, 0), ("ask", 1000, 0),
]
IN_TURN = ("lock", "mixed", "ask")  # one chases at a time


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=3, help="turns of each measurement")
    parser.add_argument("--nodes", type=int, default=2000000, help="chased by a thread in a turn")
    parser.add_argument("--only", metavar="KIND", help="rows of this kind")


def command(kind, nodes, rounds, ops, turns):
    return [PROGRAM, kind, "--nodes", str(nodes), "--rounds", str(rounds),
            "--ops", str(max(ops, 1)), "--turns", str(turns)]


def times(out):
    """Seconds."""
    return {key: median(values) / 1e9 for key, values in json.loads(out).items()}


def emulated(kind, words, handover):
    if handover != "off" and kind in ("pipe", "ask"):
        handover = "io"
    out, _ = run_emulated(words, {"NVM_RLAT": READ_NS, "NVM_HANDOVER": handover})
    return times(out)


def apart(kind, run):
    """How long the sections of a run take alone, one after the other or at once."""
    return 2 * run["alone_ns"] if kind in IN_TURN else max(run["alone_ns"], run["other_ns"])


def at_work(kind, run):
    """The same of the sections where they work together."""
    return run["chases_ns"] if kind in IN_TURN else run["longest_ns"]


def measure(kind, nodes, rounds, ops, turns):
    """Seconds: native, right, emulated."""
    native = times(run_native(command(kind, nodes, rounds, ops, 1)))
    ours = emulated(kind, command(kind, nodes, rounds, ops, turns), "sync")
    slower = round(nodes * ours["alone_ns"] / native["alone_ns"])
    longer = times(run_native(command(kind, slower, rounds, ops, turns)))
    right = apart(kind, ours) + longer["together_ns"] - at_work(kind, longer)
    return native["together_ns"], right, ours["together_ns"]


def run(options, targets):
    rows = [r for r in ROWS if options.only in (None, r[0])]
    if not rows:
        raise Failure("no such kind: " + options.only)
    table = Table([("kind", 12, ""), ("nodes", 6, "%d"), ("native s", 8, "%.3f"),
                   ("right s", 8, "%.3f"), ("emulated s", 10, "%.3f"), ("error %", 7, "%+.1f"),
                   ("hand-overs off %", 16, "%+.1f"), ("met", 4, "")])
    table.head()
    speed = json.loads(run_native([PROGRAM, "measure"]))
    for kind, nodes, share in rows:
        if kind == "openmp" and not speed["openmp"]:
            continue
        ops = round(share * nodes * speed["node_ns"] / speed["op_ns"])
        rounds = max(options.nodes // nodes, 1)
        progress("%s, %d nodes" % (kind, nodes))
        native, right, ours = measure(kind, nodes, rounds, ops, options.rounds)
        off = emulated(kind, command(kind, nodes, rounds, ops, 1), "off")["together_ns"]
        progress("")
        error = 100 * (ours / right - 1)
        table.row(kind, nodes, native, right, ours, error, 100 * (off / right - 1),
                  targets.judge(abs(error) <= 3))
    return table
