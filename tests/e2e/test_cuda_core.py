"""cuda.core, as PyPI has it, on the simulated driver: the programs of the GPU tests, bare and recorded."""

import collections
import os
import subprocess
import sys
import unittest

from harness import FINDINGS, Case

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = os.path.join(ROOT, "tests", "gpu", "programs")
# Where `./dev test` installs it for this Python.
PACKAGES = os.path.join(ROOT, "build", "python-packages", "cp{}{}".format(*sys.version_info[:2]))

GRAPHS = ("cuda_core_graphs.py", "--without", "kernel")  # kernels need a compiler
OBJECTS = ("cuda_core_objects.py",)


def installed():
    done = subprocess.run([sys.executable, "-c", "import cuda.core.graph, cuda.bindings.driver"], capture_output=True,
                          env={**os.environ, "PYTHONPATH": PACKAGES}, check=False)
    return done.returncode == 0


@unittest.skipUnless(installed(), "no cuda-core: ./dev test installs it where PyPI can be reached")
class CudaCore(Case):
    def setUp(self):
        super().setUp()
        self.environment.update(PYTHONPATH=PACKAGES, PYTHONDONTWRITEBYTECODE="1")

    def assert_lines_of(self, program):
        """Every stack of a call that the program's own Python led to names a line of it."""
        path = os.path.join(PROGRAMS, program[0])
        report, _ = self.report()
        stacks = [site["stack"] for finding in report["findings"] for site in finding["sites"] if site.get("stack")]
        self.assertTrue(stacks)
        for stack in stacks:
            self.assertTrue([frame for frame in stack if frame.get("file") == path and frame["line"] > 0], stack)

    def record_both(self, program):
        """Bare and recorded, it prints the same; returns the trace and how many findings of each rule the report has."""
        command = [sys.executable, os.path.join(PROGRAMS, program[0]), *program[1:]]
        bare = self.run_program(*command)
        self.assertEqual(bare.returncode, 0, bare.stdout + bare.stderr)
        self.assertNotIn("FAILED", bare.stdout)
        recorded = self.record(*command)
        self.assertEqual((recorded.returncode, recorded.stdout), (0, bare.stdout), recorded.stderr)
        trace = self.open_trace()
        self.assert_complete(trace)
        report, status = self.report()
        self.assertEqual(status, FINDINGS)
        return trace, collections.Counter(finding["rule"] for finding in report["findings"]), report

    def assert_ledger_agrees(self, report):
        ledger = report["trace"]["ledger"]
        self.assertGreater(ledger["predicted"], 0)
        self.assertEqual(ledger["agreed"], ledger["predicted"])

    def test_graphs_keep_what_they_leave_at_exit(self):
        trace, rules, report = self.record_both(GRAPHS)
        # What the program leaves on purpose: a buffer's memory, and payloads of a definition and of its executable graph.
        self.assertLessEqual({"user-object-leak", "allocation-leak"}, set(rules), rules)
        self.assertGreater(trace.one("SELECT count(*) FROM outstanding_payloads"), 0)
        self.assert_ledger_agrees(report)
        self.assert_lines_of(GRAPHS)

    def test_objects_are_accounted_for(self):
        trace, rules, report = self.record_both(OBJECTS)
        self.assertIn("user-object-leak", rules)
        self.assertEqual(rules["failed-free"], 0, rules)
        calls = collections.Counter(trace.calls())
        # Made and destroyed again, but for the one of each that is left over on purpose.
        for make, destroy in (("cuEventCreate", "cuEventDestroy"), ("cuStreamCreateWithPriority", "cuStreamDestroy"),
                              ("cuMemPoolCreate", "cuMemPoolDestroy")):
            self.assertGreater(calls[make], 0, make)
            self.assertLessEqual(calls[make] - calls[destroy], 2, (make, calls[make], calls[destroy]))
        self.assert_ledger_agrees(report)
        self.assert_lines_of(OBJECTS)


if __name__ == "__main__":
    unittest.main()
