#!/usr/bin/env python3
"""Tests of compare_calls.py on traces made from schema/trace.sql."""
import json
import pathlib
import sqlite3
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import compare_calls  # noqa: E402

SYMBOLS = ["cuInit", "cuMemFree_v2", "cuMemFreeAsync", "cuMemFreeAsync_ptsz", "cuCtxGetCurrent", "callback:user_object"]


class Comparison(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.trace = sqlite3.connect(":memory:")
        self.addCleanup(self.trace.close)
        self.trace.executescript((HERE.parent.parent / "schema/trace.sql").read_text())
        self.trace.execute("INSERT INTO kind VALUES (1, 'any', 'any', 'use')")
        self.trace.execute("INSERT INTO process (id, pid, parent_pid, start_ticks, stacks, first_time, end)"
                           " VALUES (1, 77, 1, 0, 'off', 0, 'clean')")
        self.trace.execute("INSERT INTO thread VALUES (1, 1, 77, NULL, 1)")
        for number, symbol in enumerate(SYMBOLS):
            self.trace.execute("INSERT INTO api (id, symbol, name, default_stream, kind) VALUES (?, ?, ?, 'none', 1)",
                               (number, symbol, compare_calls.without_suffix(symbol)))

    def record(self, symbol, times=1, flags=0, result=0):
        row = (SYMBOLS.index(symbol), result, flags)
        for _ in range(times):
            self.trace.execute("INSERT INTO event (begin, duration, thread, api, result, stream, object, other, size,"
                               " extra, flags) VALUES (0, 1, 1, ?, ?, 0, 0, 0, 0, 0, ?)", row)

    def compare(self, calls, failed=None, pid=77, state="exit"):
        path = pathlib.Path(self.folder.name) / "counts.json"
        path.write_text(json.dumps({"pid": pid, "state": state, "calls": calls, "failed": failed or {}}))
        return compare_calls.compare(self.trace, [path])

    def test_equal_counts_agree(self):
        self.record("cuMemFree_v2", 3)
        self.record("callback:user_object", 2)
        result = self.compare({"cuMemFree_v2": 3})
        self.assertEqual(result["differences"], {})
        self.assertEqual((result["agree"], result["calls"]), (1, 3))

    def test_missed_and_surplus_calls_differ(self):
        self.record("cuMemFree_v2", 2)
        self.record("cuMemFreeAsync", 2)
        result = self.compare({"cuMemFree_v2": 3, "cuMemFreeAsync": 1})
        self.assertEqual(result["differences"], {"cuMemFree_v2": {"recorded": 2, "cupti": 3},
                                                 "cuMemFreeAsync": {"recorded": 2, "cupti": 1}})

    def test_wrong_variant_differs_by_symbol_and_agrees_by_name(self):
        self.record("cuMemFreeAsync", 2)
        result = self.compare({"cuMemFreeAsync_ptsz": 2})
        self.assertEqual(set(result["differences"]), {"cuMemFreeAsync", "cuMemFreeAsync_ptsz"})
        self.assertEqual(result["by_name"], {})

    def test_first_init_is_allowed_and_a_second_missed_one_is_not(self):
        self.record("cuInit")
        self.assertIn("cuInit", self.compare({})["allowed"])
        self.record("cuInit")
        self.assertIn("cuInit", self.compare({})["differences"])

    def test_collectors_own_calls_are_allowed_in_one_direction_only(self):
        self.record("cuCtxGetCurrent")
        self.assertIn("cuCtxGetCurrent", self.compare({"cuCtxGetCurrent": 9})["allowed"])
        self.assertIn("cuCtxGetCurrent", self.compare({})["differences"])

    def test_nested_and_late_calls_may_be_missing_in_cupti(self):
        self.record("cuMemFree_v2", 2)
        self.record("cuMemFree_v2", 1, flags=2)
        self.record("cuMemFree_v2", 4, flags=8)
        for seen in (2, 3, 7):
            self.assertEqual(self.compare({"cuMemFree_v2": seen})["differences"], {}, seen)
        for seen in (1, 8):
            self.assertIn("cuMemFree_v2", self.compare({"cuMemFree_v2": seen})["differences"], seen)

    def test_entry_points_outside_the_table_are_named(self):
        self.assertEqual(self.compare({"cuMemGetInfo_v2": 5})["outside"], {"cuMemGetInfo_v2": 5})

    def test_other_failures_are_reported(self):
        self.record("cuMemFree_v2", 1, result=1)
        self.record("cuMemFree_v2", 1, result=600)
        self.assertEqual(self.compare({"cuMemFree_v2": 2}, {"cuMemFree_v2": 1})["failed"], {})
        self.assertIn("cuMemFree_v2", self.compare({"cuMemFree_v2": 2})["failed"])

    def test_failures_of_the_collectors_own_calls_are_no_difference(self):
        self.record("cuCtxGetCurrent", 1)
        self.assertEqual(self.compare({"cuCtxGetCurrent": 3}, {"cuCtxGetCurrent": 2})["failed"], {})

    def test_processes_without_counts_are_named(self):
        self.record("cuMemFree_v2", 3)
        result = self.compare({}, pid=78, state="subscribed")
        self.assertEqual(result["uncounted_processes"], [77])
        self.assertEqual(result["unfinished_counts"], [78])
        self.assertEqual(result["differences"], {})


if __name__ == "__main__":
    unittest.main()
