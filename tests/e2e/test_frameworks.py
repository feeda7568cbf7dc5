"""Real suites of pytest and GoogleTest under lastref: the tests that left something are named, and no others."""

import json
import os
import subprocess
import sys
import unittest
import xml.etree.ElementTree

from harness import BUILD, CLEAN, FINDINGS, LASTREF, USAGE, Case, workload

HERE = os.path.dirname(os.path.abspath(__file__))
SUITE = os.path.join(HERE, "programs", "pytest_suite", "test_memory.py")
PLUGIN = os.path.join(BUILD, "share", "lastref", "pytest")


def python_with_pytest():
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", "import pytest"], capture_output=True, check=False).returncode == 0:
            return python
    return None


PYTHON = python_with_pytest()


@unittest.skipUnless(PYTHON, "needs pytest (python3-pytest)")
class Pytest(Case):
    LEFT = {"test_left": 200, "test_left_if_odd[301]": 301}

    def setUp(self):
        super().setUp()
        self.environment.update(PYTHONPATH=PLUGIN, PYTHONDONTWRITEBYTECODE="1", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
        self.command = [PYTHON, "-m", "pytest", "-p", "lastref_pytest", "-p", "no:cacheprovider", "--rootdir", os.path.dirname(SUITE), SUITE]

    def left(self, report):
        return {each["range"].split("::")[-1]: sum(left["bytes"] for left in each["left"]) for each in report["by_range"]}

    def test_each_test_is_a_range(self):
        trace = self.recorded(*self.command)
        names = [name.split("::")[-1] for name in trace.column("SELECT name FROM range ORDER BY id")]
        self.assertEqual(names, ["test_freed_by_its_fixture", "test_freed_by_a_later_teardown", "test_left", "test_left_if_odd[300]",
                                 "test_left_if_odd[301]", "test_failing"])
        report, status = self.report(self.trace)
        self.assertEqual((self.left(report), status), (self.LEFT, FINDINGS))

    def test_check_by_range(self):
        done = self.lastref("check", "--by-range", "--", *self.command)
        self.assertEqual(done.returncode, FINDINGS, done.stderr)
        self.assertIn("By range: 2 of 6 ranges left something", done.stderr)
        self.assertIn("test_memory.py::test_left\n", done.stderr)

    def test_the_plugin_fails_the_tests_that_left_something(self):
        done = self.run_program(*self.command, "--lastref", "--lastref-program", LASTREF)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("5 passed, 1 skipped", done.stdout)
        failed = [line.split(" - ")[0].split("::")[-1] for line in done.stdout.splitlines() if line.startswith("FAILED test_memory")]
        self.assertEqual(sorted(failed), sorted(self.LEFT))
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_with_a_threshold_of_ones_own(self):
        """What a library never frees anywhere may be a pool, and is a note; and without Python frames every call of a Python
        program comes out of a library."""
        left = (*self.command, "-k", "test_left and not odd", "--lastref", "--lastref-program", LASTREF,
                "--lastref-report=--fail-on warning")
        self.assertEqual(self.run_program(*left).returncode, 1)
        done = self.run_program(*left, env={"LASTREF_PYTHON_FRAMES": "0"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("note ", done.stdout)

    def test_the_plugin_passes_what_leaves_nothing(self):
        done = self.run_program(*self.command, "-k", "fixture or teardown", "--lastref", "--lastref-program", LASTREF)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("lastref: clean", done.stdout)

    def test_options_of_record_and_report(self):
        suppressions = self.path("s.txt")
        with open(suppressions, "w", encoding="utf-8") as file:
            file.write("allocation-leak:test_left$\nallocation-leak:test_left_if_odd\n")
        report = self.path("r.json")
        done = self.run_program(*self.command, "--lastref", "--lastref-program", LASTREF, "--lastref-trace", self.trace,
                                "--lastref-record=--stacks all", f"--lastref-report=--suppressions {suppressions} --save json={report}")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.open_trace().column("SELECT stacks FROM process"), ["all"])
        with open(report, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["by_range"], [])
        done = self.run_program(*self.command, "--lastref", "--lastref-program", LASTREF, "--lastref-report=--fail-on nonsense")
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)

    def test_the_tests_own_failure_comes_first(self):
        done = self.run_program(*self.command, "-k", "failing", "--lastref", "--lastref-program", LASTREF, env={"FAILING": "1"})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("1 failed", done.stdout)
        done = self.run_program(*self.command, "-k", "no_such_test", "--lastref", "--lastref-program", LASTREF)
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)

    def test_without_lastref(self):
        done = self.run_program(*self.command)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = self.run_program(*self.command, "--lastref", env={"PATH": "/nowhere"})
        self.assertEqual(done.returncode, USAGE * 2, done.stdout + done.stderr)  # pytest's 4: wrong use
        self.assertIn("there is no program lastref in the path", done.stderr)


def has_xdist():
    return PYTHON and subprocess.run([PYTHON, "-c", "import xdist"], capture_output=True, check=False).returncode == 0


