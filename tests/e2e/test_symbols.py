"""Symbols kept in the trace: reports name functions and lines where the programs are gone."""

import os
import shutil

from harness import CLEAN, USAGE, Case, workload


class Symbols(Case):
    def setUp(self):
        super().setUp()
        self.program = self.path("program")
        shutil.copy(workload("demo"), self.program)

    def recorded_with(self, *options):
        done = self.record(self.program, options=options)
        self.assertGreaterEqual(done.returncode, 0)
        return done

    def own_frames(self):
        """(function, file, line) of the program's frames in all findings."""
        report, _ = self.report()
        frames = [frame for finding in report["findings"] for site in finding["sites"] for frame in site.get("stack", [])
                  if frame.get("module") == self.program]
        self.assertTrue(frames)
        return [(frame.get("function"), frame.get("file"), frame.get("line")) for frame in frames]

    def assert_named(self, frames):
        named = [frame for frame in frames if frame[0] and frame[2]]
        self.assertGreater(len(named), len(frames) / 2, frames)
        self.assertTrue(any("payloads.cpp" in frame[1] for frame in named), named)

    def test_now(self):
        self.recorded_with("--symbols=now")
        before = self.own_frames()
        self.assert_named(before)
        os.remove(self.program)
        self.assertEqual(self.own_frames(), before)
        trace = self.open_trace()
        self.assertEqual(trace.rows("PRAGMA foreign_key_check"), [])
        self.assertGreater(trace.one("SELECT count(*) FROM symbol JOIN symbol_file ON id = file WHERE path = ? AND line > 0",
                                     self.program), 0)

    def test_later(self):
        self.recorded_with()
        before = self.own_frames()
        done = self.lastref("symbolize", self.trace)
        self.assertEqual(done.returncode, CLEAN, done.stderr)
        self.assert_one_line(done.stderr, "names of", "kept")
        again = self.lastref("symbolize", self.trace)
        self.assertEqual((again.returncode, again.stderr), (CLEAN, done.stderr))
        os.remove(self.program)
        self.assertEqual(self.own_frames(), before)
        self.assert_named(before)

    def test_nothing_was_kept(self):
        self.recorded_with()
        os.remove(self.program)
        self.assertEqual([frame[0] for frame in self.own_frames() if frame[0]], [])
        self.assertEqual(self.lastref("symbolize", self.trace).returncode, CLEAN)
        self.assertEqual([frame[0] for frame in self.own_frames() if frame[0]], [])

    def test_rebuilt_since(self):
        """Another file of the same name is not believed, and what was kept stays."""
        self.recorded_with("--symbols=now")
        before = self.own_frames()
        shutil.copy(workload("capture"), self.program)
        self.assertEqual(self.own_frames(), before)
        done = self.lastref("symbolize", self.trace)
        self.assert_one_line(done.stderr, "not there as recorded", self.program)
        self.assertEqual(self.own_frames(), before)

    def test_off(self):
        self.recorded_with("--symbols=off")
        self.assertEqual([frame[0] for frame in self.own_frames() if frame[0]], [])
        self.assertEqual(self.lastref("symbolize", self.trace).returncode, CLEAN)
        self.assert_named(self.own_frames())

    def test_callbacks_by_name(self):
        """The destructor that never ran is named, though no stack leads through it; also where the program is gone."""
        self.recorded_with("--symbols=now")
        for gone in (False, True):
            if gone:
                os.remove(self.program)
            report, _ = self.report()
            leaks = [f for f in report["findings"] if f["rule"] == "user-object-leak"]
            self.assertTrue(leaks)
            for leak in leaks:
                self.assertRegex(leak["what"][0], r"its destructor [\w:() ]*destroy_payload\S* never ran")

    def test_all_frames(self):
        self.recorded_with()
        folded = self.lastref("report", self.trace).stdout
        whole = self.lastref("report", self.trace, "--all-frames").stdout
        self.assertNotIn("__libc_start_main", folded)
        self.assertIn("__libc_start_main", whole)
        self.assertGreater(len(whole.splitlines()), len(folded.splitlines()))

    def test_what_is_no_trace(self):
        self.assertEqual(self.lastref("symbolize", self.path("nothing.lastref")).returncode, USAGE)
        with open(self.trace, "w", encoding="ascii") as file:
            file.write("no trace")
        done = self.lastref("symbolize", self.trace)
        self.assertGreater(done.returncode, 0)
        self.assert_one_line(done.stderr, self.trace)
        with open(self.trace, encoding="ascii") as file:
            self.assertEqual(file.read(), "no trace")
