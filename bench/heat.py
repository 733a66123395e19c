"""What allocation sites cost: a pair of malloc and free of 16 to 256 bytes, without the library,
with it, with sites, and with other allocation profilers, where installed, on the same program;
memory for each live block and each site's arena.

Targets: without sites within 3 % of no library; with sites at most as long as the C library's pair,
with 1 and 2 threads; less than 64 bytes for each live block; less than 100 KiB for each arena.
Medians of interleaved rounds."""

import json
import os
import shutil
import subprocess

from common import BUILD, LIBRARY, Failure, Table, check_exit, clean_environment, median, scratch

PROGRAM = os.path.join(BUILD, "bin", "nvmemu-pairs")
JEMALLOC = "libjemalloc.so.2"
FEW = "200000"  # pairs, for those that are slow


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--short", action="store_true", help="without other tools")


def run_program(arguments, wrapper=(), **env):
    command = [*wrapper, PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, env=clean_environment() | env, check=False)
    check_exit(command, done)
    lines = [line for line in done.stdout.decode().splitlines() if line.startswith("{")]
    if not lines:
        raise Failure("no figure from " + " ".join(command))
    return json.loads(lines[-1])


OURS = {"LD_PRELOAD": LIBRARY}
SETUPS = {
    "no library": {},
    "library, no sites": OURS,
    "library, sites": OURS | {"NVM_HEAT": "on"},
}
LIMITS = {"library, no sites": 1.03, "library, sites": 1.0}


def time_setups(threads, rounds):
    times = {name: [] for name in SETUPS}
    for _ in range(rounds):
        for name, env in SETUPS.items():
            times[name].append(run_program(["time", threads], **env)["ns"])
    return {name: median(values) for name, values in times.items()}


def others(folder):
    """name -> (command before, settings, pairs)"""
    found = {}
    if any(os.path.exists(os.path.join(d, JEMALLOC))
           for d in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib")):
        found["jemalloc"] = ((), {"LD_PRELOAD": JEMALLOC}, None)
        found["jemalloc, its profiler"] = (
            (), {"LD_PRELOAD": JEMALLOC,
                 "MALLOC_CONF": "prof:true,lg_prof_sample:12,prof_prefix:" + folder}, None)
    if shutil.which("heaptrack"):
        found["heaptrack"] = (("heaptrack", "--raw", "-o", folder + "/heaptrack"), {}, FEW)
    if shutil.which("valgrind"):
        found["DHAT"] = (("valgrind", "--tool=dhat", f"--dhat-out-file={folder}/dhat"), {}, FEW)
    return found


def show_pairs(table, targets, threads, options):
    times = time_setups(threads, options.rounds)
    base = times["no library"]
    for name, ns in times.items():
        limit = LIMITS.get(name)
        word = targets.judge(ns <= limit * base) if limit else ""
        table.row(name, f"pair, {threads} thread{'s' if threads != '1' else ''}", ns, "ns",
                  ns / base, limit, word)
    if options.short:
        return
    with scratch() as folder:
        for name, (wrapper, env, pairs) in others(folder).items():
            arguments = ["time", threads, *([pairs] if pairs else [])]
            ns = run_program(arguments, wrapper, **env)["ns"]
            table.row(name, f"pair, {threads} thread{'s' if threads != '1' else ''}", ns, "ns",
                      ns / base, None, "")


def show_memory(table, targets):
    for what, arguments, limit in (("each live block of 64", ["live", "1000000"], 64),
                                   ("each arena of a site", ["arenas"], 100 << 10)):
        for name in ("no library", "library, sites"):
            size = run_program(arguments, **SETUPS[name])["bytes"]
            word = targets.judge(size < limit) if name != "no library" else ""
            table.row(name, what, size, "bytes", None, limit if word else None, word)


def run(options, targets):
    table = Table([("set-up", 24, ""), ("what", 24, ""), ("value", 10, "%.1f"), ("unit", 5, ""),
                   ("ratio", 6, "%.2f"), ("limit", 8, "%.4g"), ("met", 4, "")])
    table.head()
    for threads in ("1", "2"):
        show_pairs(table, targets, threads, options)
    show_memory(table, targets)
    return table
