"""`lastref record --audit` and `--cupti`, as far as there is no GPU: what is asked of the driver, and what is said."""

import os
import re
import sqlite3
import struct
import sys
import unittest

from harness import BUILD, INCOMPLETE, Case, workload

SHOW = 'echo "${CUDA_INJECTION64_PATH-none} ${LASTREF_CUPTI-none} ${LASTREF_DURATIONS-none}"'


HAS_LIBRARY = os.path.exists(os.path.join(BUILD, "lib", "liblastref_cupti.so"))


KILLS_ITSELF = """
import ctypes, os, signal
driver = ctypes.CDLL("libcuda.so.1")
driver.cuInit(0)
for _ in range(5):
    driver.cuCtxSynchronize()
os.kill(os.getpid(), signal.SIGKILL)
"""


class Asking(Case):
    def shown(self, *options, **environment):
        done = self.record("sh", "-c", SHOW, options=options, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split(), done.stderr

    def test_nothing_is_asked_by_default(self):
        self.assertEqual(self.shown()[0], ["none", "none", "none"])

    @unittest.skipUnless(HAS_LIBRARY, "built without CUPTI's headers")
    def test_audit_asks_the_driver_to_load_the_counting_library(self):
        library, what, durations = self.shown("--audit")[0]
        self.assertEqual(os.path.basename(library), "liblastref_cupti.so")
        self.assertEqual((what, durations), ("audit", "none"))

    @unittest.skipUnless(HAS_LIBRARY, "built without CUPTI's headers")
    def test_cupti_asks_for_activities_and_for_both_stamps(self):
        library, what, durations = self.shown("--cupti")[0]
        self.assertTrue(os.access(library, os.R_OK))
        self.assertEqual((what, durations), ("activities", "all"))

    def test_another_injected_tool_keeps_its_place(self):
        shown, told = self.shown("--cupti", CUDA_INJECTION64_PATH="/somebody/else.so")
        self.assertEqual(shown, ["/somebody/else.so", "none", "none"])
        self.assertIn("names another tool already; recording goes on without CUPTI", told)


class Telling(Case):
    """A trace with counts, as a machine with a GPU gives it: CUPTI's rows are added to a recorded one."""

    def count_calls(self, missed=0):
        self.recorded(workload("user_objects"))
        with sqlite3.connect(self.trace) as trace:
            trace.execute("""INSERT INTO cupti_call SELECT thread.process, api.symbol, count(*), 0 FROM event
                             JOIN thread ON thread.id = event.thread JOIN api ON api.id = event.api
                             WHERE api.symbol GLOB 'cu*' GROUP BY 1, 2""")
            trace.execute("INSERT INTO cupti_call SELECT id, 'cuDeviceGetCount', 3, 0 FROM process")
            trace.execute("UPDATE cupti_call SET calls = calls + ? WHERE symbol = 'cuGraphDestroy'", [missed])
        trace.close()

    def test_all_seen(self):
        self.count_calls()
        text = " ".join(self.lastref("report", self.trace).stdout.split())
        self.assertTrue(re.search(r"By CUPTI's count all [\d,]+ calls of \d+ entry points were seen\. "
                                  r"Not recorded by design: cuDeviceGetCount 3 ×\.", text), text)
        audit = self.report()[0]["trace"]["audit"]
        self.assertEqual((audit["missed"], audit["outside"]), ({}, {"cuDeviceGetCount": 3}))
        self.assertGreater(audit["calls"], 10)

    def test_what_was_missed_makes_the_trace_incomplete(self):
        self.count_calls(missed=2)
        report, status = self.report(None, "--fail-on", "allocation-leak")
        self.assertEqual(status, INCOMPLETE)
        self.assertEqual(report["trace"]["audit"]["missed"], {"cuGraphDestroy": 2})
        self.assertIn("CUPTI counted calls that were not recorded: cuGraphDestroy 2 ×.", " ".join(report["trace"]["incomplete"]))


@unittest.skipUnless(HAS_LIBRARY, "built without CUPTI's headers")
class Counting(Case):
    """With the simulated driver, which loads the counting library as the real one does, and the simulated CUPTI beside it."""

    def audit(self, *command, trace=None, **more):
        done = self.record(*command, options=("--audit",), trace=trace, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return self.report(trace)[0]["trace"].get("audit"), done.stderr

    def test_every_way_into_the_driver_is_seen(self):
        for name in ("way_plt", "way_plt_per_thread", "way_dlsym", "way_get_proc_address", "user_objects", "fork_child"):
            with self.subTest(name):
                audit, _ = self.audit(workload(name), trace=self.path(name + ".lastref"))
                self.assertGreater(audit["calls"], 10)
                self.assertEqual((audit["missed"], audit["missed_from"]), ({}, {}))
                self.assertTrue(audit["outside"])

    def test_calls_past_the_hooks_are_counted_with_their_module(self):
        # The storm calls the driver past every hook too, by the addresses in the driver's own table.
        audit, _ = self.audit(os.path.join(BUILD, "bin", "bench", "storm"), "--workloads", "objects", "--threads", "2",
                              "--repetitions", "1", "--scale", "0.01")
        self.assertEqual(set(audit["missed"]), {"cuStreamSynchronize", "cuUserObjectCreate", "cuUserObjectRelease"})
        for symbol, callers in audit["missed_from"].items():
            self.assertEqual([os.path.basename(path) for path in callers], ["storm"], symbol)
        text = " ".join(self.lastref("report", self.trace).stdout.split())
        self.assertRegex(text, r"CUPTI counted calls that were not recorded: cuStreamSynchronize \d+ × from storm, ")

    def test_where_another_tool_has_subscribed_one_line_says_so(self):
        audit, told = self.audit(workload("user_objects"), env={"LASTREF_SIM_CUPTI": "taken"})
        self.assertIsNone(audit)
        self.assertEqual(told.count("another tool uses it already; recording goes on without it"), 1)
        self.assertIn("CUPTI counted nothing: another tool uses it already", self.lastref("report", self.trace).stdout)

    def test_without_activities_calls_are_counted_all_the_same(self):
        done = self.record(workload("user_objects"), options=("--cupti",))
        self.assertIn("its activities cannot be had; recording goes on without it", done.stderr)
        self.assertEqual(self.report()[0]["trace"]["audit"]["missed"], {})

    def test_a_program_that_kills_itself_leaves_its_counts(self):
        done = self.record(sys.executable, "-c", KILLS_ITSELF, options=("--audit",))
        self.assertNotEqual(done.returncode, 0)
        self.assertGreater(self.report()[0]["trace"]["audit"]["calls"], 5)


class LeftOver(Case):
    def test_a_file_that_is_none_does_no_harm(self):
        folder = self.path("spools", folder=True)
        with open(os.path.join(folder, "1-1.cupti"), "wb") as file:
            file.write(struct.pack("<QII", 0x4954505543464552, 1, 0))
        self.assert_not_signalled(self.lastref("import", folder, "-o", self.trace))
