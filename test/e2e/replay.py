"""Record and replay: what is injected is what the model says of the record, to the nanosecond."""
import json
import os
import random
import shutil
import signal
import subprocess
import time

import record_file
from record_file import (EPOCH, PLACED, PROCESS_END, QUANTITIES, THREAD, THREAD_END, load, owed, put,
                         put_header)
from victim import EMULATE, check_sums, clean, fresh, library, prog, run, succeeds

PS = 1000
FAST = {"NVM_RLAT": "300", "NVM_WLAT": "600"}


def emulated(out, *command, name="run", cwd=None, possible=True, **settings):
    """Report and record of a run; possible: the epochs that it has are what a provider may give."""
    files = {"NVM_OUT": f"{out}/{name}.json", "NVM_RECORD": f"{out}/{name}.rec"}
    done = run(*command, settings=files | settings, cwd=cwd)
    assert done.returncode == 0 and done.stderr == "", (command, done)
    report = json.loads((out / f"{name}.json").read_text())
    if possible:
        check_sums(report)
    return report, load(out / f"{name}.rec")


def totals_agree(report, record):
    """The record's ends are what the report says, and the sums of its epochs."""
    (end,) = record.of(PROCESS_END)
    assert record.records[-1] == (PROCESS_END, end) and record.whole, record.records[-1]
    for key in ("epochs", "cpu_ns", "stall_ns", "stall_wb_ns", "ma_ro", "ma_wb", "clamps",
                "delay_owed_ns", "delay_paid_ns"):
        assert end[key] == report["totals"][key], (key, end, report["totals"])
        assert end[key] == sum(t[key] for t in record.of(THREAD_END)), key
    epochs = record.of(EPOCH)
    assert end["epochs"] == len(epochs) and end["lost"] == 0, end
    for key in ("cpu_ns", "stall_ns", "stall_wb_ns"):
        assert end[key] == sum(e[key] for e in epochs), key
    for number, mine in record.threads().items():
        (born,) = [t for t in record.of(THREAD) if t["thread"] == number]
        times = [born["when_ns"], *(e["when_ns"] for e in mine)]
        assert times == sorted(times) and times[-1] <= end["when_ns"], times
        assert all(0 <= e["paid_ns"] <= e["owed_ns"] for e in mine), mine


def model_agrees(record, **target):
    for number, mine in record.threads().items():
        assert [e["owed_ns"] for e in mine] == owed(mine, **target), (number, target)


def quantities(record):
    return {number: [[e[q] for q in (*QUANTITIES, *PLACED)] for e in mine]
            for number, mine in record.threads().items()}


# a recorded run: header, epochs, ends, and the model over them
out = fresh()
report, record = emulated(out, prog("hello"), 300, name="first", **EMULATE)
totals_agree(report, record)
model_agrees(record, rlat_ps=300 * PS, wlat_ps=600 * PS)
assert record.header["program"] == report["program"]["name"] == "prog_hello", record.header
assert record.header["cpu"] == report["machine"]["cpu"] and record.header["source"] == 1, record.header
assert record.header["rlat_ps"] == 300 * PS and record.header["wlat_ps"] == 600 * PS, record.header
assert record.header["dram_lat_ps"] == 100 * PS and record.header["epoch_ns"] == 20000000, record.header
assert record.header["pid"] == report["program"]["pid"] and record.header["injects"] == 1, record.header
assert len(record.of(EPOCH)) >= 2 and record.of(PROCESS_END)[0]["delay_owed_ns"] > 0, record.records
assert max(size for size, (kind, _) in zip(record.sizes, record.records) if kind == EPOCH) <= 60

# delay comes with the ticks: little of what an epoch owes is left to serve when it ends, once the
# first one has told how much delay stall time makes
_, long_epochs = emulated(fresh(), prog("hello"), 2000, name="long",
                          **EMULATE | {"NVM_WLAT": "200", "NVM_RLAT": "200", "NVM_EPOCH": "200ms"})
mine = long_epochs.of(EPOCH)[:-1]
assert len(mine) >= 3, mine
for before, epoch in zip(mine, mine[1:]):
    assert epoch["owed_ns"] - epoch["paid_ns"] < (epoch["owed_ns"] - before["owed_ns"]) / 2, mine

