"""nvmemu validate: columns, files, exit statuses, interruptions; not accuracy.

Arguments: the binary, a shared library that does nothing, a library that ends each process with
status 125, and perhaps the real library.
"""
import csv
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

nvmemu, idle, refusing, *real = sys.argv[1:]
clean = {k: v for k, v in os.environ.items() if not k.startswith("NVM_")}
work = tempfile.TemporaryDirectory()
small = ["--bytes", "8M", "--rounds", "2", "--slice", "5", "--latencies", "10000"]


def run(*args, lib=idle):
    return subprocess.run([nvmemu, "validate", "--lib", lib, *args], env=clean, capture_output=True,
                          text=True, timeout=100)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(child) for child in f.read().split()]


def wait_for(condition):
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("waited in vain")


# The library that does nothing: the rows that ask for a latency miss it, the other one is native's.
table = os.path.join(work.name, "t.csv")
done = run(*small, "--csv", table, "--target", "50")
assert done.returncode == 1, done
assert [line for line in done.stderr.splitlines() if "huge pages were not" not in line] == [], done
rows = re.findall(r"^(\w+) +(DRAM|\d+) +(DRAM|\d+) +([\d.]+) +([\d.]+) +[\d.]+ +([-+.\d]+) +(\S+) "
                  r"+[\d.]+  (within|beyond) 50$", done.stdout, re.M)
assert [row[:3] for row in rows] == [("wbbench", "DRAM", "10000"), ("robench", "10000", "DRAM"),
                                     ("robench", "DRAM", "10000")], done.stdout
for name, read, write, native, measured, error, added, verdict in rows[:2]:
    assert verdict == "beyond" and float(error) < -50 and float(added) < -50
    assert abs((float(measured) / 10000 - 1) * 100 - float(error)) < 0.1
assert rows[2][6] == "-"
met = sum(row[-1] == "within" for row in rows)
assert done.stdout.splitlines()[-1] == f"validate: {met} of 3 targets met", done.stdout
with open(table) as f:
    lines = list(csv.DictReader(f))
assert [(line["bench"], line["varied"], line["configured_ns"]) for line in lines] == [
    ("wbbench", "write", "10000"), ("robench", "read", "10000"), ("robench", "write", "10000")]
assert all(int(line["slices"]) + int(line["slices_dropped"]) == 2 for line in lines)
assert lines[2]["added_error_percent"] == ""

# A target that everything meets.
done = run(*small, "--target", "1000")
assert done.returncode == 0 and done.stdout.endswith("validate: 3 of 3 targets met\n"), done

# JSON, and nothing else on stdout.
told = json.loads(run(*small, "--json").stdout)
assert told["schema"] == "nvmemu-validate" and told["rounds"] == 2 and told["bytes"] == 8 << 20
assert [row["varied"] for row in told["rows"]] == ["write", "read", "write"]
assert told["targets"] == 3

# Latencies that this machine cannot emulate are skipped, and count as no success.
done = run("--bytes", "8M", "--rounds", "1", "--slice", "5", "--latencies", "1")
assert done.returncode == 1 and done.stdout.count("skipped") == 3, done
assert done.stdout.endswith("validate: 0 of 0 targets met\n")

# Wrong arguments.
for args in (["--latencies", "300,x"], ["--latencies", ""], ["--bytes", "1"], ["--rounds", "0"],
             ["--slice", "-1"], ["--huge", "maybe"], ["--target", "nan"]):
    done = run(*args)
    assert done.returncode == 2 and args[0] in done.stderr and done.stdout == "", done

# More memory than there is.
done = run("--bytes", "100000G", "--latencies", "10000", "--rounds", "1")
assert done.returncode == 1 and "memory" in done.stderr and done.stdout == "", done

# No library; one that cannot be loaded; one that says that emulation is impossible.
done = run(*small, lib="/nonexistent/lib.so")
assert done.returncode == 125 and "/nonexistent/lib.so" in done.stderr, done
text = os.path.join(work.name, "text.so")
with open(text, "w") as f:
    f.write("no library")
done = run(*small, lib=text)
assert done.returncode == 125 and "could not be loaded" in done.stderr and done.stdout == "", done
done = run(*small, lib=refusing)
assert done.returncode == 125 and "emulation is impossible" in done.stderr, done
assert done.stdout == ""

# A file that cannot be written.
done = run(*small, "--csv", "/nonexistent/t.csv", "--target", "1000")
assert done.returncode == 1 and "/nonexistent/t.csv" in done.stderr, done


