"""Prediction from one recorded run against emulated runs, at latencies up to five times DRAM's.

In each round a workload runs natively; once at four times DRAM's latencies, which is recorded with
NVM_BUDGET=10%; and at each point.
`nvmemu predict` says from the record what CPU time the process takes there, the kernel says what it
took; both without system time, which is the emulator's business in neither: memory that the host has
to find first takes what it takes. The workloads are of `bench/run truth` (chases, work beside misses,
several chases at once, random and streaming access, a table, a tree, arithmetic), with a fixed number
of steps; and sqlite3 on a table in memory, an update through an index and a join.

native, predicted, measured   CPU time, s, medians
error   predicted over measured of the same round, median of the rounds
from, to   the smallest and the largest
said    half of the 95 % interval of predicted and measured together, median: a measured time is
        itself of a run with estimates of its own, no truth. Both intervals are those that
        `nvmemu predict` tells, of the recorded run and of the measured one
within  rounds in which both differ by no more than that

What one run knows of itself depends on its length: a tick each 4 ms (HZ=250) is a thousand samples
in 4 s, and where half of them stall, the delay's standard error is 3 % for their number alone. Make
the runs longer (--seconds), or take more of them (--rounds), before you believe a single figure.

With --replay the emulated runs take their epochs from the record instead of counting anew: what is
left is the error of the prediction itself, without that of counting twice.

Target, for each: within 3 %."""

import csv
import io
import json
import math
import os
import resource
import subprocess

from common import (COMMAND, Failure, Table, WORKLOAD, check_exit, clean_environment,
                    emulated_environment, median, need_packages, progress, scratch, workload_native)

TOLERANCE_PERCENT = 3
KERNELS = ("chase-w0", "chase-w50", "mul100-w", "chains4-w50", "random-read", "seq-update-busy",
           "hash-w30", "tree-path", "arith")
SQL_ROWS_PER_SECOND = 750000
# Read and write latency, of DRAM's; None is DRAM's own. The record is taken amid the points: a program
# that is delayed loses more of the shared caches to its neighbours, and takes longer of itself.
RECORDED, POINTS = 4, ((None, 5), (3, 3))
RECORD_BUDGET = "10%"


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4,
                        help="native CPU time of a workload, about")
    parser.add_argument("--replay", action="store_true")
    parser.add_argument("--only", metavar="NAMES",
                        help="comma-separated workloads, or beginnings of names")


def write_sql(path, rows):
    with open(path, "w", encoding="ascii") as f:
        f.write("""
            create table t(id integer primary key, k integer, v text);
            with recursive n(i) as (select 1 union all select i + 1 from n where i < %d)
                insert into t select i, (i * 7919) %% %d, 'value ' || i from n;
            create index by_k on t(k);
            update t set v = v || '!' where k %% 3 = 0;
            select count(*), sum(length(a.v)) from t a join t b on a.k = b.id;
            """ % (rows, rows))


def workloads(options, folder):
    """Name, command, standard input."""
    sql = os.path.join(folder, "sql")
    write_sql(sql, int(options.seconds * SQL_ROWS_PER_SECOND))
    names = [*KERNELS, "sqlite3"]
    if options.only:
        names = [n for n in names if n.startswith(tuple(options.only.split(",")))]
    if not names:
        raise Failure("no workload's name begins so")
    for name in names:
        if name == "sqlite3":
            yield name, ["sqlite3", ":memory:"], sql
            continue
        probe = workload_native(name, "--seconds", "0.1")
        steps = int(options.seconds * 1e9 / probe["ns_per_step"])
        yield name, [WORKLOAD, name, "--steps", str(steps)], os.devnull


def run_once(command, source, env):
    """CPU seconds of the process: user, system."""
    with open(source, "rb") as f, open(os.devnull, "wb") as nowhere:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, stdin=f, stdout=nowhere, stderr=subprocess.PIPE, env=env,
                              check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    check_exit(command, done)
    return after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime


def settings_of(point):
    return {name: "%.3f" % latency for name, latency in zip(("NVM_RLAT", "NVM_WLAT"), point)
            if latency}


def run_natively(command, source):
    return run_once(command, source, clean_environment())


