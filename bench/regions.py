"""What markers of regions cost, and whether what the report says of regions is true.

Cost: begin and end of a region together, half of which is one call; the median of runs, each the
least of many rounds. Targets: 20 ns a call where nothing is emulated, 100 ns where it is, also in a
thread that owes delay, which is served at markers.

Truth: four phases take turns, each of the given length: reads along a random list, writes along it,
reads with as much work between them, and work alone. The stall share is one less a step's time with
all that it needs in a cache over its time in memory, both taken natively, before and after; the dirty fraction is by construction; the share of the CPU time is that of its steps.
Counted only (NVM_INJECT=off). Targets: each within 0.05 (dirty fractions where misses are), lengths
down to a quarter of a tick.

The last lines: emulated inside alone (NVM_REGIONS=only), with work outside. Targets: nothing is owed
outside, and what the report says that each region owes is what its own clock finds, within 5 %."""

import json
import os

from common import BUILD, Failure, Table, median, run_emulated, run_native

PROGRAM = os.path.join(BUILD, "bin", "nvmemu-regions")
LATENCIES = {"NVM_RLAT": "400", "NVM_WLAT": "1000"}
DIRTY = {"read": 0, "write": 1, "mixed": 0}


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--lengths", default="100000,10000,1000,100",
                        help="of a phase, us, with commas between")


def costs(options, targets):
    table = Table([("a call", 28, ""), ("ns", 6, "%.1f"), ("target", 6, "%d"), ("met", 4, "")])
    table.head()
    inert, active = [], []
    for _ in range(options.rounds):
        inert.append(json.loads(run_native([PROGRAM, "cost"])))
        out, _ = run_emulated([PROGRAM, "cost"], LATENCIES)
        active.append(json.loads(out))
    for label, figures, key, target in (("nothing is emulated", inert, "idle_ns", 20),
                                        ("emulated, owes nothing", active, "idle_ns", 100),
                                        ("emulated, owes delay", active, "owing_ns", 100)):
        call = median(f[key] / 2 for f in figures)
        table.row(label, call, target, targets.judge(call <= target))


def phases(length, options, settings, *more):
    out, reports = run_emulated(
        [PROGRAM, "phases", str(length), str(options.seconds), *more], LATENCIES | settings)
    listed = {r["name"]: r["exclusive"] for r in reports[0]["regions"]["list"]}
    return json.loads(out), listed, reports[0]


def timed(options, length, settings, *more):
    """As phases(), with native times of a step before and after: memory's latency moves."""
    before = json.loads(run_native([PROGRAM, "times"]))
    done, listed, report = phases(length, options, settings, *more)
    after = json.loads(run_native([PROGRAM, "times"]))
    for name, p in done.items():
        for key in ("step_ns", "resident_ns"):
            p[key] = (before[name][key] + after[name][key]) / 2
    return done, listed, report


def truth(options, targets):
    table = Table([("phases of us", 12, "%d"), ("region", 8, ""), ("CPU share", 9, "%.3f"),
                   ("true", 5, "%.3f", "true_cpu"), ("stall share", 11, "%.3f"), ("+-", 5, "%.3f"),
                   ("true", 5, "%.3f", "true_stall"), ("dirty", 5, "%.3f"),
                   ("true", 5, "%.0f", "true_dirty"), ("met", 4, "")])
    table.head()
    for length in (int(text) for text in options.lengths.split(",")):
        done, listed, _ = timed(options, length, {"NVM_INJECT": "off"})
        ran = sum(p["steps"] * p["step_ns"] for p in done.values())
        cpu = sum(listed[name]["cpu_ns"] for name in done)
        for name, p in done.items():
            mine, dirty = listed[name], DIRTY.get(name)
            share, true_share = mine["cpu_ns"] / cpu, p["steps"] * p["step_ns"] / ran
            stall = 1 - p["resident_ns"] / p["step_ns"] if name != "compute" else 0
            good = [abs(share - true_share) <= 0.05, abs(mine["stall_share"] - stall) <= 0.05]
            if dirty is not None:
                good.append(abs(mine["dirty_fraction"] - dirty) <= 0.05)
            words = [targets.judge(g) for g in good]
            table.row(length, name, share, true_share, mine["stall_share"], mine["stall_share_se"],
                      stall, mine["dirty_fraction"] if dirty is not None else None, dirty,
                      "ok" if "miss" not in words else "miss")
    return table


def inside_alone(options, targets):
    table = Table([("inside alone", 12, ""), ("added ns a step", 15, "%.1f"), ("owed", 7, "%.1f"),
                   ("met", 4, "")])
    table.head()
    done, listed, report = timed(options, 10000, {"NVM_REGIONS": "only"}, "outside")
    if not report["regions"]["outside"]["cpu_ns"]:
        raise Failure("nothing was outside")
    for name, p in done.items():
        added = p["cpu_ns"] / p["steps"] - p["step_ns"]
        mine = listed.get(name, report["regions"]["outside"])
        owed = mine["delay_owed_ns"] / p["steps"]
        if name == "compute":
            word = targets.judge(mine["delay_owed_ns"] == 0)
        else:
            word = targets.judge(abs(added - owed) <= 0.05 * (p["step_ns"] + owed))
        table.row(name, added, owed, word)


def run(options, targets):
    costs(options, targets)
    print()
    table = truth(options, targets)
    print()
    inside_alone(options, targets)
    return table
