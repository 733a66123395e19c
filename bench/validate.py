"""The paper's table for this machine: `nvmemu validate`, whose rows are the targets.

wbbench at each write latency and robench at each read latency take it within 1.1 %, robench does
not notice a write latency within 1.5 %. Rows for latencies that cannot be emulated here are shown
as skipped; they are no targets."""

import csv
import os
import subprocess

from common import COMMAND, Failure, clean_environment, scratch


class CsvCopy:
    """The rows that the command wrote."""

    def __init__(self, text):
        self.text = text

    def write_csv(self, path):
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.text)


def add_options(parser):
    parser.add_argument("--quick", action="store_true", help="fewer and shorter turns")
    parser.add_argument("--rounds", type=int, help="turns of each program")
    parser.add_argument("--bytes", help="size of each list, e.g. 256M")


def arguments(options):
    given = ["--quick"] if options.quick else []
    if options.rounds:
        given += ["--rounds", str(options.rounds)]
    if options.bytes:
        given += ["--bytes", options.bytes]
    return given


def pass_on(command):
    """Shows what the command prints but its count, which is printed for all benchmarks alike."""
    with subprocess.Popen(command, env=clean_environment(), stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            if not line.startswith(b"validate: "):
                print(line.decode(errors="replace"), end="", flush=True)
    return process.returncode


def run(options, targets):
    with scratch() as folder:
        path = os.path.join(folder, "rows.csv")
        command = [COMMAND, "validate", "--csv", path, *arguments(options)]
        status = pass_on(command)
        if status not in (0, 1) or not os.path.exists(path):
            raise Failure("nvmemu validate: exit status %d" % status)
        with open(path, encoding="utf-8") as f:
            text = f.read()
    for row in csv.DictReader(text.splitlines()):
        targets.judge(row["met"] == "yes")
    if not targets.total:
        raise Failure("nvmemu validate measured nothing")
    return CsvCopy(text)
