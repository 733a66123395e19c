"""Programs that are hard on a preloaded library behave as if it were not there."""
from victim import EMULATE, INERT, prog, run, succeeds, told

FAST = EMULATE | {"NVM_EPOCH": "1ms"}
SLOW = EMULATE | {"NVM_RLAT": "2us", "NVM_WLAT": "5us"}

for settings in (INERT, FAST):
    for what in ("own", "old", "reset", "reset-raw", "wait", "blocked", "errno", "small-stack"):
        succeeds(prog("signals"), what, settings=settings)
    for what in ("alone", "fork", "clone", "sandbox", "sandbox-syscall", "sandbox-_exit"):
        succeeds(prog("process"), what, settings=settings)
    succeeds(prog("no_counter"), settings=settings)
for settings in (INERT, FAST):
    succeeds(prog("signals"), "faults", settings=settings)
    succeeds(prog("mappings"), output="done\n", settings=settings)
    succeeds(prog("blocking"), settings=settings)
    raw = run(prog("raw"), settings=settings)
    assert told(raw) == (7, "", ""), raw
    for what in ("cancel", "single", "stacks", "storm"):
        succeeds(prog("threads"), what, output="done\n", settings=settings)
    for what in ("fork", "start", "server"):
        succeeds(prog("crowd"), what, output="done\n", settings=settings)
for what in ("coroutines", "big-fork", "idle", "module"):
    module = f"{prog('crowd').rpartition('/')[0]}/libprog_module.so"
    succeeds(prog("crowd"), what, module, output="done\n", settings=FAST)
# with delays long enough to be met everywhere
for what in ("cancel", "some"):
    succeeds(prog("threads"), what, output="done\n", settings=SLOW)
for what in ("fork", "start", "server", "big-fork", "idle"):
    succeeds(prog("crowd"), what, output="done\n", settings=SLOW)
succeeds(prog("blocking"), settings=SLOW | {"NVM_EPOCH": "1ms", "NVM_BUDGET": "10%"})
# no core for the monitors
succeeds("taskset", "1", prog("threads"), "cancel", output="done\n")

# what it does with its privileges succeeds, in whatever order
for settings in (INERT, EMULATE):
    succeeds("setpriv", "--clear-groups", "--bounding-set=-all", prog("hello"), output="hello\n",
             settings=settings)

# a program of real-time priority keeps one core busy, and ends
done = run("chrt", "-f", "10", "taskset", "1", prog("hello"))
if "failed to set" not in done.stderr:
    assert done.returncode == 0 and done.stdout == "hello\n", done
