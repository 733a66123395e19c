"""Judges what the guests of test/guest printed. Arguments: files with their consoles."""
import json
import sys

VERDICTS = {"@pass": "passed", "@fail": "FAILED", "@skip": "skipped"}
counts = dict.fromkeys(VERDICTS, 0)


def tell(verdict, name):
    counts[verdict] += 1
    print(f"{VERDICTS[verdict]}: {name}")


def near(value, expected):
    """Real time passes in the guest, and others use this machine: within a tenth."""
    assert abs(value - expected) <= expected / 10, (value, expected)


def counted(report):
    """What holds wherever the counters filled the epochs."""
    totals, sources = report["totals"], report["sources"]
    assert report["emulated"] == "yes", report
    assert sources["stall_time"] == "hardware counters", sources
    assert sources["counter_events"] == "NVM_PMU_EVENTS", sources
    assert totals["counters"]["epochs"] == totals["epochs"] > 5, totals
    assert totals["counters"]["backwards"] == totals["counters"]["uncounted_threads"] == 0, totals
    # nobody counts write-backs here, and it says so
    assert sources["dirty_fraction"] == "none", sources
    assert sources["why_not_better"]["dirty_fraction"], sources
    assert totals["stall_wb_ns"] == totals["ma_wb"] == 0, totals
    # 300 ns in place of 100, for each access; less than one is carried
    assert abs(totals["ma_ro"] - totals["stall_ns"] / 100) <= report["threads_total"], totals
    assert abs(totals["delay_owed_ns"] - 200 * totals["ma_ro"]) <= report["threads_total"], totals
    assert totals["delay_owed_ns"] == totals["delay_paid_ns"] + totals["delay_dropped_ns"], totals
    for thread in report["threads"]:
        assert thread["stall_ns"] <= thread["cpu_ns"], thread


def dry(report):
    counted(report)
    assert report["totals"]["delay_paid_ns"] == 0 < report["totals"]["delay_owed_ns"], report


def all_is_stall(report):
    dry(report)
    near(report["totals"]["stall_share"], 1)


def a_part_is_stall(report):
    """Equation 3 with as many hits as misses: W/(1 + W), and W is 100 over 25."""
    dry(report)
    near(report["totals"]["stall_share"], 0.8)


def paid(report):
    counted(report)
    near(report["totals"]["delay_paid_ns"], report["totals"]["delay_owed_ns"])


def not_emulated(report):
    assert report["emulated"] == "no" and report["totals"]["delay_owed_ns"] == 0, report
    for word in ("Neoverse N1", "does not count misses", "x86-64"):
        assert word in report["why_not"], report["why_not"]


JUDGES = {
    "cycles-are-stalls": all_is_stall,
    "equation-3": a_part_is_stall,
    "names-of-libpfm4": all_is_stall,
    "delay-is-paid": paid,
    "not-emulated": not_emulated,
    "of-an-ordinary-user": all_is_stall,
}


def judge(name, lines):
    try:
        report = json.loads("\n".join(lines))
        JUDGES[name](report)
    except (AssertionError, KeyError, ValueError) as error:
        print(f"    {type(error).__name__}: {error}")
        tell("@fail", f"report of {name}")
    else:
        totals = report["totals"]
        print(f"    {name}: {totals['epochs']} epochs, stall share {totals['stall_share']:.3f}, "
              f"delay owed {totals['delay_owed_ns'] / 1e6:.1f} ms, "
              f"paid {totals['delay_paid_ns'] / 1e6:.1f} ms")
        tell("@pass", f"report of {name}")


def read(path):
    with open(path, errors="replace") as f:
        lines = [line.rstrip() for line in f]
    end = lines.index("@done") if "@done" in lines else len(lines)
    report = None
    for line in lines[:end]:
        word, _, rest = line.partition(" ")
        if word == "@report":
            name, report = rest, []
        elif word == "@end":
            judge(name, report)
            report = None
        elif report is not None:
            report.append(line)
        elif word in VERDICTS:
            tell(word, rest)
        else:
            print(f"    {line}")
    if end == len(lines):
        tell("@fail", f"{path}: the guest did not come to its end")


for path in sys.argv[1:]:
    read(path)
print(f"{counts['@pass']} passed, {counts['@fail']} failed"
      + (f", {counts['@skip']} skipped" if counts["@skip"] else ""))
sys.exit(counts["@fail"] > 0)
