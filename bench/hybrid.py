"""Two chases over two allocation sites, one placed on the emulated NVM, the other on DRAM, by a
guidance file that names the source lines of both. Their steps wait for each other, so each costs
one access.

A native and an emulated process take turns, many times, in a new order each time: memory's latency
moves. It is not the same for all memory either: two native processes at the same work differ by two
or three per cent of a step, where a tenth of the steps on NVM adds a third of a step. So
several pairs of processes are made. A step's added time is the emulated processes' CPU time less the
native ones', over all turns; the right one is the part of the steps on NVM times (configured latency - native time a step). Reads
are emulated at 600 ns, writes at 1000 ns: what is read on NVM earns the one, what is written the
other, and what is on DRAM nothing.

+-      the standard error of `error %` over the pairs
share   the part of the walk's accesses that the library has found on NVM: of its report, less
        that of a process that only made the lists
se      the standard error of it that the report gives

Target: added time within 3 % of the right one."""

import json
import os
import random
import statistics
import subprocess

from common import BUILD, Failure, Table, clean_environment, emulated_environment, progress, scratch

PROGRAM = os.path.join(BUILD, "bin", "nvmemu-hybrid")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hybrid.c")
LATENCY_NS = {"reads": 600, "writes": 1000}
PERCENTS = (10, 50, 90)
ACCESSES = [(a, b) for a in LATENCY_NS for b in LATENCY_NS]
TOLERANCE_PERCENT = 3
WARM_TURNS = 6
PERIOD = 10


def add_options(parser):
    parser.add_argument("--pairs", type=int, default=4, help="of processes")
    parser.add_argument("--rounds", type=int, default=10, help="turns of each process")
    parser.add_argument("--steps", type=int, default=800000, help="of a turn, on average")
    parser.add_argument("--only", metavar="PERCENT", type=int, choices=PERCENTS,
                        help="rows with this part on NVM")


def site_line(name):
    """The number of the source line that makes the list."""
    with open(SOURCE, encoding="ascii") as f:
        found = [i for i, line in enumerate(f, 1) if "/* site: %s */" % name in line]
    if len(found) != 1:
        raise Failure("%s has %d lines of site %s" % (SOURCE, len(found), name))
    return found[0]


def guidance():
    """The first list is on NVM."""
    return "default @ dram\nhybrid.c:%d @ nvm\nhybrid.c:%d @ dram\n" % (
        site_line("first"), site_line("second"))


class Walker:
    """A process that walks when it is told to."""

    def __init__(self, row, env):
        words = [PROGRAM, str(row[0]), row[1], row[2]]
        self.cpu_ns = self.steps = 0
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(words, env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def turn(self, steps, timed):
        self.process.stdin.write(b"%d\n" % steps)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise Failure("hybrid ended early, with status %d" % self.process.wait())
        if timed:
            self.cpu_ns += int(answer)
            self.steps += steps

    def step_ns(self):
        return self.cpu_ns / self.steps

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


def take_turns(walkers, rounds, steps, what):
    for i in range(-WARM_TURNS, rounds):
        progress("%s: round %d of %d" % (what, max(i + 1, 0), rounds))
        random.shuffle(walkers)
        for walker in walkers:
            walker.turn(random.randrange(steps * 4 // 5, steps * 6 // 5) // PERIOD * PERIOD, i >= 0)
    progress("")


def accesses(report):
    """By kind: all and on NVM, and the standard error of the latter."""
    totals = report["totals"]
    kinds = {"read": totals["ma_ro"], "write": totals["ma_wb"]}
    placed = totals["placement"]
    return {k: (n, placed[k]["nvm_accesses"], n * placed[k]["nvm_share_se"])
            for k, n in kinds.items()}


def found_share(report, setup):
    """The part of the walk's accesses that is on NVM, and its standard error."""
    all_of, making = accesses(report), accesses(setup)
    every = sum(all_of[k][0] - making[k][0] for k in all_of)
    if every <= 0:
        raise Failure("the report has no accesses")
    nvm = sum(all_of[k][1] - making[k][1] for k in all_of)
    # a kind that hardly occurs may have no error that is known
    variance = sum(all_of[k][2] ** 2 for k in all_of if all_of[k][0] > every / 100)
    return nvm / every, variance ** 0.5 / every


def check_lines(report):
    """Both lines must have met their site: else nothing is measured."""
    placement = report["placement"]
    if placement["unmatched_lines"] or placement["ambiguous_sites"]:
        raise Failure("the guidance file fits no site: " + json.dumps(placement["lines"]))


def emulated_walker(row, folder, name):
    place = os.path.join(folder, "place")
    with open(place, "w", encoding="ascii") as f:
        f.write(guidance())
    settings = {"NVM_PLACE": place, "NVM_INJECT": "spin", "NVM_STRICT": "on"}
    settings.update({"NVM_%sLAT" % k[0].upper(): str(v) for k, v in LATENCY_NS.items()})
    return Walker(row, emulated_environment(settings, os.path.join(folder, name)))


def read_report(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        report = json.load(f)
    check_lines(report)
    return report


def measure_pair(row, options, folder):
    """Native and emulated time of a step, the part found on NVM, and its error."""
    if emulated_walker(row, folder, "setup").end():
        raise Failure("hybrid could not make its lists")
    native = Walker(row, clean_environment())
    emulated = emulated_walker(row, folder, "run")
    try:
        take_turns([native, emulated], options.rounds, options.steps, "%d %% %s, %s" % row)
    finally:
        status = [native.end(), emulated.end()]
    if any(status):
        raise Failure("hybrid ended with status %d" % max(status))
    share, se = found_share(read_report(folder, "run"), read_report(folder, "setup"))
    return native.step_ns(), emulated.step_ns(), share, se


def measure(row, options):
    """Means over the pairs; native and added time, error in per cent and its standard error, the
    part on NVM and its error."""
    pairs = []
    for _ in range(options.pairs):
        with scratch() as folder:
            pairs.append(measure_pair(row, options, folder))
    native, emulated, share = (statistics.mean(column) for column in list(zip(*pairs))[:3])
    added = emulated - native
    errors = [100 * ((e - n) / right_ns(row, n) - 1) for n, e, _, _ in pairs]
    error_se = statistics.stdev(errors) / len(errors) ** 0.5 if len(errors) > 1 else None
    share_se = sum(se ** 2 for _, _, _, se in pairs) ** 0.5 / len(pairs)
    error = 100 * (added / right_ns(row, native) - 1)
    return native, added, error, error_se, share, share_se


def right_ns(row, native_ns):
    """Added to a step, on average."""
    return row[0] / 100 * (LATENCY_NS[row[1]] - native_ns)


def run(options, targets):
    rows = [(p, *a) for p in PERCENTS for a in ACCESSES if options.only in (None, p)]
    table = Table([("on NVM", 12, ""), ("on DRAM", 12, ""), ("native ns", 9, "%.1f"),
                   ("added ns", 8, "%.1f"), ("right ns", 8, "%.1f"), ("error %", 7, "%+.2f"),
                   ("+-", 4, "%.1f"), ("share", 6, "%.4f"), ("right", 5, "%.2f", "share_right"),
                   ("se", 6, "%.4f"), ("met", 4, "")])
    table.head()
    for row in rows:
        native, added, error, error_se, share, share_se = measure(row, options)
        table.row("%d %% %s" % (row[0], row[1]), "%d %% %s" % (100 - row[0], row[2]), native, added,
                  right_ns(row, native), error, error_se, share, row[0] / 100, share_se,
                  targets.judge(abs(error) <= TOLERANCE_PERCENT))
    return table
