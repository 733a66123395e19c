"""What the benchmarks share: building, running programs with and without the library, figures,
tables."""

import contextlib
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
LIBRARY = os.path.join(BUILD, "lib", "libnvmemu.so")
WORKLOAD = os.path.join(BUILD, "bin", "nvmemu-workload")
COMMAND = os.path.join(BUILD, "bin", "nvmemu")


class Failure(Exception):
    """Something is missing or broken; the benchmark cannot go on."""


def need_packages(tools):
    """tools: command -> Debian package. Installs what is missing."""
    missing = sorted({package for tool, package in tools.items() if not shutil.which(tool)})
    if not missing:
        return
    install(missing)


def set_up(*packages):
    """cmake/setup.sh: installs packages; without any, builds into build/."""
    done = subprocess.run(["bash", os.path.join(ROOT, "cmake", "setup.sh"), *packages],
                          stdout=sys.stderr, check=False)
    return done.returncode == 0


def install(packages):
    if not set_up(*packages):
        raise Failure("could not install " + " ".join(packages))


def build():
    """Its chatter is shown only where it fails."""
    if not set_up():
        raise Failure("no build")
    for path in (LIBRARY, WORKLOAD):
        if not os.path.exists(path):
            raise Failure("the build made no " + path)


def clean_environment():
    """The caller's environment without settings of the emulator."""
    return {k: v for k, v in os.environ.items() if not k.startswith("NVM_") and k != "LD_PRELOAD"}


def emulated_environment(settings, out):
    env = clean_environment()
    env.update(settings)
    env["LD_PRELOAD"] = LIBRARY
    env["NVM_OUT"] = out
    return env


@contextlib.contextmanager
def scratch():
    with tempfile.TemporaryDirectory(prefix="nvmemu-bench-") as path:
        yield path


def read_reports(folder):
    """All reports in folder; a process that was not emulated is an error."""
    reports = []
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".json"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            reports.append(json.load(f))
    if not reports:
        raise Failure("no report was written")
    for report in reports:
        if report["emulated"] not in (True, "yes"):
            raise Failure("not emulated: " + str(report.get("why_not", "no reason given")))
    return reports


def check_exit(command, done):
    if done.returncode:
        sys.stderr.write(done.stderr.decode(errors="replace"))
        raise Failure("exit status %d: %s" % (done.returncode, " ".join(command)))


def run_native(command, **kwargs):
    done = subprocess.run(command, capture_output=True, env=clean_environment(), check=False,
                          **kwargs)
    check_exit(command, done)
    return done.stdout


def run_emulated(command, settings, **kwargs):
    """Returns what the program printed and the reports of all its processes."""
    with scratch() as folder:
        env = emulated_environment(settings, os.path.join(folder, "%p.json"))
        done = subprocess.run(command, capture_output=True, env=env, check=False, **kwargs)
        check_exit(command, done)
        return done.stdout, read_reports(folder)


def workload_native(name, *options):
    return json.loads(run_native([WORKLOAD, name, *options]))


def workload_emulated(name, settings, *options):
    """Returns the workload's result and its report."""
    out, reports = run_emulated([WORKLOAD, name, *options], settings)
    return json.loads(out), reports[0]


def workload_list():
    lines = run_native([WORKLOAD, "--list-json"]).decode().splitlines()
    return [json.loads(line) for line in lines]


def median(values):
    return statistics.median(values)


def median_interval(values):
    """Median and its 95 % confidence interval, by ranks: nothing is assumed of the shape."""
    ordered = sorted(values)
    n = len(ordered)
    low, tail = 0, 0.5 ** n
    probability = tail
    # the largest rank k with P(fewer than k of n values below the median) <= 2.5 %
    while probability + tail * (n - low) / (low + 1) <= 0.025 and low < n // 2:
        tail = tail * (n - low) / (low + 1)
        probability += tail
        low += 1
    return statistics.median(ordered), ordered[low], ordered[n - 1 - low]


class Table:
    """Rows printed as they come and kept for the CSV file, in columns (title, width, format[, title
    in the CSV file])."""

    def __init__(self, columns):
        self.names = [column[-1] if len(column) > 3 else column[0] for column in columns]
        self.columns = [column[:3] for column in columns]
        self.rows = []

    def head(self):
        print("  ".join(self.cell(title, width, i == 0)
                        for i, (title, width, _) in enumerate(self.columns)))

    @staticmethod
    def cell(text, width, left):
        return text.ljust(width) if left else text.rjust(width)

    def row(self, *values):
        self.rows.append(values)
        cells = []
        for i, (value, (_, width, form)) in enumerate(zip(values, self.columns)):
            text = "-" if value is None else (form % value if form else str(value))
            last_text = not form and i == len(self.columns) - 1
            cells.append(self.cell(text, width, i == 0 or last_text))
        print("  ".join(cells).rstrip(), flush=True)

    def write_csv(self, path):
        with open(path, "w", newline="", encoding="utf-8") as f:
            writer = csv.writer(f)
            writer.writerow(self.names)
            writer.writerows(["" if v is None else v for v in row] for row in self.rows)


class Targets:
    """Counts targets; `judge` returns the word for the table."""

    def __init__(self):
        self.met = 0
        self.total = 0

    def judge(self, good):
        self.total += 1
        self.met += bool(good)
        return "ok" if good else "miss"


def progress(text):
    """A line that replaces itself, on a terminal only."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" + text)
        sys.stderr.flush()
