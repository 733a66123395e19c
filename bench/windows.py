"""How far look-ahead sees in real programs: the mean window as a share of its limit, and samples
without an answer.

python3, sqlite3, gcc (compiling a generated file), perl, redis-server (under redis-benchmark, on a
socket of its own) run some seconds each, counted only (NVM_INJECT=off). Figures are sums over all
processes of the run.

window     interpreted instructions over allowed ones, all windows. Target: at least 80 %.
less sys   the same without the windows that end at a system call, where nothing more can be
           foreseen; `sys` is the share of those windows. For comparison.
no answer  samples in the program's own code without an answer, of all such samples. Target: at
           most 10 %."""

import os
import subprocess
import time

from common import (Failure, Table, clean_environment, emulated_environment, need_packages,
                    progress, read_reports, run_emulated, scratch)

SETTINGS = {"NVM_INJECT": "off", "NVM_RLAT": "1000", "NVM_WLAT": "1000"}
PACKAGES = {"sqlite3": "sqlite3", "gcc": "gcc", "perl": "perl", "redis-server": "redis-server",
            "redis-benchmark": "redis-tools", "redis-cli": "redis-tools"}

PYTHON = r"""
import json, random, re
random.seed(1)
class Item:
    def __init__(self, name, price): self.name, self.price = name, price
    def key(self): return (self.price, self.name)
for round in range(%d):
    words = ["".join(random.choices("abcdefghij", k=6)) for _ in range(20000)]
    counts = {}
    for w in words: counts[w[:3]] = counts.get(w[:3], 0) + 1
    items = sorted((Item(w, len(w) * hash(w) %% 97) for w in words), key=Item.key)
    text = json.dumps([{"name": i.name, "price": i.price} for i in items])
    back = json.loads(text)
    hits = len(re.findall(r"[a-c]+d", " ".join(words)))
    assert len(back) == len(words) and hits >= 0 and sum(counts.values()) == len(words)
"""

SQL = """
CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER, name TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
  INSERT INTO t SELECT i, (i * 7919) %% 100003, 'name' || (i * 31 %% 5003) FROM n;
CREATE INDEX tk ON t(k);
CREATE INDEX tn ON t(name);
SELECT count(*), sum(a.id) FROM t a JOIN t b ON a.k = b.id WHERE b.name LIKE 'name1%%';
SELECT name, count(*), avg(k) FROM t GROUP BY name ORDER BY 3 DESC LIMIT 3;
UPDATE t SET k = k + 1 WHERE name > 'name3';
SELECT count(DISTINCT k) FROM t;
"""

PERL = r"""
my ($seed, %%count, @words) = (1);
for my $round (1 .. %d) {
    @words = map {
        $seed = ($seed * 1103515245 + 12345) & 0x7fffffff;
        sprintf "w%%05d", $seed %% 30000
    } 1 .. 30000;
    $count{$_}++ for @words;
    my @top = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %%count;
    my $text = join " ", @words;
    my $found = () = $text =~ /w1(\d+)5/g;
    (my $copy = $text) =~ tr/0-9/a-j/;
    die unless @top && length $copy && $found;
}
"""

C_FUNCTION = """
static int table_%(n)d[64];
int work_%(n)d(const char *text, int length)
{
	int sum = %(n)d;
	for (int i = 0; i < length; i++) {
		switch (text[i] & 7) {
		case 0: sum += table_%(n)d[sum & 63]; break;
		case 1: sum ^= i * %(n)d; break;
		case 2: table_%(n)d[i & 63] = sum; break;
		default: sum = sum * 33 + text[i];
		}
	}
	return sum > 0 ? sum : work_%(before)d(text + 1, length - 1);
}
"""


def add_options(parser):
    parser.add_argument("--effort", type=float, default=1, help="more or less work for each")
    parser.add_argument("--only", metavar="NAMES", help="comma-separated programs")


def repeat(effort, usual):
    return max(1, round(effort * usual))


def run_python(effort):
    return run_emulated(["/usr/bin/python3", "-c", PYTHON % repeat(effort, 40)], SETTINGS)[1]


def run_sqlite(effort):
    script = SQL % repeat(effort, 1000000)
    return run_emulated(["sqlite3", ":memory:"], SETTINGS, input=script.encode())[1]


def run_perl(effort):
    return run_emulated(["perl", "-e", PERL % repeat(effort, 80)], SETTINGS)[1]


