"""Under tight limits programs behave as without the library, and what it lacks it does without."""
import os
import pathlib

from victim import (EMULATE, INERT, SKIPPED, check_sums, fresh, library, prog, reports, run,
                    succeeds)

HEAT = EMULATE | {"NVM_HEAT": "on"}
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
# threads beside the first one, what prlimit is told
LIMITS = [
    (2, "--nofile=4:4"), (2, "--fsize=0:0"), (2, "--as=314572800:314572800"),
    (0, "--as=62914560:62914560"), (2, "--memlock=0:0"), (2, "--sigpending=0:0"),
    (2, "--stack=262144:262144"), (2, "--stack=unlimited:unlimited"),
]


def limited(*command, settings, before=(), **options):
    """With the library in the program alone, not in what sets its limits."""
    env = [f"{k}={v}" for k, v in (settings | {"LD_PRELOAD": str(library)}).items()]
    return succeeds(*before, "/usr/bin/env", *env, *command, preload=None, settings=INERT, **options)


for settings in (INERT, EMULATE, HEAT):
    for threads, limit in LIMITS:
        limited(prog("limits"), threads, output="done\n", settings=settings,
                before=("prlimit", limit))
paths = [library.parent, pathlib.Path(prog("limits"))]
if os.geteuid() == 0 and all(p.stat().st_mode & 0o005 for path in paths
                             for p in [path, *path.parents]):
    for settings in (INERT, EMULATE, HEAT):
        limited(prog("limits"), output="done\n", settings=settings,
                before=(*AS_NOBODY, "prlimit", "--nproc=1:1"))

# Without a timer, software events of the kernel bring the ticks.
out = fresh()
LIMIT, FILTER = ["prlimit", "--sigpending=0:0"], [prog("process"), "refuse-timer", "EPERM"]
# beyond that limit the kernel does not say who has sent a signal, or refuses it: not for all victims
WAYS = [(LIMIT, [("process", "alone"), ("threads", "some"), ("crowd", "start")])]
if run(*FILTER, "/bin/true", preload=None, settings=INERT).returncode == SKIPPED:
    print("skipped: no system-call filters here")
else:
    WAYS.append((FILTER, [("process", "alone"), ("process", "fork"), ("threads", "stacks"),
                          ("signals", "own"), ("signals", "wait"), ("signals", "blocked"),
                          ("blocking", 1000)]))
for number, (before, victims) in enumerate(WAYS):
    for threads in (0, 2):
        limited(prog("limits"), threads, before=before, output="done\n",
                settings=EMULATE | {"NVM_OUT": f"{out}/{number}-{threads}.json"})
    for name, what in victims:
        limited(prog(name), what, before=before, settings=EMULATE)
for report in reports(out):
    check_sums(report)
    assert report["emulated"] == "yes", report
    assert "software event" in report["sources"]["timer"], report["sources"]
    for thread in report["threads"]:
        assert thread["samples"]["taken"] > 0, thread
assert len(reports(out)) == 2 * len(WAYS), os.listdir(out)
