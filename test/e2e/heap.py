"""With allocation sites programs behave as without, however hard they are on an allocator."""
import json
import os
import shutil
import subprocess
import sys

from victim import EMULATE, INERT, clean, fresh, library, prog, run, succeeds, told

nvmemu = sys.argv[3]
HEAT = {"NVM_HEAT": "on"}
SHIM = f"{prog('heap').rpartition('/')[0]}/libprog_heap_shim.so"
PLUGIN = f"{prog('heap').rpartition('/')[0]}/libprog_heap_plugin.so"
OWN = "nvmemu: warning: heat: the program has a malloc of its own: its blocks have no sites\n"
ALONE = ("nvmemu: warning: heat: no allocation sites: libnvmemu-arenas.so and libnvmemu-thread.so "
         "are not beside libnvmemu.so, or that was not loaded at the start\n")

for settings in (INERT, HEAT, HEAT | EMULATE | {"NVM_EPOCH": "4ms"}):
    for what in ("calls", "stacks", "ends", "forks", "signals", "maps", "masks", "cancels", "contexts",
                 "paths"):
        succeeds(prog("heap"), what, output="done\n", settings=settings)
    for what in ("plugin", "loading"):
        succeeds(prog("heap"), what, PLUGIN, output="done\n", settings=settings)
# handlers that allocate are safe with sites alone: the C library's allocator breaks now and then
for settings in (HEAT, HEAT | EMULATE | {"NVM_EPOCH": "4ms"}):
    succeeds(prog("heap"), "signals", output="done\n", settings=settings)
for settings in (HEAT, HEAT | {"NVM_HEAT_DEPTH": "1"}, HEAT | {"NVM_HEAT_DEPTH": "64"},
                 HEAT | {"NVM_HEAT_MIN": "1K"}):
    succeeds(prog("heap"), "crossing", output="done\n", settings=settings)

# beside a library that stands before mmap, open and getenv, and on the last processor alone
for preload in (f"{SHIM}:{library}", f"{library}:{SHIM}"):
    succeeds(prog("heap"), "calls", output="done\n", preload=preload, settings=HEAT)
if shutil.which("taskset"):
    succeeds("taskset", "-c", max(os.sched_getaffinity(0)), prog("heap"), "stacks", output="done\n",
             settings=HEAT)

# the loader can list what each library needs
for name in ("libnvmemu.so", "libnvmemu-thread.so", "libnvmemu-beside.so", "libnvmemu-arenas.so"):
    listed = run("ldd", "-r", library.parent / name, preload=None, settings=INERT)
    assert listed.returncode == 0, listed
    assert not any(w in listed.stdout for w in ("not found", "libm.so")) or "arenas" in name, listed

# a program at a fixed address, which has a symbol for malloc itself
succeeds(prog("heap_fixed"), "calls", output="done\n", settings=HEAT)
succeeds(prog("heap_fixed"), "crossing", output="done\n", settings=HEAT)

# an allocator of the program's own is left alone, with one line; so is a program without ours
assert told(run(prog("heap_own"), settings=INERT)) == (0, "done\n", "")
assert told(run(prog("heap_own"), settings=HEAT)) == (0, "done\n", OWN)
lonely = fresh() / "libnvmemu.so"
shutil.copy(library, lonely)
assert told(run(prog("heap"), "calls", preload=lonely, settings=HEAT)) == (0, "done\n", ALONE)
done = run(prog("opener"), library, preload=None, settings=HEAT)
assert told(done) == (0, "hello\n", ALONE), done

# frames that only an expression tells; a disk that is full when the report is written
folder = fresh()
out = folder / "frames.json"
succeeds(prog("heap_frames"), output="done\n", settings=HEAT | {"NVM_OUT": str(out)})
rows = json.loads(subprocess.run([nvmemu, "heat", "--format", "json", out], env=clean, check=True,
                                 capture_output=True).stdout)["rows"]