def run_gcc(effort):
    with scratch() as folder:
        source = os.path.join(folder, "generated.c")
        with open(source, "w", encoding="ascii") as f:
            f.write("int work_0(const char *text, int length) { return length + text[0]; }\n")
            for n in range(1, repeat(effort, 700)):
                f.write(C_FUNCTION % {"n": n, "before": n - 1})
        return run_emulated(["gcc", "-O2", "-c", source, "-o", source + ".o"], SETTINGS)[1]


def wait_for(socket, server):
    for _ in range(200):
        if os.path.exists(socket):
            return
        if server.poll() is not None:
            raise Failure("redis-server ended: exit status %d" % server.returncode)
        time.sleep(0.05)
    raise Failure("redis-server opened no socket")


def load_redis(socket, effort):
    command = ["redis-benchmark", "-s", socket, "-q", "-r", "200000", "-d", "64", "-P", "8",
               "-t", "set,get,lpush,sadd,zadd,mset", "-n", str(repeat(effort, 300000))]
    done = subprocess.run(command, env=clean_environment(), stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise Failure("redis-benchmark failed: " + done.stderr.decode(errors="replace")[-300:])


def run_redis(effort):
    with scratch() as folder:
        socket = os.path.join(folder, "socket")
        env = emulated_environment(SETTINGS, os.path.join(folder, "%p.json"))
        command = ["redis-server", "--port", "0", "--unixsocket", socket, "--save", "",
                   "--appendonly", "no", "--dir", folder]
        server = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        try:
            wait_for(socket, server)
            load_redis(socket, effort)
            subprocess.run(["redis-cli", "-s", socket, "shutdown", "nosave"],
                           env=clean_environment(), stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
            server.wait(timeout=30)
        finally:
            if server.poll() is None:
                server.kill()
                server.wait()
        return read_reports(folder)


PROGRAMS = (("python3", run_python), ("sqlite3", run_sqlite), ("gcc", run_gcc), ("perl", run_perl),
            ("redis-server", run_redis))


def total(reports, *keys):
    """Sum over the reports of one figure of the totals; None where a report has none."""
    values = []
    for report in reports:
        value = report["totals"]
        for key in keys:
            value = value.get(key) if value is not None else None
        values.append(value)
    return None if None in values else sum(values)


def without_syscalls(reports):
    """Share of the limit over windows that do not end at a system call."""
    steps = total(reports, "windows", "syscall_steps")
    limits = total(reports, "windows", "syscall_limits")
    if steps is None or limits is None:
        return None
    limits = total(reports, "windows", "limits") - limits
    return 100 * (total(reports, "windows", "steps") - steps) / limits if limits else None


def common_stops(reports):
    """The instructions and reasons that end most windows early."""
    counts = {}
    for report in reports:
        for stop in report["totals"]["windows"].get("stop_instructions", []):
            counts[stop["name"]] = counts.get(stop["name"], 0) + stop["count"]
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return " ".join("%s:%d" % item for item in ordered[:4])


def percent(part, whole, otherwise):
    return 100 * part / whole if whole else otherwise


def show(table, targets, name, reports):
    windows, samples = total(reports, "windows", "taken"), total(reports, "samples", "user")
    share = percent(total(reports, "windows", "steps"), total(reports, "windows", "limits"), 0)
    syscalls = percent(total(reports, "windows", "stops", "syscall"), windows, None)
    silent = percent(total(reports, "samples", "no_answer"), samples, 100)
    table.row(name, total(reports, "cpu_ns") / 1e9, windows, share, targets.judge(share >= 80),
              without_syscalls(reports), syscalls, samples, silent, targets.judge(silent <= 10),
              common_stops(reports))


def run(options, targets):
    need_packages(PACKAGES)
    number = "%.1f"
    table = Table([("program", 13, ""), ("CPU s", 5, "%.2f"), ("windows", 7, "%d"),
                   ("window %", 8, number), ("met", 4, "%s", "window_met"),
                   ("less sys %", 10, number), ("sys %", 5, number), ("samples", 7, "%d"),
                   ("no answer %", 11, number), ("met", 4, "%s", "no_answer_met"),
                   ("stopped by", 10, "")])
    table.head()
    wanted = options.only.split(",") if options.only else [name for name, _ in PROGRAMS]
    for name, program in PROGRAMS:
        if name not in wanted:
            continue
        progress(name)
        reports = program(options.effort)
        progress("")
        show(table, targets, name, reports)
    return table
