"""Ranges of the program: marked through liblastref.so, recorded, and tied to what happened in them."""

import os
import sys

from harness import PRELOAD, Case

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "programs", "ranges.py")


class Ranges(Case):
    def ranges(self, what, complete=True):
        trace = self.recorded(sys.executable, PROGRAM, what)
        if complete:
            self.assert_complete(trace)
        return trace

    def allocations_in(self, trace, name):
        return trace.one(
            "SELECT count(*) FROM event e JOIN api a ON a.id = e.api, range r WHERE a.name = 'cuMemAlloc' AND r.name = ?"
            " AND e.id > r.begin_event AND e.id <= coalesce(r.end_event, e.id)", name)

    def test_nested(self):
        trace = self.ranges("nested")
        self.assertEqual(trace.column("SELECT name FROM range ORDER BY id"), ["outer", "inner", "never ended"])
        self.assertEqual([self.allocations_in(trace, name) for name in ("outer", "inner", "never ended")], [2, 1, 1])
        self.assertEqual(trace.one("SELECT begin_event FROM range WHERE name = 'outer'"), 0)
        self.assertEqual(trace.column("SELECT name FROM range WHERE end IS NULL"), ["never ended"])
        self.assertEqual(trace.rows("SELECT * FROM range WHERE end < begin OR end_event < begin_event"), [])

    def test_overlapping(self):
        trace = self.ranges("overlapping")
        self.assertEqual([self.allocations_in(trace, name) for name in ("first", "second")], [1, 2])

    def test_names(self):
        trace = self.ranges("names")
        got = trace.column("SELECT CAST(name AS BLOB) FROM range ORDER BY id")
        self.assertEqual(got, [b"x" * 1000, b"\xff\x1b[31m\n", "é".encode() * 20, b"y" * 40, b"y" * 41])

    def test_many(self):
        trace = self.ranges("many")
        self.assertEqual(trace.one("SELECT count(*) FROM range WHERE end IS NOT NULL"), 3064)

    def test_forked_child_has_them_too(self):
        trace = self.ranges("forked", complete=False)
        (parent, child) = trace.column("SELECT id FROM process ORDER BY id")
        self.assertEqual(trace.column("SELECT name FROM range WHERE process = ?", parent), ["around"])
        self.assertEqual(trace.column("SELECT name FROM range WHERE process = ?", child), ["around", "in the child"])

    def test_no_trace_for_their_sake(self):
        trace = self.ranges("without_driver", complete=False)
        self.assertEqual(trace.rows("SELECT * FROM process"), [])

    def test_out_of_a_spool(self):
        spools = self.path("spools", folder=True)
        done = self.run_program(sys.executable, PROGRAM, "nested", env={"LD_PRELOAD": PRELOAD, "LASTREF_SPOOL_DIR": spools})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.listdir(spools))
        self.assertEqual(self.lastref("import", spools, "-o", self.trace).returncode, 0)
        self.assertEqual(self.open_trace().column("SELECT name FROM range ORDER BY id"), ["outer", "inner", "never ended"])
