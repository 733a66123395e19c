"""Threads that hand work to each other, emulated, against the right run time.

What is right is known by construction: a chase alone takes s times as long emulated as natively, so
emulated threads that depend on each other should take as long as native ones whose chases have s
times as many nodes. The factor s, the emulated run and that native run are taken in turn, several
times; medians. The column `hand-overs off` is one emulated run with NVM_HANDOVER=off, for
comparison.

kinds: lock: two threads, each chases under one lock (the sum of both); mixed: the same, with
computing of the same length outside of the lock; barrier: one chases, one computes, both meet at a
barrier (the slower of both); barrier-even: both chase; openmp: the same in a parallel loop of GCC's OpenMP; queue: a producer chases, three consumers
compute, over a condition variable; pipe: two stages that chase; ask: two threads chase in turn and
wake each other over pipes, with NVM_HANDOVER=io.

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


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=2000000, help="chased by a thread in a turn")
    parser.add_argument("--only", metavar="KIND", help="rows of this kind")


def command(kind, nodes, rounds, ops):
    return [PROGRAM, kind, "--nodes", str(nodes), "--rounds", str(rounds), "--ops", str(max(ops, 1)),
            "--turns", "1"]


def times(out):
    result = json.loads(out)
    return median(result["alone_ns"]), median(result["together_ns"])


def emulated(kind, words, handover):
    if handover != "off" and kind in ("pipe", "ask"):
        handover = "io"
    out, _ = run_emulated(words, {"NVM_RLAT": READ_NS, "NVM_HANDOVER": handover})
    return times(out)


def one_round(kind, nodes, rounds, ops):
    """Seconds: native, right, emulated."""
    words = command(kind, nodes, rounds, ops)
    native_alone, native = times(run_native(words))
    alone, ours = emulated(kind, words, "sync")
    longer = command(kind, round(nodes * alone / native_alone), rounds, ops)
    long_alone, right = times(run_native(longer))
    # The nodes are whole, and memory's latency moves: by what the chase alone says.
    right *= alone / long_alone
    return native / 1e9, right / 1e9, ours / 1e9


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
        kept = []
        for i in range(options.rounds):
            progress("%s, %d nodes: %d of %d" % (kind, nodes, i + 1, options.rounds))
            kept.append(one_round(kind, nodes, max(options.nodes // nodes, 1), ops))
        progress("")
        native, right, ours = (median(k[i] for k in kept) for i in range(3))
        error = median(100 * (k[2] / k[1] - 1) for k in kept)
        _, off = emulated(kind, command(kind, nodes, max(options.nodes // nodes, 1), ops), "off")
        off = 100 * (off / 1e9 / right - 1)
        table.row(kind, nodes, native, right, ours, error, off, targets.judge(abs(error) <= 3))
    return table
