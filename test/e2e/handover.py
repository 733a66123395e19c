"""Threads that depend on each other: same results, and delay served before what it must precede."""
import os

from sums import check_sums
from victim import EMULATE, INERT, fresh, prog, reports, run, succeeds

SLOW = EMULATE | {"NVM_RLAT": "300", "NVM_WLAT": "400"}


def told(*command, settings=SLOW, **options):
    """What it prints, and its report."""
    out = fresh()
    done = succeeds(*command, settings=settings | {"NVM_OUT": f"{out}/r.json"}, **options)
    report, = reports(out)
    check_sums(report)
    return done.stdout, report["totals"]


# within the calls that let others go on, and nowhere else
inside, totals = told(prog("sync"), "where")
assert totals["handovers"] > 100, totals
assert totals["delay_handover_ns"] > totals["delay_paid_ns"] / 2, totals
assert int(inside) >= totals["delay_handover_ns"] * 0.8, (inside, totals)
for settings in (SLOW | {"NVM_HANDOVER": "off"}, SLOW | {"NVM_INJECT": "off"}):
    inside, totals = told(prog("sync"), "where", settings=settings)
    assert totals["handovers"] == 0 and totals["delay_handover_ns"] == 0, totals

# a process that never had a second thread lets nobody go on: ticks serve all of it
_, totals = told(prog("sync"), "alone")
assert totals["handovers"] == 0 and totals["delay_paid_ns"] == totals["delay_owed_ns"] > 0, totals

# results
for what in ("results", "sum", "cancel", "handler", "jump"):
    succeeds(prog("sync"), what, settings=INERT, output="")
    _, totals = told(prog("sync"), what, output="")
    # a jump out of a hook must not leave the thread without samples
    assert what != "jump" or totals["handovers"] > 50, totals
for name, output in (("sync_cxx", "44850 100\n"), ("openmp", "19900 130\n")):
    if os.path.exists(prog(name)):
        told(prog(name), output=output)
        told(prog(name), output=output, settings=SLOW | {"NVM_HANDOVER": "io", "NVM_EPOCH": "1ms"})
    else:
        print("skipped: not built:", name)

# reads and writes, in shells' pipes too
io = SLOW | {"NVM_HANDOVER": "io"}
succeeds("sh", "-c", "seq 100000 | sort -R | sort -n | md5sum", settings=io,
         output=run("sh", "-c", "seq 100000 | md5sum", preload=None, settings=INERT).stdout)