def start(*args):
    return subprocess.Popen([nvmemu, "validate", "--lib", idle, "--bytes", "8M", "--slice", "5",
                             "--latencies", "10000", *args], env=clean, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


# A worker that dies is told of, and leaves no other behind.
with start("--rounds", "100000") as process:
    wait_for(lambda: len(children(process.pid)) == 2)
    workers = children(process.pid)
    os.kill(workers[-1], signal.SIGKILL)
    out, err = process.communicate(timeout=60)
assert process.returncode == 1 and "wbbench" in err and "signal 9" in err and out == "", (out, err)
assert not any(os.path.exists(f"/proc/{pid}") for pid in workers)

# Interrupted: the rows so far, and no process left.
with start("--rounds", "100000") as process:
    wait_for(lambda: len(children(process.pid)) == 2)
    workers = children(process.pid)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
assert process.returncode == 130, (process.returncode, err)
assert not any(os.path.exists(f"/proc/{pid}") for pid in workers)
assert re.search(r"^wbbench +DRAM +10000 ", out, re.M) and "robench  " not in out, out
assert re.search(r"^validate: [01] of 1 targets met$", out, re.M), out

# The real library: the same columns, whatever the figures.
for lib in filter(None, real):
    done = run("--bytes", "8M", "--rounds", "1", "--latencies", "1000", "--slice", "20", lib=lib)
    assert done.returncode in (0, 1), done
    row = r"^(?:wb|ro)bench .* (?:within|beyond) [\d.]+$"
    assert len(re.findall(row, done.stdout, re.M)) == 3, done

# A device: what chases and streams see of it, against what it asks for here.
def device(name, *args, lib=idle, env=()):
    return subprocess.run([nvmemu, "validate", "--device", name, "--bytes", "8M", "--rounds", "1",
                           "--slice", "5", "--lib", lib, *args], env=clean | dict(env),
                          capture_output=True, text=True, timeout=100)


LINE = re.compile(r"^(\w+) +(ns|GB/s) +([\d.]+) +([\d.]+|-) +([\d.]+) +[\d.na-]+ +([-+.\d]+)  (.*)$")


def lines_of(done):
    found = [LINE.match(line) for line in done.stdout.splitlines()]
    found = {m[1]: m.groups()[1:] for m in found if m}
    assert list(found) == ["read", "write", "copy", "scale", "add", "triad"], done
    return found


done = device("numa", env={"NVM_DRAM_LAT": "100"})
assert done.returncode == 1 and done.stdout.startswith(
    "numa: read 178.3 ns, write 178.3 ns; DRAM 100.0 ns\n"), done
found = lines_of(done)
for name in ("read", "write"):
    unit, native, asked, seen, error, judged = found[name]
    assert unit == "ns" and asked == "178.3" and judged.startswith("latency: "), found
    assert abs((float(seen) / 178.3 - 1) * 100 - float(error)) < 0.2, found
for name in ("copy", "scale", "add", "triad"):
    unit, native, asked, seen, error, judged = found[name]
    assert unit == "GB/s" and asked == error == "-" and "no limit" in judged, found
assert re.search(r"^validate: \d of 2 targets met$", done.stdout, re.M), done
done = device("cxl-far", env={"NVM_DRAM_LAT": "411"})
assert done.returncode == 125 and "410.000ns is below the DRAM latency of 411" in done.stderr, done
done = device("nonsense", env={"NVM_DRAM_LAT": "100"})
assert done.returncode == 1 and "nonsense" in done.stderr and not done.stdout, done
done = device("numa", "--latencies", "300")
assert done.returncode == 2 and "goes without" in done.stderr, done
for lib in filter(None, real):
    config = tempfile.TemporaryDirectory()
    os.mkdir(os.path.join(config.name, "nvmemu"))
    with open(os.path.join(config.name, "nvmemu", "devices"), "w") as f:
        f.write("thin read=x2 rbw=10% wbw=10000GB/s\n")
    done = device("thin", lib=lib, env={"XDG_CONFIG_HOME": config.name})
    assert done.returncode in (0, 1), done
    found = lines_of(done)
    assert all(found[k][5].startswith(("bandwidth: ", "latency: ")) for k in ("copy", "triad")), found
    assert re.search(r"; reads [\d.]+ GB/s; writes not below the [\d.]+ GB/s of this machine; ",
                     done.stdout), done

# Both providers side by side: without counters it says so; with software events in their place the
# table is there, whatever its figures.
def compare(*args, env=(), lib=None):
    return subprocess.run([nvmemu, "validate", "--compare", "--slice", "40", *args,
                           "--lib", lib or real[0]], env=clean | dict(env), capture_output=True,
                          text=True, timeout=100)


workload = os.path.join(os.path.dirname(nvmemu), "nvmemu-workload")
if real and os.path.exists(workload):
    done = compare(env={"NVM_PMU_EVENTS": "stall=99/1"})
    assert done.returncode == 125 and done.stdout == "", done
    assert "no hardware counters" in done.stderr, done
    done = compare(lib=idle)
    assert done.returncode == 1 and "could not be compared" in done.stderr, done
    done = compare(env={"NVM_PMU_EVENTS": "stall=1/1"})
    assert done.returncode == 0 and done.stderr == "", done
    head, *rows, last = done.stdout.splitlines()
    assert head.split()[:3] == ["kernel", "stall:", "look-ahead"], head
    assert len(rows) > 20 and re.match(r"compare: .* over %d workloads$" % len(rows), last), done
    for row in rows:
        name, counted, looked, difference, *dirty = row.split()
        assert 0.3 < float(counted) <= 1.01, row
        assert abs(float(looked) - float(counted) - float(difference)) < 0.0011, row
        assert dirty[0] == "-", row
