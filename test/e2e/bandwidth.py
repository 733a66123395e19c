"""Emulated bandwidths: what is counted, what is owed for it, and the errors. Counts and shares, not
speeds. Arguments: the library, the victims' directory, nvmemu-streamer."""
import json
import sys

from record_file import EPOCH, load, owed, put, put_header
from victim import check_sums, fresh, prog, reports, run

streamer = sys.argv[3]
MIB = 64


def stream(kernel, settings, *more, seconds="0.5"):
    """The workload's own result and its report."""
    folder = fresh()
    done = run(streamer, kernel, "--mib", MIB, "--seconds", seconds, *more,
               settings=settings | {"NVM_OUT": str(folder / "out.json")})
    assert done.returncode == 0 and done.stderr == "", done
    [report] = reports(folder)
    return json.loads(done.stdout), report


def moved(result, key):
    return result[key] * (result["passes"] + result["warm_passes"]) / result["passes"]


# Nobody asks for a bandwidth: nothing is counted, and the machine's is not measured.
result, report = stream("read", {"NVM_DRAM_LAT": "100", "NVM_WLAT": "600"}, seconds="0.1")
traffic = report["totals"]["traffic"]
assert report["sources"]["traffic"] == "none" and traffic["read_bytes"] == 0, traffic
assert traffic["delay_bandwidth_ns"] == 0, traffic

# More than any machine has: both are named, and the program does not start.
for variable in ("NVM_RBW", "NVM_WBW"):
    done = run(streamer, "read", settings={variable: "9000GB/s"})
    assert done.returncode == 125 and done.stdout == "", done
    assert f"{variable}: 9000GB/s is above the " in done.stderr, done
    assert done.stderr.count("GB/s") == 2, done

# Known by construction: what is read, and what is written. A fetch of each line that is
# written counts as read. The arrays' first touch is on top, of writes. A busy machine makes few ticks.
LIMITS = {"NVM_RBW": "1GB/s", "NVM_WBW": "800MB/s"}
for threads in ("1", "2"):
    result, report = stream("copy", LIMITS, "--threads", threads)
    check_sums(report)
    totals, machine = report["totals"], report["machine"]["bandwidth"]
    traffic = totals["traffic"]
    assert machine["all_read_gb_per_s"] >= machine["thread_read_gb_per_s"] > 1, machine
    assert report["sources"]["traffic"] == "look-ahead", report["sources"]
    part = traffic["read_bytes"] / moved(result, "read_bytes")
    assert 0.25 < part < 2.5, (part, traffic, result)
    assert traffic["written_bytes"] < 1.2 * traffic["read_bytes"], traffic
    known = sum(traffic["cpu_ns"].values()) - traffic["cpu_ns"]["unknown"]
    assert 0 < known <= totals["cpu_ns"], traffic
    assert 0 < traffic["delay_bandwidth_ns"] == totals["delay_owed_ns"], totals
    # It runs longer for what it moves; not for longer than all of it takes one after the other.
    least = max(traffic["read_bytes"] / 1.0, traffic["written_bytes"] / 0.8)
    assert totals["delay_owed_ns"] < 2.5 * int(threads) * least, (totals, least)
    for key in ("read_bytes", "written_bytes", "delay_bandwidth_ns"):
        assert sum(t["traffic"][key] for t in report["threads"]) == traffic[key], key

# Stores that fetch nothing.
result, report = stream("stos", LIMITS)
traffic = report["totals"]["traffic"]
assert traffic["read_bytes"] < 0.2 * traffic["written_bytes"], traffic
assert 0.25 < traffic["written_bytes"] / moved(result, "written_bytes") < 2.5, (traffic, result)

# With a guidance file what counts is on memory that it puts on NVM: the arrays are anonymous.
place = fresh() / "place"
placed = LIMITS | {"NVM_PLACE": str(place)}
place.write_text("default @ dram\nanonymous @ nvm\n")
result, report = stream("copy", placed)
traffic = report["totals"]["traffic"]
assert 0.25 < traffic["read_bytes"] / moved(result, "read_bytes") < 2.5, (traffic, result)
place.write_text("default @ nvm\nanonymous @ dram\n")
result, report = stream("copy", placed)
traffic = report["totals"]["traffic"]
assert traffic["read_bytes"] < 0.05 * moved(result, "read_bytes"), (traffic, result)
assert traffic["cpu_ns"]["by_rate"] > 0, traffic

# A dry run counts, and delays nobody; its record has what the report has.
folder = fresh()
dry = LIMITS | {"NVM_INJECT": "off", "NVM_RECORD": str(folder / "run.rec")}
result, report = stream("read", dry, seconds="0.2")
totals = report["totals"]
assert totals["delay_paid_ns"] == 0 < totals["delay_dropped_ns"], totals
for epochs in load(folder / "run.rec").threads().values():
    assert [e["owed_ns"] for e in epochs] == owed(epochs), epochs
    assert sum(e["read_bytes"] for e in epochs) == totals["traffic"]["read_bytes"], epochs

# A replay of 50 MB, which take 100 ms at most; of what the thread ran meanwhile nothing is owed.
epochs = [{"cpu_ns": 1000, "latency_ps": 100000, "dram_lat_ps": 100000, "read_bytes": 1000000,
           "written_bytes": 10}] * 50
(folder / "made.rec").write_bytes(put_header("prog_hello") + b"".join(put(EPOCH, **e) for e in epochs))
replay = {"NVM_RBW": "500MB/s", "NVM_COUNTERS": f"replay:{folder}/made.rec", "NVM_INJECT": "off",
          "NVM_OUT": str(folder / "again.json"), "NVM_RECORD": str(folder / "again.rec")}
done = run(prog("hello"), settings=replay)
assert done.returncode == 0 and done.stderr == "", done
again = json.loads((folder / "again.json").read_text())
traffic = again["totals"]["traffic"]
assert again["sources"]["traffic"] == "replay" and again["machine"]["bandwidth"] is None, again
assert traffic["read_bytes"] == 50000000 and traffic["written_bytes"] == 500, traffic
assert 10000000 < traffic["delay_bandwidth_ns"] <= 100100000, traffic
assert traffic["delay_bandwidth_ns"] == again["totals"]["delay_owed_ns"], again["totals"]
[mine] = load(folder / "again.rec").threads().values()
assert [e["owed_ns"] for e in mine] == owed(mine), mine