def emulate(command, source, settings):
    env = emulated_environment(settings | {"NVM_STRICT": "on", "NVM_INJECT": "spin"}, "")
    del env["NVM_OUT"]
    return run_once(command, source, env)


def predict(record, point):
    arguments = [part for name, latency in zip(("--rlat", "--wlat"), point) if latency
                 for part in (name, "%.3f" % latency)]
    done = subprocess.run([COMMAND, "predict", record, *arguments, "--csv", "-"],
                          capture_output=True, env=clean_environment(), check=False)
    check_exit([COMMAND, "predict"], done)
    row = [r for r in csv.DictReader(io.StringIO(done.stdout.decode())) if r["of"] == "process"][1]
    half = (float(row["high_ns"]) - float(row["low_ns"])) / 2
    return float(row["time_ns"]) / 1e9, 100 * half / float(row["time_ns"])


class Point:
    """What was predicted and measured at a pair of latencies, by round."""

    def __init__(self, factors, dram_ns):
        self.factors = factors
        self.point = [factor and factor * dram_ns for factor in factors]
        self.predicted, self.measured, self.said = [], [], []

    def add(self, command, source, record, system, counters):
        with scratch() as folder:
            own = os.path.join(folder, "record")
            measured = emulate(command, source, settings_of(self.point) |
                               {"NVM_COUNTERS": counters, "NVM_RECORD": own})[0]
            said_measured = predict(own, self.point)[1] if counters == "auto" else 0
        predicted, said = predict(record, self.point)
        self.measured.append(measured)
        self.predicted.append(predicted - system)
        self.said.append(math.hypot(said, said_measured))

    def within(self):
        """Rounds in which both differ by no more than was said."""
        return sum(abs(m - p) <= said / 100 * p
                   for p, m, said in zip(self.predicted, self.measured, self.said))

    def show(self, table, name, native, targets):
        errors = [100 * (p / m - 1) for p, m in zip(self.predicted, self.measured)]
        texts = ["%d x" % factor if factor else "DRAM" for factor in self.factors]
        error = median(errors)
        table.row(name, *texts, native, median(self.predicted), median(self.measured), error,
                  min(errors), max(errors), median(self.said),
                  "%d/%d" % (self.within(), len(errors)),
                  targets.judge(abs(error) <= TOLERANCE_PERCENT))


def one_round(number, workload, points, dram_ns, replay):
    """Points take turns in being the first after the record."""
    name, command, source = workload
    with scratch() as folder:
        record = os.path.join(folder, "record")
        native = run_natively(command, source)[0]
        system = emulate(command, source, settings_of(2 * (RECORDED * dram_ns,)) |
                                  {"NVM_RECORD": record, "NVM_BUDGET": RECORD_BUDGET})[1]
        for point in points[number % len(points):] + points[:number % len(points)]:
            progress("%s: round %d" % (name, number + 1))
            point.add(command, source, record, system,
                      "replay:" + record if replay else "auto")
    return native


def run(options, targets):
    need_packages({"sqlite3": "sqlite3"})
    told = subprocess.run([COMMAND, "calibrate", "--json"], capture_output=True,
                          env=clean_environment(), check=False)
    check_exit([COMMAND, "calibrate"], told)
    dram_ns = json.loads(told.stdout)["dram_lat_ns"]
    print(__doc__.strip() + "\n\nDRAM's latency: %.1f ns\n" % dram_ns)
    table = Table([("workload", 17, ""), ("read", 5, ""), ("write", 5, ""), ("native", 7, "%.3f"),
                   ("predicted", 9, "%.3f"), ("measured", 8, "%.3f"), ("error %", 7, "%+.1f", "error"),
                   ("from", 6, "%+.1f"), ("to", 6, "%+.1f"), ("said %", 6, "%.1f", "said"),
                   ("within", 6, ""), ("met", 4, "")])
    table.head()
    inside = runs = 0
    with scratch() as folder:
        for workload in workloads(options, folder):
            points = [Point(factors, dram_ns) for factors in POINTS]
            native = [one_round(i, workload, points, dram_ns, options.replay)
                      for i in range(options.rounds)]
            progress("")
            for point in points:
                point.show(table, workload[0], median(native), targets)
            inside += sum(point.within() for point in points)
            runs += options.rounds * len(points)
    print("\n%d of %d differences within their 95 %% interval" % (inside, runs))
    return table
