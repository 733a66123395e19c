"""Reads the report of `unit_report --print` (the arguments) back with a JSON parser and checks types and sums."""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from schema import check_schema  # noqa: E402

text = subprocess.run([*sys.argv[1:], "--print"], check=True, capture_output=True).stdout


def no_doubles(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key stands twice in {keys}"
    return dict(pairs)


report = json.loads(text.decode("utf-8"), object_pairs_hook=no_doubles)
check_schema(report)
assert report["schema"] == "nvmemu-report" and report["version"] == 1
assert list(report) == ["schema", "version", "program", "emulated", "why_not", "machine", "settings",
                        "sources", "totals", "regions", "timeline", "heat", "sites", "threads_total", "threads_not_listed",
                        "threads_not_emulated", "threads"]
assert report["program"]["name"] == "app\ufffd\""
assert report["settings"]["NVM_OUT"] == '/tmp/a "b"'
assert report["heat"] is None and report["sites"] is None  # nobody asked
assert report["totals"]["stall_share"] == 0.25
assert report["totals"]["windows"]["mean_steps"] == 1000.5
assert report["totals"]["windows"]["stop_instructions"][0] == {"name": "vpcmpub", "count": 99}

timeline = report["timeline"]
assert timeline["bucket_ns"] == 10000000 and timeline["buckets"] == 2
assert timeline["total"]["cpu_ns"] == [50, 60] and timeline["total"]["delay_paid_ns"] == [56, 66]
assert [(t["tid"], t["name"], t["ma_ro"]) for t in timeline["threads"]] == [(4712, "worker", [53, 63])]
assert timeline["rest_threads"] == 4 and timeline["rest"]["stall_ns"] == [0, 0]

# outer > inner > outer, and inner alone; the figures of a row are powers of two, so that sums tell
# which of them went in
regions = report["regions"]
assert [r["name"] for r in regions["list"]] == ["outer", "inner"]
outer, inner = regions["list"]
assert (outer["calls"], inner["calls"]) == (3 + 5, 4 + 6)
assert outer["exclusive"]["cpu_ns"] == 2 + 8 + 32 and outer["inclusive"]["cpu_ns"] == 2 + 4 + 8 + 32
assert inner["exclusive"]["cpu_ns"] == 4 + 16 and inner["inclusive"]["cpu_ns"] == 4 + 8 + 16
assert regions["outside"]["cpu_ns"] == 1 and regions["paused"]["cpu_ns"] == 32
assert list(inner["exclusive"].values())[:4] == [120, 20, 10, 0]
assert inner["exclusive"]["stall_share"] == 0.5 and inner["exclusive"]["delay_paid_ns"] == 220
assert regions["misuse"]["cross_thread"] == 7 and regions["misuse"]["left_open"] == 5
assert list(regions["misuse"].values()) == [7, 5, 11, 7, 12, 13, 14, 15, 16, 17]
assert regions["begins"] == 18 and regions["pauses"] == 19 and regions["rows_not_listed"] == 20
assert report["threads"][0]["regions"] == []
(mine,) = report["threads"][1]["regions"]
assert mine["name"] == "inner" and mine["calls"] == 6 and mine["inclusive"]["cpu_ns"] == 16

# A thread has the keys of the totals, and four of its own; each number stands where it belongs.
own = ["tid", "name", "alive"]
for number, thread in enumerate(report["threads"]):
    assert list(thread) == own + list(report["totals"]) + ["regions"]
    base = 2000 + 1000 * number
    assert thread["stall_wb_ns"] == base + 3 and thread["ma_wb"] == base + 5
    samples = thread["samples"]
    assert [samples[key] for key in ("taken", "user", "kernel", "own", "no_answer", "lost")] == [
        base + i for i in range(11, 17)]
    assert list(thread["windows"]["stops"].values()) == [base + i for i in range(30, 38)]
    counters = thread["counters"]
    assert [counters[key] for key in ("reads", "unread", "wraps", "backwards", "epochs", "clamps",
                                      "looked_ns", "ahead_stall_ns", "ahead_stall_wb_ns",
                                      "uncounted_threads", "loads_sampled", "loads_elsewhere",
                                      "loads_lost", "loads_throttled", "loads_damaged",
                                      "unsampled_threads")] == [base + i for i in range(40, 56)]
    assert list(thread["cost"].values()) == [base + i for i in range(22, 26)]
    assert [thread[key] for key in ("touches", "misses", "misses_written", "faults")] == [
        base + i for i in range(18, 22)]