path = [frame["function"] for row in rows if row["allocs"] == 20000 for frame in row["stack"]]
assert path[:4] == ["allocate", "through_expression", "outer", "main"], rows
full = folder / "full.json"
done = run("prlimit", "--fsize=1000", prog("heap_frames"), settings=HEAT | EMULATE |
           {"NVM_OUT": str(full), "NVM_RECORD": str(folder / "full.rec")})
assert (done.returncode, done.stdout) == (0, "done\n") and not full.exists(), done
assert done.stderr.count("\n") == 1 and "no report" in done.stderr, done

# little address space: tables of a part of it, and what they have no room for is served all the same
for settings in (INERT, HEAT):
    succeeds("prlimit", "--as=800000000:800000000", prog("heap"), "limit", output="done\n",
             settings=settings)
    succeeds(prog("heap"), "limits_itself", output="done\n", settings=settings)
    succeeds("prlimit", "--as=100000000:100000000", prog("heap"), "maps", output="done\n",
             settings=settings)
done = run("prlimit", "--as=30000000:30000000", "env", f"LD_PRELOAD={library}", "NVM_HEAT=on",
           "true", preload=None, settings=INERT)
assert done.returncode == 0, done
assert done.stderr.count("\n") == 1 and "no allocation sites: Cannot allocate memory" in done.stderr


def same(*command, **options):
    """With sites as without."""
    plain = run(*command, preload=None, settings=INERT, **options)
    done = run(*command, settings=HEAT, **options)
    assert told(done) == told(plain), (command, done, plain)


SQL = """create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000)
insert into t select x, printf('%d text', x * 7919 % 10007) from c;
create index i on t(b); select count(*), sum(length(b)) from t where b like '1%';"""
PYTHON = """import json, threading, subprocess
d = json.dumps([{"a": i, "b": str(i) * 5} for i in range(20000)])
t = [threading.Thread(target=lambda: json.loads(d)) for _ in range(4)]
[x.start() for x in t]; [x.join() for x in t]
print(len(d), subprocess.run(["echo", "hi"], capture_output=True).stdout)"""
CXX = """#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <cstdio>
struct alignas(128) Wide { char c[300]; };
static size_t f(int i) { if (i % 3 == 0) throw std::runtime_error(std::string(i % 99, 'x'));
	return std::vector<std::string>(i % 50, std::string(i % 200, 'a')).size(); }
extern "C" int thrown() { int n = 0;
	for (int i = 0; i < 999; i++) { try { f(i); } catch (std::exception &) { n++; } } return n; }
int main() { size_t sum[4] = {}; std::vector<std::thread> t;
	for (int k = 0; k < 4; k++) t.emplace_back([&sum, k] { std::map<int, std::string> m;
		for (int i = 0; i < 5000; i++) { delete new Wide;
			try { sum[k] += f(i); } catch (std::exception &e) { m[i % 77] += e.what(); } }
		for (auto &x : m) sum[k] += x.second.size(); });
	for (auto &x : t) x.join();
	std::printf("%zu\\n", sum[0] + sum[1] + sum[2] + sum[3]); }
"""
folder = fresh()
(folder / "x.cpp").write_text(CXX)
same("python3", "-c", PYTHON)
if shutil.which("sqlite3"):
    same("sqlite3", ":memory:", SQL)
if shutil.which("g++"):
    same("g++", "-O1", "-S", "-o", "-", folder / "x.cpp")
    subprocess.run(["g++", "-O1", "-pthread", "-o", folder / "x", folder / "x.cpp"], check=True,
                   env=clean)
    same(folder / "x")
    # exceptions where the program itself is of C
    subprocess.run(["g++", "-O1", "-shared", "-fPIC", "-o", folder / "x.so", folder / "x.cpp"],
                   check=True, env=clean)
    same("python3", "-c", f"import ctypes; print(ctypes.CDLL('{folder}/x.so').thrown())")
