"""Stall share and dirty fraction that the library finds, against the right ones, for each workload.

found   from the report of an emulated run that counts only (NVM_INJECT=off): stall time over CPU
        time, and its written part, in the measured phase as the report's timeline has it, but for
        the buckets at its beginning that epochs share with the set-up. Sums over the rounds.
se      the standard error that the library itself reports, over the rounds.
right   construction: known from how the loop is made.
        resident: 1 - t_resident / t_full, native CPU time a step of the same loop with a footprint
        that fits the first-level cache and with the full one; medians of the rounds, which run
        interleaved with the emulated runs.
        res.+sim: the same times equation 3, W misses / (LLC hits + W misses): of that time, the
        part which is the last-level cache's misses and not its hits. W is measured (a chase in
        memory over one in the LLC), hits and misses are counted by callgrind with footprint and
        caches scaled down alike. The LLC is as large as neighbours leave it: measured by random
        reads, some of which hit it.
        latency: the chase meets two latencies, of the LLC (its fastest slice) and of memory; the
        time a step tells how often which.
        callgrind: simulated write-backs over simulated misses, (DLdmr + DLdmw) / (DLmr + DLmw).
        counted: steps that wrote / all steps, as the program counted them.
        The dirty fraction is the model's: of all missing lines, whether they stall or not.
-       not judged: a dirty fraction where less than 5 % of the time is stall time means nothing.

Target, for each: within 0.03."""

import os
import subprocess

from common import (Failure, Table, WORKLOAD, clean_environment, median, need_packages, progress,
                    scratch, workload_emulated, workload_list, workload_native)

SETTINGS = {"NVM_INJECT": "off", "NVM_RLAT": "1000", "NVM_WLAT": "1000"}
TOLERANCE = 0.03
SMALLEST_STALL = 0.05
SCALE, WAYS = 64, 16
SHARED_BUCKETS = 2
WARM_STEPS, SIMULATED_STEPS = 100000, 300000
USUAL_CACHE_BYTES = {2: 1 << 20, 3: 32 << 20}


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.2,
                        help="measured CPU time of an emulated run")
    parser.add_argument("--only", metavar="NAMES",
                        help="comma-separated kernels, or beginnings of names")


def cache_bytes(level):
    """A cache's size, rounded down to a power of two."""
    base = "/sys/devices/system/cpu/cpu0/cache"
    for index in range(8):
        try:
            words = [open("%s/index%d/%s" % (base, index, f), encoding="ascii").read().strip()
                     for f in ("level", "type", "size")]
        except OSError:
            break
        if int(words[0]) == level and words[1] != "Instruction":
            size = int(words[2][:-1]) << (20 if words[2].endswith("M") else 10)
            return 1 << (size.bit_length() - 1)
    return USUAL_CACHE_BYTES[level]


def simulate(name, steps, size, low, sets, ways):
    """Callgrind's totals of one run, by event name."""
    with scratch() as folder:
        out = os.path.join(folder, "out")
        command = ["valgrind", "--tool=callgrind", "--cache-sim=yes", "--simulate-wb=yes",
                   "--D1=%d,8,64" % low, "--LL=%d,%d,64" % (sets * ways * 64, ways),
                   "--callgrind-out-file=" + out, WORKLOAD, name, "--bytes", str(size),
                   "--steps", str(steps)]
        done = subprocess.run(command, capture_output=True, env=clean_environment(), check=False)
        if done.returncode:
            raise Failure("callgrind failed: " + done.stderr.decode(errors="replace")[-400:])
        with open(out, encoding="ascii", errors="replace") as f:
            wanted = [line for line in f if line.startswith(("events:", "totals:"))]
    lines = dict(line.split(":", 1) for line in wanted)
    return dict(zip(lines["events"].split(), map(int, lines["totals"].split())))


