"""Threads and processes are born and die at random under emulation, for 10 minutes: joined,
detached, cancelled threads; children by fork, with threads of their own, killed, or executing
another program; by vfork and by posix_spawn, with and without an environment.

Whenever all of them have ended, the process has to be what it was: no thread, file or timer more,
and no memory. Targets: each of these figures, last fifth against first fifth of the run; no call
interrupted, no child or thread that goes wrong; every process that was emulated has told so; no
hang (60 s without a sign)."""

import os
import select
import subprocess
import time

from common import (BUILD, Failure, Table, emulated_environment, median, progress, read_reports,
                    scratch)

SETTINGS = {"NVM_WLAT": "1000", "NVM_RLAT": "600", "NVM_DRAM_LAT": "100", "NVM_EPOCH": "1ms"}
WAIT_S = 60
# How much more there may be at the end: memory is given back late, and in parts.
ROOM = {"threads": 0, "files": 0, "timers": 0, "mappings": 24, "resident": 6 * 1024}


def add_options(parser):
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the program's chance")


def parse(line):
    words = line.split()
    return {words[i]: int(words[i + 1]) for i in range(1, len(words), 2)}


def follow(process, seconds):
    """The program's figures, one round each. Raises Failure where it hangs."""
    rounds, rest = [], b""
    while True:
        ready, _, _ = select.select([process.stdout], [], [], WAIT_S)
        if not ready:
            raise Failure("hangs: no sign for %d s after round %d" % (WAIT_S, len(rounds)))
        read = os.read(process.stdout.fileno(), 65536)
        if not read:
            return rounds
        *lines, rest = (rest + read).split(b"\n")
        rounds.extend(parse(line.decode()) for line in lines)
        progress("round %d (%d s in all)" % (len(rounds), seconds))


def fifths(rounds):
    n = max(1, len(rounds) // 5)
    return rounds[:n], rounds[-n:]


def run(options, targets):
    table = Table([("what", 12, ""), ("first fifth", 11, "%d"), ("last fifth", 10, "%d"),
                   ("room", 6, "%d"), ("met", 4, "")])
    command = [os.path.join(BUILD, "bin", "nvmemu-soaker"), str(options.seconds), str(options.seed)]
    with scratch() as folder:
        env = emulated_environment(SETTINGS, os.path.join(folder, "%e.%p.json"))
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
            try:
                rounds = follow(p, options.seconds)
            except Failure:
                p.kill()
                raise
            errors = p.stderr.read().decode(errors="replace")
        progress("")
        reports = read_reports(folder)
    if len(rounds) < 5:
        raise Failure("only %d rounds (status %d): %s" % (len(rounds), p.returncode, errors))
    print("seed %d: %d rounds, %d processes told of %d threads" %
          (options.seed, len(rounds), len(reports), sum(r["threads_total"] for r in reports)))
    table.head()
    first, last = fifths(rounds)
    for key, room in ROOM.items():
        a, b = median(r[key] for r in first), median(r[key] for r in last)
        table.row(key, a, b, room, targets.judge(b <= a + room))
    table.row("wrong", 0, int(p.returncode != 0) + len(errors.splitlines()), 0,
              targets.judge(p.returncode == 0 and not errors))
    if errors:
        print(errors, end="")
    return table
