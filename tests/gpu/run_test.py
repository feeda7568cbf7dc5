#!/usr/bin/env python3
"""Tests of the script `run` with a stand-in for lastref: what it must notice without a GPU."""
import argparse
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent


def load(name):
    loader = importlib.machinery.SourceFileLoader(f"{name}_script", str(HERE / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


run = load("run")

# Runs the program as it is or spoils it, and reports what the test put into its folder.
LASTREF = """#!/usr/bin/env python3
import pathlib, subprocess, sys
here = pathlib.Path(__file__).parent
if sys.argv[1] == "record":
    pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).touch()
    status = subprocess.run(sys.argv[sys.argv.index("--") + 1:]).returncode
    print((here / "noise").read_text(), end="")
    sys.exit(status or int((here / "status").read_text()))
print((here / "report.json").read_text())
"""
CLEAN = '{"trace": {"calls": {"cuInit": 1}}, "loss": {"records_dropped": 0}, "findings": [{"rule": "failed-free"}]}'


class OneProgram(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)
        run.SETTINGS = argparse.Namespace(bundle=self.out, out=self.out, timeout=20, ends_at=time.monotonic() + 60,
                                          stacks="create", simulated=None)
        (self.out / "bin").mkdir()
        (self.out / "bin/lastref").write_text(LASTREF)
        (self.out / "bin/lastref").chmod(0o755)
        self.lastref_does()

    def lastref_does(self, report=CLEAN, noise="", status=0):
        for name, text in (("report.json", report), ("noise", noise), ("status", str(status))):
            (self.out / "bin" / name).write_text(text)

    def examine(self, code="print(1)", planted=("failed-free",)):
        program = self.out / "program.py"
        program.write_text(code)
        return run.examine(run.Program("program", str(program), planted), None)

    def test_a_program_left_as_it_was_has_no_problems(self):
        result = self.examine()
        self.assertEqual(result["problems"], [])
        self.assertEqual((result["changed"], result["calls"], result["findings"]), ([], 1, {"failed-free": 1}))

    def test_other_output_and_status_are_noticed(self):
        self.lastref_does(noise="more", status=3)
        self.assertEqual(self.examine()["changed"], ["exit 0 became 3", "output differs"])

    def test_a_planted_fault_that_is_not_found_is_a_problem(self):
        self.assertIn("planted but not found: user-object-leak", self.examine(planted=("user-object-leak",))["problems"])

    def test_losses_and_empty_traces_are_problems(self):
        self.lastref_does(report='{"trace": {"calls": {}}, "loss": {"records_dropped": 2}, "findings": []}')
        self.assertEqual(self.examine(planted=())["problems"], ["losses", "no calls recorded"])

    def test_an_unreadable_report_is_a_problem(self):
        self.lastref_does(report="not json")
        self.assertIn("report ended with 0", self.examine()["problems"][0])

    def test_a_program_that_hangs_is_ended_with_its_children(self):
        run.SETTINGS.timeout = 1
        begin = time.monotonic()
        result = self.examine("import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])")
        self.assertEqual(result["exit"], "timeout")
        self.assertLess(time.monotonic() - begin, 30)

    def test_a_skipped_program_is_not_recorded(self):
        result = self.examine("import sys; print('no torch', file=sys.stderr); sys.exit(77)")
        self.assertEqual((result["skipped"], result["problems"]), ("no torch", []))

    def test_nothing_starts_after_the_deadline(self):
        run.SETTINGS.ends_at = time.monotonic()
        self.assertEqual(self.examine()["exit"], "no time")

    def test_the_table_names_every_program_and_problem(self):
        self.lastref_does(noise="more")
        text = io.StringIO()
        run.print_table([self.examine()], text)
        self.assertIn("failed-free:1", text.getvalue())
        self.assertIn("program: output differs", text.getvalue())


if __name__ == "__main__":
    unittest.main()
