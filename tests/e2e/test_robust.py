"""What unusual programs do to an injected library, and it to them: nothing. Calls are counted, on the null driver."""

import os
import re

from harness import BUILD, Case, workload

NULL_DRIVER = {"LD_LIBRARY_PATH": os.path.join(BUILD, "lib", "nulldriver")}


class Robust(Case):
    def run_both(self, command):
        """The bare output, and the trace of a recorded run that printed the same."""
        bare = self.run_program(workload("robust"), command, env=NULL_DRIVER)
        self.assertEqual(bare.returncode, 0, bare.stdout + bare.stderr)
        done = self.record(workload("robust"), command, env=NULL_DRIVER)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.said = done.stdout
        return bare.stdout, self.open_trace()

    def recorded_calls(self, trace, process=None):
        return trace.calls(process).count("cuStreamQuery")

    def calls_said(self):
        return int(re.search(r"^calls (\d+)$", self.said, re.M).group(1))

    def test_fork_without_handlers(self):
        bare, trace = self.run_both("raw_fork")
        self.assertEqual(self.said, bare)
        parent, child = sorted(trace.processes(), key=lambda p: p["pid"] in [q["parent_pid"] for q in trace.processes()],
                               reverse=True)
        self.assertEqual(child["parent_pid"], parent["pid"])
        self.assertEqual(self.recorded_calls(trace, parent["id"]), 8000)
        self.assertEqual(self.recorded_calls(trace, child["id"]), 2000)

    def test_signal_handlers_that_call(self):
        # Handlers that interrupt the writing of a record lose their own, and are counted.
        _, trace = self.run_both("signals")
        dropped = trace.losses().pop("records_dropped", 0)
        self.assertEqual(self.recorded_calls(trace) + dropped, self.calls_said())
        self.assertLess(dropped, 2000)
        self.assertEqual(set(trace.losses()) - {"records_dropped"}, set())

    def test_calls_at_the_end_of_threads(self):
        bare, trace = self.run_both("late")
        self.assertEqual(self.said, bare)
        self.assertEqual(self.recorded_calls(trace), self.calls_said())
        self.assert_complete(trace)

    def test_closed_descriptors(self):
        bare, trace = self.run_both("descriptors")
        self.assertEqual(self.said, bare)
        self.assertIn("innocent file 0 bytes", self.said)
        self.assertEqual(self.recorded_calls(trace), self.calls_said())
        self.assert_complete(trace)

    def test_errno(self):
        bare, _ = self.run_both("errors")
        self.assertEqual(self.said, bare)

    def test_dlerror(self):
        bare = self.run_program(workload("robust"), "lookups", env=NULL_DRIVER)
        done = self.record(workload("robust"), "lookups", env=NULL_DRIVER)
        self.assertEqual(done.stdout, bare.stdout)

    def test_crowd_of_threads(self):
        bare, trace = self.run_both("crowd")
        self.assertEqual(self.said, bare)
        self.assertEqual(self.recorded_calls(trace), self.calls_said())
        self.assert_complete(trace)