# replayed twice, by a run that is long enough, at other latencies: the same owed, all of it served
first = f"replay:{out}/first.rec"
slower = {"NVM_COUNTERS": first, "NVM_RLAT": "250", "NVM_WLAT": "433.217"}
for name in ("second", "third"):
    report, again = emulated(out, prog("hello"), 1500, name=name, **slower)
    totals_agree(report, again)
    assert quantities(again) == quantities(record)
    model_agrees(again, rlat_ps=250 * PS, wlat_ps=433217)
    wanted = owed(record.of(EPOCH), 250 * PS, 433217)[-1]
    totals = report["totals"]
    assert totals["delay_owed_ns"] == wanted > 0, (totals, wanted)
    assert totals["delay_dropped_ns"] < 1000, totals
    assert report["replay"]["left_epochs"] == report["replay"]["left_cpu_ns"] == 0, report["replay"]
    assert report["replay"]["complete"] and report["replay"]["beyond_cpu_ns"] > 0, report["replay"]
    sources = report["sources"]
    assert sources["stall_time"] == sources["dirty_fraction"] == "replay", sources
    assert again.header["source"] == 3, again.header
    assert report["machine"]["dram_lat_ns"] == 100 and totals["samples"]["taken"] == 0, report
assert abs(again.header["dram_lat_ps"] - record.header["dram_lat_ps"]) == 0

# any record, any target: several threads, odd figures, epochs shorter than a tick, a dry run
random.seed(3)
THREADS = 11  # prog_threads stacks: the main thread, and ten that follow one another
epochs = {k: [{"cpu_ns": random.choice((0, 1, 999999, 3000017, random.randrange(6000000))),
               "stall_ns": (stall := random.randrange(5000000)),
               "stall_wb_ns": random.choice((0, stall, random.randrange(stall + 1), 2 * stall)),
               "latency_ps": random.choice((0, 101001, random.randrange(90000, 200000))),
               "dram_lat_ps": random.randrange(80000, 140000),
               "stall_se_ns": random.randrange(99), "dirty_se_ppm": random.randrange(99),
               "dram_ro_ppm": random.choice((0, 1000000, random.randrange(1000000))),
               "dram_wb_ppm": random.choice((0, 0, random.randrange(1000000)))}
              for _ in range(random.randrange(6))] for k in range(THREADS)}
mixed = [(k, e) for k in epochs for e in epochs[k]]
random.shuffle(mixed)
made = {k: iter(epochs[k]) for k in epochs}
body = b"".join(put(EPOCH, thread=k, **next(made[k])) for k, _ in mixed)
(out / "made.rec").write_bytes(put_header("prog_threads") + body)
for number, target in enumerate(({"rlat_ps": 300000, "wlat_ps": 612345}, {"wlat_ps": 1000000},
                                 {"rlat_ps": 123457}, {"rlat_ps": 400000, "wlat_ps": 100000},
                                 {"rlat_ps": 222222, "wlat_ps": 800000, "symmetric": True},
                                 {"wlat_ps": 333333, "symmetric": True})):
    settings = {"NVM_COUNTERS": f"replay:{out}/made.rec", "NVM_INJECT": "off",
                "NVM_MODEL": "symmetric" if target.get("symmetric") else "asymmetric"}
    for key in ("rlat", "wlat"):
        if f"{key}_ps" in target:
            settings[f"NVM_{key.upper()}"] = f"{target[f'{key}_ps'] / PS:.3f}"
    report, again = emulated(out, prog("threads"), "stacks", name=f"made{number}", possible=False,
                             **settings)
    totals_agree(report, again)
    model_agrees(again, **target)
    assert quantities(again) == {k: [[e.get(q, 0) for q in (*QUANTITIES, *PLACED)] for e in v]
                                 for k, v in epochs.items() if v}, number
    tids = {t["tid"]: t["thread"] for t in again.of(THREAD_END)}
    assert report["threads_total"] == THREADS, report["threads_total"]
    for thread in report["threads"]:
        wanted = (owed(epochs[tids[thread["tid"]]], **target) or [0])[-1]
        assert thread["delay_owed_ns"] == thread["delay_dropped_ns"] == wanted, (thread, wanted)
    assert report["totals"]["delay_owed_ns"] > 0 and not report["replay"]["complete"], report["replay"]

# a run that is shorter than its record takes a part of it, and says what is left
long = [{"cpu_ns": 5000000, "stall_ns": 1000000 + i, "stall_wb_ns": i, "latency_ps": 100000 + i,
         "dram_lat_ps": 100000} for i in range(1000)]
(out / "long.rec").write_bytes(put_header("prog_hello") + b"".join(put(EPOCH, **e) for e in long)
                               + put(EPOCH, thread=1, **long[0]))
