"""The benchmarks of births and deaths, for seconds only: nothing leaks or goes wrong, and the table of
costs has its rows. Arguments: the build directory, the library."""

import os
import sys
import types

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench"))

import common  # noqa: E402

common.BUILD, common.LIBRARY = sys.argv[1:3]

import soak  # noqa: E402
import spawn  # noqa: E402

targets = common.Targets()
soak.run(types.SimpleNamespace(seconds=8, seed=1), targets)
assert targets.met == targets.total == 6, (targets.met, targets.total)

# costs: the rows are there; how long anything takes is no matter for a test
table = spawn.run(types.SimpleNamespace(pairs=1, rounds=2), common.Targets())
assert len(table.rows) == 2 * len(spawn.SIZES), table.rows
assert all(row[2] > 0 and row[3] > 0 for row in table.rows), table.rows
assert spawn.within(1, 2.8) and not spawn.within(1, 2.81)
