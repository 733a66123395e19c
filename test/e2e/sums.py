"""The account of a report."""
from schema import check_schema


def check_timeline(report):
    """Its buckets sum up to the totals: of the process, of each thread, and of the rest."""
    timeline, everyone = report["timeline"], report["threads"]
    parts = [timeline["total"], timeline["rest"], *timeline["threads"]]
    for key in ("cpu_ns", "stall_ns", "stall_wb_ns", "ma_ro", "ma_wb", "delay_owed_ns", "delay_paid_ns"):
        assert all(len(part[key]) == timeline["buckets"] for part in parts), (key, timeline)
        assert sum(timeline["total"][key]) == report["totals"][key], (key, report)
        for at, whole in enumerate(timeline["total"][key]):
            assert whole == sum(part[key][at] for part in parts[1:]), (key, at, timeline)
        for part in timeline["threads"]:
            same = [t for t in everyone if (t["tid"], t["name"]) == (part["tid"], part["name"])]
            assert report["threads_not_listed"] or sum(part[key]) in [t[key] for t in same], (part, same)
    assert report["threads_total"] == len(timeline["threads"]) + timeline["rest_threads"], report


def check_sums(report):
    """What holds in every report, to the nanosecond."""
    check_schema(report)
    everyone = report["threads"]
    for totals in [report["totals"], *everyone]:
        samples = totals["samples"]
        assert totals["delay_owed_ns"] == totals["delay_paid_ns"] + totals["delay_dropped_ns"], totals
        assert samples["taken"] == samples["user"] + samples["kernel"] + samples["own"], totals
        assert samples["no_answer"] <= samples["user"], totals
        assert totals["stall_wb_ns"] <= totals["stall_ns"] <= totals["cpu_ns"], totals
        assert totals["misses_written"] <= totals["misses"] <= totals["touches"], totals
        traffic = totals["traffic"]
        assert totals["delay_owed_ns"] >= traffic["delay_bandwidth_ns"], totals
        assert sum(totals["windows"]["stops"].values()) == totals["windows"]["taken"], totals
    check_timeline(report)
    assert report["threads_total"] == len(everyone) + report["threads_not_listed"], report
    if report["threads_not_listed"]:
        return
    for key in ("cpu_ns", "stall_ns", "stall_wb_ns", "ma_ro", "ma_wb", "clamps", "epochs",
                "delay_owed_ns", "delay_paid_ns", "delay_dropped_ns", "delay_handover_ns",
                "handovers", "touches", "misses",
                "misses_written", "faults"):
        assert report["totals"][key] == sum(t[key] for t in everyone), (key, report)
    for key in ("read_bytes", "written_bytes", "delay_bandwidth_ns"):
        assert report["totals"]["traffic"][key] == sum(t["traffic"][key] for t in everyone), (key, report)
    for group in ("samples", "cost"):
        for key in report["totals"][group]:
            assert report["totals"][group][key] == sum(t[group][key] for t in everyone), (group, key)
    for key in ("taken", "steps", "limits"):
        assert report["totals"]["windows"][key] == sum(t["windows"][key] for t in everyone), key