report, again = emulated(out, prog("hello"), 200, name="part", NVM_COUNTERS=f"replay:{out}/long.rec", **FAST)
taken = report["totals"]["epochs"]
assert 5 < taken < 45 and report["totals"]["cpu_ns"] == taken * 5000000, report["totals"]
assert report["totals"]["delay_owed_ns"] == owed(long[:taken], 300 * PS, 600 * PS)[-1], report["totals"]
assert report["threads"][0]["left_epochs"] == 1000 - taken, report["threads"]
assert report["threads"][0]["beyond_cpu_ns"] < 5000000, report["threads"]
assert report["replay"]["left_epochs"] == 1001 - taken, report["replay"]
assert report["replay"]["left_cpu_ns"] == (1001 - taken) * 5000000, report["replay"]

# of a tree, processes of that program replay; others, and forked children, owe nothing
out = fresh()
(out / "a.rec").write_bytes(put_header("prog_ends") + put(EPOCH, **long[9]))
tree = FAST | {"NVM_COUNTERS": "replay:a.rec", "NVM_OUT": f"{out}/%n.json"}
done = run("sh", "-c", f"{prog('ends')} fork; {prog('hello')}", settings=tree, cwd=out)
assert done.returncode == 0 and len(done.stderr.splitlines()) == 1, done
assert "sh ran natively: the record is of another program, prog_ends" in done.stderr, done
done = run("env", prog("ends"), "return", cwd=out, settings=FAST | {"NVM_COUNTERS": "replay:a.rec"})
assert done.returncode == 7 and done.stderr == "", done
found = [json.loads(p.read_text()) for p in sorted(out.glob("*.json"))]
by_name = {}
for report in found:
    check_sums(report)
    by_name.setdefault(report["program"]["name"], []).append(report)
assert {k: len(v) for k, v in by_name.items()} == {"sh": 1, "prog_hello": 1, "prog_ends": 2}, by_name
for name in ("sh", "prog_hello"):
    assert by_name[name][0]["emulated"] == "no" and "prog_ends" in by_name[name][0]["why_not"], by_name[name]
assert sorted(r["totals"]["delay_owed_ns"] for r in by_name["prog_ends"]) == [
    0, owed([long[9]], 300 * PS, 600 * PS)[0]], by_name["prog_ends"]

# records that are none: an error before the program starts
good = put_header("prog_hello") + put(EPOCH, **long[0])
damaged = bytearray(good + good[316:])
damaged[330] ^= 4
BAD = {"json": (b'{"schema": 1}', "not a record"), "empty": (b"", "within its header"),
       "cut": (good[:200], "within its header"),
       "newer": (put_header("prog_hello", version=2), "format version 2"),
       "damaged": (bytes(damaged), "damaged at byte 316"),
       "impossible": (put_header("prog_hello") + put(EPOCH, cpu_ns=1 << 63), "impossible values")}
for name, (data, word) in BAD.items():
    (out / name).write_bytes(data)
for name, word in ([(k, v[1]) for k, v in BAD.items()] + [("nowhere", "No such file"), (".", "directory")]):
    done = run(prog("hello"), settings=FAST | {"NVM_COUNTERS": f"replay:{name}"}, cwd=out)
    assert done.returncode == 125 and done.stdout == "" and len(done.stderr.splitlines()) == 1, done
    assert f"replay:{name} (in {out}): " in done.stderr and word in done.stderr, done
done = run(prog("hello"), settings={"NVM_WLAT": "99", "NVM_COUNTERS": f"replay:{out}/tail"}, cwd=out)
assert done.returncode == 125 and "replay:" in done.stderr, done
# one that ends within an epoch is good up to there
(out / "tail").write_bytes(good + good[316:-1])
report, again = emulated(out, prog("hello"), name="tail", NVM_COUNTERS="replay:tail", cwd=out, **FAST)
assert report["totals"]["epochs"] == 1 and not report["replay"]["complete"], report["replay"]
done = run(prog("hello"), settings={"NVM_WLAT": "99", "NVM_COUNTERS": "replay:tail"}, cwd=out)
assert done.returncode == 125 and "the record's DRAM latency of 100ns" in done.stderr, done

# threads that outlive the process: their totals so far
report, record = emulated(out, prog("threads"), "some", name="some", **EMULATE)
ends = record.of(THREAD_END)
assert sorted(e["thread"] for e in ends) == list(range(5)), len(ends)
assert sum(e["alive"] for e in ends) == 2 and record.whole
assert record.of(PROCESS_END)[0]["thread"] == 5 == report["threads_total"], report["threads_total"]
assert {e["name"] for e in ends} == {"prog_threads"}, ends