class Simulation:
    """What callgrind counts a step of a kernel, set-up and warm-up taken off."""

    def __init__(self, name, size, llc_share):
        sets = cache_bytes(3) // SCALE // 64 // WAYS
        args = (size // SCALE, cache_bytes(2) // SCALE, sets, max(1, round(WAYS * llc_share)))
        warm = simulate(name, WARM_STEPS, *args)
        full = simulate(name, WARM_STEPS + SIMULATED_STEPS, *args)
        count = {event: full[event] - warm.get(event, 0) for event in full}
        self.misses = count["DLmr"] + count["DLmw"]
        self.hits = count["D1mr"] + count["D1mw"] - self.misses
        self.dirty = (count["DLdmr"] + count["DLdmw"]) / self.misses

    def miss_part(self, w):
        """Equation 3: the share of the misses in the time spent beyond the second-level cache."""
        return w * self.misses / (self.hits + w * self.misses)


def measured_phase(timeline, setup_ns):
    """CPU time, stall time and its written part, without the set-up."""
    columns = [timeline[key] for key in ("cpu_ns", "stall_ns", "stall_wb_ns")]
    spent = first = 0
    while first < len(columns[0]) and spent < setup_ns:
        spent += columns[0][first]
        first += 1
    return [sum(column[first + SHARED_BUCKETS:]) for column in columns]


class Measured:
    """The rounds of one kernel."""

    def __init__(self, kernel, options):
        self.kernel = kernel
        self.options = options
        self.full, self.resident, self.emulated, self.results = [], [], [], []
        self.stall = self.stall_wb = self.cpu = 0
        self.size = 0
        self.step_ns = []

    def round(self):
        name, seconds = self.kernel["name"], self.options.seconds
        full = workload_native(name, "--seconds", str(seconds / 4))
        self.size = full["bytes"]
        self.full.append(full["ns_per_step"])
        result, report = workload_emulated(name, SETTINGS, "--seconds", str(seconds))
        if self.kernel["stall_origin"] == "resident":
            resident = workload_native(name, "--resident", "--seconds", str(seconds / 8))
            self.resident.append(resident["ns_per_step"])
        self.results.append(result)
        self.emulated.append(report["totals"])
        self.add(measured_phase(report["timeline"]["total"], result["setup_ns"]))
        handler_share = report["totals"]["cost"]["handler_ns"] / report["totals"]["cpu_ns"]
        self.step_ns.append(result["cpu_ns"] * (1 - handler_share) / result["steps"])

    def add(self, sums):
        self.cpu += sums[0]
        self.stall += sums[1]
        self.stall_wb += sums[2]

    def found_stall(self):
        return self.stall / self.cpu

    def found_dirty(self):
        return self.stall_wb / self.stall if self.stall > 0 else None

    def error(self, key):
        return median(t[key] for t in self.emulated) / len(self.emulated) ** 0.5

    def right_stall(self, simulation, machine):
        origin = self.kernel["stall_origin"]
        if origin == "construction":
            return self.kernel["stall"], origin
        if origin == "latency":
            return median(machine.miss_time_share(t) for t in self.step_ns), origin
        beyond = max(0.0, 1 - median(self.resident) / median(self.full))
        if simulation:
            return beyond * simulation.miss_part(machine.w()), "res.+sim"
        return beyond, origin

    def right_dirty(self, simulation):
        origin = self.kernel["dirty_origin"]
        if origin == "construction":
            return self.kernel["dirty"], origin
        if origin == "callgrind":
            return simulation.dirty, origin
        if origin == "counted":
            steps = sum(r["steps"] for r in self.results)
            return sum(r["writes"] for r in self.results) / steps, origin
        return None, origin


class Machine:
    """Latencies, and how much of the LLC neighbours leave to us."""

    def __init__(self, dram_ns, llc_ns, llc_part):
        self.dram_ns, self.llc_ns, self.llc_part = dram_ns, llc_ns, llc_part

    def w(self):
        return self.dram_ns / self.llc_ns

    def miss_time_share(self, step_ns):
        """Of a chase that takes step_ns on average: the share of time spent on misses."""
        misses = (step_ns - self.llc_ns) / (self.dram_ns - self.llc_ns)
        return min(1.0, max(0.0, misses * self.dram_ns / step_ns))


def llc_part(hit_ns, once_ns, eight_ns):
    """The part of the LLC that is ours, from the time of a random read that always hits it, of one
    in a footprint of its nominal size, and of one in eight times that: the hits of the last two
    are as our part over the footprint."""
    saved = eight_ns - once_ns
    return min(1.0, max(1 / WAYS, 8 * saved / (7 * (eight_ns - hit_ns) + saved)))


def measure_machine(seconds):
    llc = cache_bytes(3)
    took = {"dram": [], "llc": [], "hit": [], "once": [], "eight": []}
    runs = (("dram", "chase-w0", None), ("llc", "fit-llc", None), ("hit", "random-read", llc // 8),
            ("once", "random-read", llc), ("eight", "random-read", 8 * llc))
    for _ in range(3):
        for key, kernel, size in runs:
            sized = ["--bytes", str(size)] if size else []
            result = workload_native(kernel, "--seconds", str(seconds / 4), *sized)
            took[key].append(result["fastest_ns_per_step" if key == "llc" else "ns_per_step"])
    part = llc_part(median(took["hit"]), median(took["once"]), median(took["eight"]))
    return Machine(median(took["dram"]), min(took["llc"]), part)


def chosen(kernels, only):
    wanted = [k for k in kernels if k["stall_origin"] != "none"]
    if only:
        starts = tuple(only.split(","))
        wanted = [k for k in wanted if k["name"].startswith(starts)]
    if not wanted:
        raise Failure("no kernel's name begins so")
    return wanted


def judge(targets, found, right):
    if right is None:
        return None, ""
    if found is None:
        return None, targets.judge(False)
    return found - right, targets.judge(abs(found - right) <= TOLERANCE)


def show(table, measured, simulation, machine, targets):
    right, origin = measured.right_stall(simulation, machine)
    found = measured.found_stall()
    difference, met = judge(targets, found, right)
    right_dirty, dirty_origin = measured.right_dirty(simulation)
    if right < SMALLEST_STALL:
        right_dirty, dirty_origin = None, "-"
    found_dirty = measured.found_dirty()
    dirty_difference, dirty_met = judge(targets, found_dirty, right_dirty)
    table.row(measured.kernel["name"], found, right, difference, measured.error("stall_share_se"),
              origin, met, found_dirty, right_dirty, dirty_difference,
              measured.error("dirty_fraction_se"), dirty_origin, dirty_met)


def make_table():
    number, signed, text = "%.3f", "%+.3f", "%s"
    return Table([("kernel", 17, ""), ("stall", 5, number), ("right", 5, number, "stall_right"),
                  ("diff", 6, signed, "stall_diff"), ("se", 5, number, "stall_se"),
                  ("origin", 12, text, "stall_origin"), ("met", 4, text, "stall_met"),
                  ("dirty", 5, number), ("right", 5, number, "dirty_right"),
                  ("diff", 6, signed, "dirty_diff"), ("se", 5, number, "dirty_se"),
                  ("origin", 12, text, "dirty_origin"), ("met", 4, text, "dirty_met")])


def show_notes(notes, machine):
    """How much the simulated answers hang on the LLC's size."""
    print("\nmemory %.1f ns, LLC %.1f ns, W %.1f; of the LLC's %d MiB, %.0f %% are left to us" %
          (machine.dram_ns, machine.llc_ns, machine.w(), cache_bytes(3) >> 20,
           100 * machine.llc_part))
    for name, simulation, half in notes:
        print("%-17s  with half of that: part of misses %.3f instead of %.3f, dirty %.3f instead "
              "of %.3f" % (name, half.miss_part(machine.w()), simulation.miss_part(machine.w()),
                           half.dirty, simulation.dirty))


def run(options, targets):
    need_packages({"valgrind": "valgrind"})
    kernels = chosen(workload_list(), options.only)
    simulated = [k for k in kernels if k["dirty_origin"] == "callgrind"]
    machine = measure_machine(options.seconds)
    print(__doc__.strip() + "\n")
    table = make_table()
    table.head()
    notes = []
    for kernel in kernels:
        measured = Measured(kernel, options)
        for i in range(options.rounds):
            progress("%s: round %d of %d" % (kernel["name"], i + 1, options.rounds))
            measured.round()
        simulation = None
        if kernel in simulated:
            progress("%s: simulation" % kernel["name"])
            simulation = Simulation(kernel["name"], measured.size, machine.llc_part)
            half = Simulation(kernel["name"], measured.size, machine.llc_part / 2)
            notes.append((kernel["name"], simulation, half))
        progress("")
        show(table, measured, simulation, machine, targets)
    show_notes(notes, machine)
    return table
