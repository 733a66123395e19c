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
                        "sources", "totals", "timeline", "heat", "sites", "threads_total", "threads_not_listed",
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

# A thread has the keys of the totals, and three of its own; each number stands where it belongs.
own = ["tid", "name", "alive"]
for number, thread in enumerate(report["threads"]):
    assert list(thread) == own + list(report["totals"])
    base = 2000 + 1000 * number
    assert thread["stall_wb_ns"] == base + 3 and thread["ma_wb"] == base + 5
    samples = thread["samples"]
    assert [samples[key] for key in ("taken", "user", "kernel", "own", "no_answer", "lost")] == [
        base + i for i in range(11, 17)]
    assert list(thread["windows"]["stops"].values()) == [base + i for i in range(30, 38)]
    counters = thread["counters"]
    assert [counters[key] for key in ("reads", "unread", "wraps", "backwards", "epochs", "clamps",
                                      "looked_ns", "ahead_stall_ns", "ahead_stall_wb_ns",
                                      "uncounted_threads")] == [base + i for i in range(40, 50)]
    assert list(thread["cost"].values()) == [base + i for i in range(22, 26)]
    assert [thread[key] for key in ("touches", "misses", "misses_written", "faults")] == [
        base + i for i in range(18, 22)]