# many that do not; a detached one may
report, record = emulated(out, prog("threads"), "storm", name="storm", **EMULATE)
ends = {e["thread"]: e for e in record.of(THREAD_END)}
assert len(ends) == len(record.of(THREAD_END)) > 1190 and max(ends) <= 1200, len(ends)
assert sum(e["alive"] for e in ends.values()) < 10 and record.whole
for number, mine in record.threads().items():
    assert ends[number]["alive"] or ends[number]["epochs"] == len(mine), ends[number]

# killed: all but the last epochs are there
out = fresh()
env = clean | EMULATE | {"NVM_RECORD": f"{out}/killed", "LD_PRELOAD": str(library), "NVM_EPOCH": "4ms"}
victim = subprocess.Popen([prog("hello"), "60000"], env=env, stdout=subprocess.DEVNULL)
deadline = time.monotonic() + 50
while not (out / "killed").exists() or (out / "killed").stat().st_size < 2000:
    assert time.monotonic() < deadline and victim.poll() is None
    time.sleep(0.02)
victim.kill()
assert victim.wait() == -signal.SIGKILL
record = load(out / "killed")
assert len(record.of(EPOCH)) > 20 and not record.of(PROCESS_END, THREAD_END), record.records[-1]
model_agrees(record, rlat_ps=300 * PS, wlat_ps=600 * PS)

# none is replaced; a program that executes another at once leaves the name to it
(out / "taken").write_text("mine")
done = run(prog("hello"), settings=EMULATE | {"NVM_RECORD": "taken"}, cwd=out)
assert done.returncode == 0 and len(done.stderr.splitlines()) == 1 and "taken exists" in done.stderr, done
assert (out / "taken").read_text() == "mine" and load(out / "taken.1").of(PROCESS_END)
succeeds("env", "A=b", prog("hello"), output="hello\n", settings=EMULATE | {"NVM_RECORD": f"{out}/env"})
assert load(out / "env").header["program"] == "prog_hello" and not (out / "env.1").exists()
out = fresh()
succeeds("sh", "-c", f"{prog('hello')}; {prog('hello')}; :", settings=EMULATE | {"NVM_RECORD": f"{out}/r"})
names = sorted(load(p).header["program"] for p in out.iterdir())
assert names == ["prog_hello", "prog_hello", "sh"] and load(out / "r").header["program"] == "sh", names

# a program that closes all it does not know, changes its root and its user
BURN = "\nt = time.thread_time() + 0.5\nwhile time.thread_time() < t: sum(range(1000))\n"
if shutil.which("python3"):
    for how, needs_root in (("os.closerange(3, 65536)", False),
                            ("os.chroot('/proc'); os.setgid(65534); os.setuid(65534)", True)):
        if needs_root and os.geteuid() != 0:
            print("skipped: not root:", how)
            continue
        out = fresh()
        script = "import os, time" + BURN + how + BURN
        report, record = emulated(out, "python3", "-c", script, name="p",
                                  **EMULATE | {"NVM_OUT": f"{out}/p.json"}) if not needs_root else (
            None, None)
        if needs_root:
            succeeds("python3", "-c", script, settings=EMULATE | {"NVM_RECORD": f"{out}/p.rec"})
            record = load(out / "p.rec")
        else:
            totals_agree(report, record)
        (end,) = record.of(PROCESS_END)
        assert end["epochs"] == len(record.of(EPOCH)) >= 10 and end["lost"] == 0, (how, end)

# where no record can be, the program does not suffer
for name in ("/nowhere/r", "/proc/r", "/"):
    done = run(prog("hello"), settings=EMULATE | {"NVM_RECORD": name})
    assert done.returncode == 0 and done.stdout == "hello\n", (name, done)
    assert len(done.stderr.splitlines()) == 1 and "NVM_RECORD: no record" in done.stderr, (name, done)
# cut off within the first record, wherever the others end
out = fresh()
done = run("prlimit", "--fsize=321", prog("hello"), 300, settings=EMULATE | {"NVM_RECORD": f"{out}/%e"})
assert done.returncode == 0 and done.stdout == "hello\n", done
assert len(done.stderr.splitlines()) == 1 and "the record ends early" in done.stderr, done
record = load(out / "prog_hello") if (out / "prog_hello").exists() else None
assert record and not record.whole, record
