"""The arithmetic of the benchmarks, with made-up figures."""

import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench")
sys.path.insert(0, BENCH)

import common  # noqa: E402
import truth  # noqa: E402
import windows  # noqa: E402


class FixedSimulation:
    dirty = 0.4

    def miss_part(self, w):
        return 2 * w / (3 + 2 * w)


def measured(**kernel):
    usual = {"name": "x", "stall_origin": "resident", "dirty_origin": "construction", "dirty": 0.5}
    m = truth.Measured(dict(usual, **kernel), None)
    m.full, m.resident = [100.0, 90.0, 110.0], [10.0, 9.0, 30.0]
    return m


class Figures(unittest.TestCase):
    def test_median_interval_of_few_values_is_their_range(self):
        self.assertEqual(common.median_interval([3, 1, 2]), (2, 1, 3))

    def test_median_interval_has_the_ranks_of_the_binomial(self):
        # known ranks of the 95 % interval: 4 and 12 of 15
        self.assertEqual(common.median_interval(list(range(1, 16))), (8, 4, 12))

    def test_targets_are_counted(self):
        targets = common.Targets()
        self.assertEqual([targets.judge(True), targets.judge(False)], ["ok", "miss"])
        self.assertEqual((targets.met, targets.total), (1, 2))

    def test_setup_is_left_out(self):
        timeline = {"cpu_ns": [10, 12, 9, 10, 10, 20], "stall_ns": [10, 10, 9, 9, 8, 16],
                    "stall_wb_ns": [9, 9, 9, 9, 2, 4]}
        # the set-up ends in the second bucket; two more are shared with it
        self.assertEqual(truth.measured_phase(timeline, 21), [30, 24, 6])
        m = measured()
        m.add(truth.measured_phase(timeline, 21))
        m.add([10, 8, 5])
        self.assertAlmostEqual(m.found_stall(), 0.8)
        self.assertAlmostEqual(m.found_dirty(), 11 / 32)

    def test_nothing_stalls(self):
        m = measured()
        m.add([200, 0, 0])
        self.assertIsNone(m.found_dirty())
        self.assertEqual(truth.judge(common.Targets(), None, 0.5), (None, "miss"))

    def test_right_stall_share(self):
        machine = truth.Machine(60, 10, 1.0)
        self.assertEqual(measured().right_stall(None, machine), (0.9, "resident"))
        share, origin = measured().right_stall(FixedSimulation(), machine)
        self.assertAlmostEqual(share, 0.9 * 0.8)
        self.assertEqual(origin, "res.+sim")
        m = measured(stall_origin="construction", stall=0.0)
        self.assertEqual(m.right_stall(None, machine), (0.0, "construction"))
        m = measured(stall_origin="latency")
        m.step_ns = [10, 35, 60]  # none, half and all of the steps miss
        self.assertAlmostEqual(m.right_stall(None, machine)[0], 30 / 35)

    def test_share_of_misses_in_a_chase_of_two_latencies(self):
        machine = truth.Machine(100, 20, 1.0)
        self.assertEqual([machine.miss_time_share(t) for t in (19, 20, 60, 100, 101)],
                         [0, 0, 50 / 60, 1, 1])

    def test_part_of_the_llc(self):
        # a read costs 10 or, where it hits, 2; ours is a quarter
        self.assertAlmostEqual(truth.llc_part(2, 10 - 8 / 4, 10 - 8 / 32), 0.25)
        self.assertAlmostEqual(truth.llc_part(2, 2, 9), 1.0)
        self.assertAlmostEqual(truth.llc_part(2, 10, 10), 1 / truth.WAYS)

    def test_right_dirty_fraction(self):
        self.assertEqual(measured().right_dirty(None), (0.5, "construction"))
        m = measured(dirty_origin="callgrind")
        self.assertEqual(m.right_dirty(FixedSimulation()), (0.4, "callgrind"))
        m = measured(dirty_origin="counted")
        m.results = [{"writes": 10, "steps": 50}, {"writes": 30, "steps": 50}]
        self.assertAlmostEqual(m.right_dirty(None)[0], 0.4)

    def test_tolerance(self):
        targets = common.Targets()
        self.assertEqual(truth.judge(targets, 0.529, 0.5)[1], "ok")
        self.assertEqual(truth.judge(targets, 0.469, 0.5)[1], "miss")

    def test_windows_without_system_calls(self):
        report = {"totals": {"windows": {"steps": 900, "limits": 2000, "syscall_steps": 100,
                                         "syscall_limits": 1000}}}
        self.assertAlmostEqual(windows.without_syscalls([report]), 80.0)
        del report["totals"]["windows"]["syscall_steps"]
        self.assertIsNone(windows.without_syscalls([report]))

    def test_a_process_that_was_not_emulated_is_an_error(self):
        with common.scratch() as folder:
            with self.assertRaises(common.Failure):
                common.read_reports(folder)
            with open(os.path.join(folder, "1.json"), "w", encoding="ascii") as f:
                f.write('{"emulated": "no", "why_not": "no timer"}')
            with self.assertRaisesRegex(common.Failure, "no timer"):
                common.read_reports(folder)

    def test_unknown_benchmark(self):
        done = subprocess.run([os.path.join(BENCH, "run"), "nonsense"], capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"truth", done.stderr)


if __name__ == "__main__":
    unittest.main()
