"""How right heat is: a program of known heat (hotsites), eight allocation sites that get 1/2, 1/4,
... 1/128, 1/128 of its misses, those of odd number written, too. NVM_HEAT=on alone: nothing is
delayed.

mixed: all sites at once, by one instruction; phases: in turns of some 30 ms, by one instruction;
loops: in turns, each site by instructions of its own. For each site: its share of the stall time
against that of its accesses, and of the accesses that the report counts as reads and as writes.
Target: none of them off by 3 points or more."""

import json
import os
import subprocess

from common import BUILD, COMMAND, Failure, Table, clean_environment, emulated_environment, scratch
from common import check_exit, progress

HOTSITES = os.path.join(BUILD, "bin", "nvmemu-hotsites")
PATTERNS = ("mixed", "phases", "loops")
POINTS = 3.0


def add_options(parser):
    parser.add_argument("--seconds", type=float, default=10, help="CPU time of a run")
    parser.add_argument("--mib", type=int, default=512, help="memory of all sites")
    parser.add_argument("--patterns", default=",".join(PATTERNS))


def measure(pattern, options):
    """Returns the truth, what nvmemu heat makes of the run, and the report."""
    command = [HOTSITES, pattern, str(options.seconds), str(options.mib)]
    with scratch() as folder:
        out = os.path.join(folder, "report.json")
        done = subprocess.run(command, capture_output=True, check=False,
                              env=emulated_environment({"NVM_HEAT": "on"}, out))
        check_exit(command, done)
        heat = [COMMAND, "heat", "--format", "json", out]
        told = subprocess.run(heat, capture_output=True, check=False, env=clean_environment())
        check_exit(heat, told)
        return json.loads(done.stdout), json.loads(told.stdout)


def rows_by_site(heat):
    rows = {}
    for row in heat["rows"]:
        for frame in row["stack"]:
            if (frame["function"] or "").startswith("site"):
                rows[frame["function"]] = row
    return rows


def share(part, whole):
    return 100 * part / whole if whole else 0.0


def add_rows(table, pattern, truth, heat, targets):
    rows = rows_by_site(heat)
    steps = sum(site["steps"] for site in truth["sites"])
    attributed = sum(row["stall"] for row in heat["rows"])
    accesses = sum(row["accesses"] for row in heat["rows"])
    none = {"stall": 0, "share_se": None, "reads": 0, "writes": 0}
    for site in truth["sites"]:
        row = rows.get(site["name"], none)
        true = share(site["steps"], steps)
        got = share(row["stall"], attributed)
        reads, writes = share(row["reads"], accesses), share(row["writes"], accesses)
        true_writes = true if site["written"] else 0.0
        off = max(abs(got - true), abs(reads - true + true_writes), abs(writes - true_writes))
        table.row(pattern, site["name"], true, got,
                  None if row["share_se"] is None else 100 * row["share_se"],
                  true - true_writes, reads, true_writes, writes, off,
                  targets.judge(off < POINTS))
    table.row(pattern, "unattributed", 0.0, share(heat["unattributed_ns"], heat["stall_ns"]), None,
              None, None, None, None, None, "")


def run(options, targets):
    if not os.path.exists(HOTSITES):
        raise Failure("no known heat on this processor")
    table = Table([("pattern", 8, ""), ("site", 12, ""), ("true %", 7, "%.2f"),
                   ("heat %", 7, "%.2f"), ("+-", 5, "%.2f", "se"),
                   ("true reads", 10, "%.2f"), ("reads", 6, "%.2f"),
                   ("true writes", 11, "%.2f"), ("writes", 6, "%.2f"),
                   ("off", 5, "%.2f"), ("met", 4, "")])
    table.head()
    for pattern in options.patterns.split(","):
        progress("%s: %g s" % (pattern, options.seconds))
        truth, heat = measure(pattern, options)
        progress("")
        add_rows(table, pattern, truth, heat, targets)
    return table