@unittest.skipUnless(has_xdist(), "needs pytest-xdist (python3-pytest-xdist)")
class PytestOnSeveralWorkers(Case):
    """Workers of pytest-xdist are processes of the run: each is recorded, and each test is a range of its own worker."""
    LEFT = Pytest.LEFT

    def setUp(self):
        super().setUp()
        self.environment.update(PYTHONPATH=PLUGIN, PYTHONDONTWRITEBYTECODE="1", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
        self.command = [PYTHON, "-m", "pytest", "-p", "lastref_pytest", "-p", "xdist.plugin", "-p", "no:cacheprovider", "-n", "2",
                        "--rootdir", os.path.dirname(SUITE), SUITE]

    def test_each_test_is_a_range_of_its_worker(self):
        trace = self.recorded(*self.command)
        self.assertLessEqual(trace.losses().keys(), {"stacks_cut"})
        self.assertEqual(trace.column("SELECT end FROM process WHERE id IN (SELECT process FROM range)"), ["clean", "clean"])
        names = [name.split("::")[-1] for name in trace.column("SELECT name FROM range ORDER BY name")]
        self.assertEqual(names, ["test_failing", "test_freed_by_a_later_teardown", "test_freed_by_its_fixture", "test_left",
                                 "test_left_if_odd[300]", "test_left_if_odd[301]"])
        # Whether the same place frees elsewhere, and so what weight it has, depends on which worker ran which test.
        report, _ = self.report(self.trace)
        left = {each["range"].split("::")[-1]: sum(left["bytes"] for left in each["left"]) for each in report["by_range"]}
        self.assertEqual(left, self.LEFT)
        workers = {each["pid"] for each in report["by_range"]}
        self.assertLessEqual(workers, {process["pid"] for process in report["trace"]["processes"]})

    def test_the_plugin_fails_the_tests_that_left_something(self):
        done = self.run_program(*self.command, "--lastref", "--lastref-program", LASTREF)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("5 passed, 1 skipped", done.stdout)
        failed = [line.split(" - ")[0].split("::")[-1] for line in done.stdout.splitlines() if line.startswith("FAILED test_memory")]
        self.assertEqual(sorted(failed), sorted(self.LEFT))
        self.assertNotIn("INCOMPLETE", done.stdout)

    def test_the_plugin_passes_what_leaves_nothing(self):
        done = self.run_program(*self.command, "-k", "fixture or teardown", "--lastref", "--lastref-program", LASTREF)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("lastref: clean", done.stdout)

    def test_every_test_on_each_worker(self):
        done = self.run_program(*self.command, "--dist", "each", "-k", "test_left and not odd", "--lastref", "--lastref-program", LASTREF)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("\nFAILED test_memory.py::test_left - left behind"), 2, done.stdout)

    def test_a_worker_that_dies_is_never_a_clean_run(self):
        suite = self.path("test_dying.py")
        with open(suite, "w", encoding="utf-8") as file:
            file.write("import ctypes, os\n\ndef test_dying():\n    ctypes.CDLL('libcuda.so.1').cuInit(0)\n    os._exit(0)\n")
        done = self.run_program(*self.command[:-3], "--rootdir", self.folder, suite, "--lastref", "--lastref-program", LASTREF)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("INCOMPLETE", done.stdout)

    def test_the_workers_alone_do_not_record(self):
        """Without a recording around it, a worker runs its tests and starts nothing of its own."""
        done = self.run_program(*self.command, "-k", "fixture")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("1 passed", done.stdout)


class GoogleTest(Case):
    LEFT = {"memory.is_left": 200, "memory.is_left_by_a_thread": 400, "sizes/memory_of_size.is_left_if_odd/1": 1001}

    def test_each_test_is_a_range(self):
        trace = self.recorded(workload("googletest"))
        self.assert_complete(trace)
        self.assertEqual(trace.one("SELECT count(*) FROM range WHERE end IS NOT NULL"), 8)
        report, status = self.report(self.trace)
        left = {each["range"]: sum(left["bytes"] for left in each["left"]) for each in report["by_range"]}
        self.assertEqual((left, status), (self.LEFT, FINDINGS))

    def test_in_junit(self):
        self.recorded(workload("googletest"))
        done = self.lastref("report", self.trace, "--format", "junit")
        cases = xml.etree.ElementTree.fromstring(done.stdout).iter("testcase")
        failed = {case.get("name"): case.find("failure") is not None for case in cases if case.get("classname") == "lastref.ranges"}
        self.assertEqual({name for name, fails in failed.items() if fails}, set(self.LEFT))
        self.assertEqual(len(failed), 8)

    def test_a_filter_that_leaves_nothing(self):
        done = self.lastref("check", "--by-range", "--", workload("googletest"), "--gtest_filter=*freed:*handed*:*taken*")
        self.assertEqual(done.returncode, CLEAN, done.stderr)
        self.assertIn("By range: 0 of 3 ranges left something", done.stderr)

    def test_without_lastref(self):
        done = self.run_program(workload("googletest"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
