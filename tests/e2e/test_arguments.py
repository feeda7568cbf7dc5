"""`record --no-args`: what a program was told, and what it says of its own, stays out of the trace."""

import os
import unittest

from harness import LASTREF, PRELOAD, Case, workload

SECRET = "sesame-4711"


class NoArguments(Case):
    def files_with_the_secret(self, folder=None):
        found = []
        for place, _, files in os.walk(folder or self.folder):
            for name in files:
                with open(os.path.join(place, name), "rb") as file:
                    if SECRET.encode() in file.read():
                        found.append(name)
        return found

    def test_are_in_the_trace_otherwise(self):
        self.recorded(workload("way_plt"), "--token", SECRET)
        self.assertEqual(self.files_with_the_secret(), ["t.lastref"])

    def test_command_line(self):
        trace = self.recorded(workload("way_plt"), "--token", SECRET, options=["--no-args"])
        self.assert_complete(trace)
        self.assertEqual(self.files_with_the_secret(), [])
        self.assertEqual(trace.one("SELECT command_line FROM process"), f"{workload('way_plt')} '[2 arguments left out]'")
        self.assertEqual(trace.one("SELECT executable FROM process"), workload("way_plt"))

    def test_without_arguments(self):
        trace = self.recorded(workload("way_plt"), options=["--no-args"])
        self.assertEqual(trace.one("SELECT command_line FROM process"), workload("way_plt"))

    def test_children(self):
        trace = self.recorded("sh", "-c", f"{workload('way_plt')} {SECRET}; exec {workload('way_plt')} {SECRET}", options=["--no-args"])
        self.assertEqual(len(trace.processes()), 2)
        self.assertEqual(self.files_with_the_secret(), [])

    def test_name_that_holds_it(self):
        # A program may be called by any name, and may write its title over its arguments.
        trace = self.recorded("bash", "-c", f"exec -a {SECRET} {workload('way_plt')}", options=["--no-args"])
        self.assertEqual(trace.one("SELECT command_line FROM process"), workload("way_plt"))
        self.assertEqual(self.files_with_the_secret(), [])

    def test_neither_are_they_in_a_spool(self):
        spools = self.path("spools", folder=True)
        done = self.run_program(workload("way_plt"), SECRET,
                                env={"LD_PRELOAD": PRELOAD, "LASTREF_SPOOL_DIR": spools, "LASTREF_ARGS": "off"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(os.listdir(spools)), 1)
        self.assertEqual(self.files_with_the_secret(), [])

    def test_a_slip_of_the_pen_leaves_them_out(self):
        done = self.record(workload("way_plt"), SECRET, env={"LASTREF_ARGS": "of"})
        self.assertIn("LASTREF_ARGS", done.stderr)
        self.assertEqual(self.files_with_the_secret(), [])

    def test_check_and_reports(self):
        self.lastref("check", "--no-args", "-o", self.trace, "--save", f"html={self.path('r.html')}", "--save",
                     f"json={self.path('r.json')}", "--", workload("way_plt"), SECRET)
        self.assertTrue(os.path.exists(self.path("r.json")))
        self.assertEqual(self.files_with_the_secret(), [])

    @unittest.skipUnless(os.path.exists(workload("nvtx")), "no headers of NVTX 3")
    def test_nvtx(self):
        self.assertEqual(self.record(workload("nvtx"), "domains", options=["--no-args"]).returncode, 0)
        trace = self.open_trace()
        self.assertEqual(trace.column("SELECT kind FROM nvtx_range ORDER BY id"), ["push", "push", "start"])
        for table in ("nvtx_range", "nvtx_mark"):
            self.assertEqual(trace.column(f"SELECT count(*) FROM {table} WHERE message IS NOT NULL OR payload IS NOT NULL"), [0])
        self.assertEqual(trace.column("SELECT DISTINCT domain FROM nvtx_range WHERE domain IS NOT NULL"), ["trainer"])

    @unittest.skipUnless(os.path.exists(workload("nvtx")), "no headers of NVTX 3")
    def test_names_stay(self):
        self.assertEqual(self.record(workload("nvtx"), "resources", options=["--no-args"]).returncode, 0)
        self.assertIn("copy", self.open_trace().column("SELECT name FROM nvtx_name"))

    def test_nothing_else_is_missing(self):
        full = self.recorded(workload("user_objects")).calls()
        self.assertEqual(self.lastref("record", "--no-args", "-o", self.path("less.lastref"), "--",
                                      workload("user_objects")).returncode, 0)
        self.assertEqual(self.open_trace(self.path("less.lastref")).calls(), full)


class Help(Case):
    def test_is_told(self):
        for command in ("record", "check"):
            self.assertIn("--no-args", self.run_program(LASTREF, command, "--help").stdout)
