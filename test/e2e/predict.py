"""nvmemu predict: tables from records and reports, checks, bad files and arguments; not times.

Arguments: the library, the victims' directory, the command.
"""
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

command = sys.argv[3]

from record_file import (EPOCH, PROCESS_END, THREAD, THREAD_END, load, owed, put,  # noqa: E402
                         put_header)
from victim import clean, fresh, library, prog, run as emulate, scratch  # noqa: E402

MS = 1000000


def run(*args, **options):
    return subprocess.run([command, "predict", *map(str, args)], env=clean, capture_output=True,
                          text=True, timeout=100, **options)


def fails(status, message, *args):
    done = run(*args)
    assert done.returncode == status and message in done.stderr, (args, done)
    assert done.stdout == "", (args, done)


def table(*args):
    done = run(*args, "--csv", "-")
    assert done.returncode == 0, done
    return list(csv.DictReader(io.StringIO(done.stdout))), done.stderr


# Made up: two threads at once, of 200 ms each, of which half is stall time, a quarter of it dirty.
made = scratch / "made.rec"
EPOCHS = [{"thread": t, "when_ns": (i + 1) * 20 * MS, "cpu_ns": 20 * MS, "stall_ns": 10 * MS,
           "stall_wb_ns": 2500000, "latency_ps": 125000, "dram_lat_ps": 100000, "region": 2 * t}
          for i in range(10) for t in (0, 1)]


def make(path, epochs, rlat_ps=0, wlat_ps=300000, end=True, **header):
    data = put_header("app", pid=7, rlat_ps=rlat_ps, wlat_ps=wlat_ps, injects=1, **header)
    for thread in (0, 1):
        data += put(THREAD, thread=thread, tid=7 + thread)
    done = {0: [], 1: []}
    for epoch in epochs:
        done[epoch["thread"]].append(epoch)
        owes = owed(done[epoch["thread"]], rlat_ps, wlat_ps)[-1]
        data += put(EPOCH, **epoch | {"owed_ns": owes, "paid_ns": owes})
    if end:
        for thread in (0, 1):
            data += put(THREAD_END, thread=thread, tid=7 + thread, delay_paid_ns=4 * MS)
        data += put(PROCESS_END, thread=2, tid=7, when_ns=204 * MS)
    path.write_bytes(data)


make(made, EPOCHS)
found, told = table(made, "--rlat", "dram,200", "--wlat", "dram,300:500:200")
assert told == "", told
points = [(r, w) for r in ("", "200") for w in ("", "300", "500")]
assert [row["of"] for row in found] == 6 * ["process"] + 12 * ["thread"] + 12 * ["region"]
for rows in (found[i:i + 6] for i in range(0, 30, 6)):
    assert [(row["rlat_ns"], row["wlat_ns"]) for row in rows] == points, rows
# each thread: 600,000 read-only and 200,000 write-back accesses
for row in found:
    scale = 2 if row["of"] == "process" else 1
    delay = (600000 * 100 if row["rlat_ns"] else 0) + (
        200000 * (int(row["wlat_ns"]) - 100) if row["wlat_ns"] else 0)
    assert abs(int(row["delay_ns"]) - scale * delay) <= 2, row
    assert int(row["time_ns"]) == scale * 200 * MS + int(row["delay_ns"]), row
    assert abs(float(row["slowdown"]) - (200 * MS + delay) / (200 * MS)) < 1e-5, row
    if row["of"] == "process":
        # both run at once: the estimate has their delay once; 4 ms were the recorded run's own
        assert abs(int(row["wall_ns"]) - (200 * MS + delay)) < MS, row
        assert int(row["wall_low_ns"]) <= int(row["wall_ns"]) <= int(row["wall_high_ns"]), row
        assert row["number"] == row["name"] == "", row
    assert row["se_ns"] == ("" if delay else "0"), row
    assert int(row["low_ns"]) <= int(row["time_ns"]) <= int(row["high_ns"])
assert [row["number"] for row in found[6::6]] == ["0", "1", "0", "2"]
assert [row["tid"] for row in found[6::6]] == ["7", "8", "", ""]

# As text.
done = run(made, "--wlat", "300")
assert re.match(r"app, process 7 on elsewhere: 2 threads; recorded with read DRAM's, write 300 ns; "
                r"DRAM 100.0 ns$", done.stdout.splitlines()[0]), done
assert re.search(r"^ +DRAM +300 +0\.480 +[\d.]+ +- +0\.080 +1\.200 +0\.240 +0\.240 +0\.276$",
                 done.stdout, re.M), done
assert "\nthread 1, " in run(made, "--wlat", "300", "--by", "thread").stdout
assert "\nregion 2\n" in run(made, "--wlat", "300", "--by", "region").stdout

# Drawn: a line, contours.
for ranges, words in ((("--wlat", "200:1000:100"), {"write latency (ns)", "read DRAM's"}),
                      (("--rlat", "dram,200,300"), {"read latency (ns)"}),
                      (("--wlat", "200:900:100", "--rlat", "200:900:100"),
                       {"write latency (ns)", "read latency (ns)", "times native CPU time"})):
    picture = scratch / "plot.svg"
    assert run(made, *ranges, "--svg", picture).returncode == 0
    texts = {e.text for e in xml.parse(picture).getroot().iter() if e.tag.endswith("}text")}
    assert words <= texts, texts

