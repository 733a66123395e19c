"""What an uncontended pthread_mutex_lock() and unlock() cost, native and emulated; the least CPU time
of many tries, interleaved.

Target: at most 1.15 times as long in a process of several threads. A process of one thread is
shown without: the C library takes locks without an atomic instruction there, natively, and the
monitor is a second thread. So is a thread that owes delay: there the hook's cost is paid out of
that."""

import json
import os

from common import BUILD, Table, median, run_emulated, run_native

PROGRAM = os.path.join(BUILD, "bin", "nvmemu-handover")


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=5)


def run(options, targets):
    table = Table([("pairs in", 10, ""), ("native ns", 9, "%.2f"), ("emulated ns", 11, "%.2f"),
                   ("ratio", 5, "%.2f"), ("met", 4, "")])
    table.head()
    natives, emulated = [], []
    for _ in range(options.rounds):
        natives.append(json.loads(run_native([PROGRAM, "locks"])))
        out, _ = run_emulated([PROGRAM, "locks"], {"NVM_RLAT": "600"})
        emulated.append(json.loads(out))
    for name in ("threaded", "single", "owing"):
        native = median(r[name + "_ns"] for r in natives)
        ours = median(r[name + "_ns"] for r in emulated)
        word = targets.judge(ours <= 1.15 * native) if name == "threaded" else ""
        table.row(name, native, ours, ours / native, word)
    return table