# What the latencies do not explain is told; so is a record that ends early.
make(made, EPOCHS, end=False)
found, told = table(made, "--wlat", "300")
assert "ends before its process did" in told and "explain" not in told, told
broken = bytearray()
make(made, EPOCHS)
for epoch in EPOCHS[:2]:
    broken += put(EPOCH, **epoch | {"when_ns": 300 * MS, "owed_ns": 90 * MS})
made.write_bytes(made.read_bytes()[:-len(put(PROCESS_END, thread=2, tid=7, when_ns=204 * MS))] +
                 bytes(broken) + put(PROCESS_END, when_ns=300 * MS))
found, told = table(made, "--wlat", "300")
assert "its latencies explain" in told and "bandwidth" in told, told

# A real run, as record and as report: what the model would say at other latencies. What is placed
# on DRAM owes nothing at any.
(scratch / "guidance").write_text("default @ dram\n")
for settings in ({"NVM_PLACE": str(scratch / "guidance")}, {}):
    folder = fresh()
    record, report = folder / "run.rec", folder / "run.json"
    done = emulate(prog("hello"), 400, settings=settings | {
        "NVM_DRAM_LAT": "100", "NVM_RLAT": "300", "NVM_WLAT": "600", "NVM_RECORD": str(record),
        "NVM_OUT": str(report)})
    assert done.returncode == 0, done
    totals = json.loads(report.read_text())["totals"]
    assert totals["ma_ro"] + totals["ma_wb"] > 0, totals
    real = load(record)
    for rlat, wlat in ((300, 600), (1000, 200)):
        expected = sum(owed(epochs, rlat * 1000, wlat * 1000)[-1]
                       for epochs in real.threads().values())
        assert (expected == 0) == bool(settings), (expected, settings)
        for file in (record, report):
            found, told = table(file, "--rlat", rlat, "--wlat", wlat)
            row = found[1]
            assert told == "", told
            assert row["wlat_ns"] == str(wlat)
            assert abs(int(row["delay_ns"]) - expected) <= 0.02 * expected + 5000, (row, expected)

# Bad files.
assert b"nvmemu-report" in report.read_bytes()
fails(1, "No such file", folder / "none", "--wlat", "300")
fails(1, "Is a directory", folder, "--wlat", "300")
bad = folder / "bad"
for data, message in ((b"", "ends within its header"), (b"GIF89a", "not a record"),
                      (record.read_bytes()[:100], "ends within its header"),
                      (record.read_bytes()[:316], "no epoch"),
                      (put_header("app", version=9), "version 9"),
                      (report.read_bytes()[:-50], "ends early"),
                      (b"{}", "no report")):
    bad.write_bytes(data)
    done = run(bad, "--wlat", "300")
    assert done.returncode == 1 and done.stdout == "", (message, done)
    assert str(bad) in done.stderr and (message in done.stderr or message == "no report"), (
        message, done)
damaged = bytearray(record.read_bytes())
damaged[320] ^= 1
bad.write_bytes(damaged)
fails(1, "damaged at byte", bad, "--wlat", "300")
newer = json.loads(report.read_text()) | {"version": 99}
bad.write_text(json.dumps(newer))
fails(1, "99", bad, "--wlat", "300")
bad.write_text(json.dumps(json.loads(report.read_text()) | {"emulated": "no", "why_not": "x"}))
fails(1, "not emulated", bad, "--wlat", "300")

# Arguments.
fails(2, "which file", "--wlat", "300")
fails(2, "at which latencies", record)
fails(2, "at which latencies", record, "--rlat", "dram")
fails(2, "99.9 ns is below the recorded run's DRAM latency of 100 ns", record, "--wlat", "99.9:300:1")
fails(2, "--wlat", record, "--wlat", "300:200:1")
fails(2, "--by", record, "--wlat", "300", "--by", "chance")
fails(2, "unexpected argument", record, "other", "--wlat", "300")
fails(2, "for --check alone", record, "--wlat", "300", "--", "true")
fails(2, "which program", record, "--wlat", "300", "--check", "1")
fails(2, "too many", record, "--wlat", "101:1000:1", "--rlat", "101:1000:1")
done = run(record, "--wlat", "300", "--csv", "/nonexistent/table")
assert done.returncode == 1 and "/nonexistent/table" in done.stderr, done

# Checked by runs: as many as said, of the last of the points, each with its figures.
log = folder / "log"
shell = ("sh", "-c", f'echo "$NVM_RLAT $NVM_WLAT $NVM_INJECT" >>{log}; exec "$@"', "sh",
         prog("hello"), "50")
checks = ("--check", "2", "--repeat", "2", "--lib", library, "--target", "100000")
done = run(record, "--wlat", "200:500:100", *checks, "--", *shell)
assert done.returncode == 0, done
assert sorted(log.read_text().splitlines()) == sorted(
    2 * [" 300 spin", " 500 spin", "300 600 spin"]), log.read_text()
checked = done.stdout.split("\nchecked: 2 emulated runs of each, in turns; medians\n")[1]
assert re.search(r"^ +300 +600 .* as recorded$", checked, re.M), done
assert len(re.findall(r"^ +DRAM +[35]00 +([\d.]+) +([\d.]+) +[-+][\d.]+ +[-+][\d.]+ ", checked,
                      re.M)) == 2, done
assert checked.endswith("predict: 2 of 2 points within 100000 % (beyond record)\n"), done
done = run(record, "--wlat", "300", "--check", "1", "--lib", library, "--", "false")
assert done.returncode == 1 and "ended with status 1" in done.stderr, done
done = run(record, "--wlat", "300", "--check", "1", "--lib", library, "--", "/nonexistent/program")
assert done.returncode == 127, done
