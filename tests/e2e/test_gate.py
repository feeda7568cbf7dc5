"""The gate as CI uses it: `check`, `diff`, suppressions and baselines, over runs and rebuilds."""

import json
import os
import shutil
import subprocess
import unittest

from harness import CLEAN, FINDINGS, INCOMPLETE, SIMDRIVER, UNREADABLE, USAGE, Case, workload

HERE = os.path.dirname(os.path.abspath(__file__))


class Check(Case):
    def check(self, *command, options=(), **more):
        return self.lastref("check", *options, "--", *command, **more)

    def last_line(self, done):
        return done.stderr.strip().splitlines()[-1]

    def test_findings_fail_and_the_trace_is_gone(self):
        done = self.check(workload("demo"))
        self.assertEqual(done.returncode, FINDINGS, done.stderr)
        self.assertIn("Verdict: 2 errors, 4 warnings", done.stderr)
        self.assertNotIn("Verdict", done.stdout, "the program's output is its own")
        self.assertEqual(self.last_line(done), "lastref: check: program ended with 0 · report: fails (1) · exit status 1")
        self.assertEqual(os.listdir(self.path("tmp")), [])
        self.assertEqual(os.listdir(self.path("run")), [])

    def test_conditions_hold(self):
        self.assertEqual(self.check(workload("demo"), options=["--fail-on", "none"]).returncode, CLEAN)
        self.assertEqual(self.check(workload("demo"), options=["--fail-on", "none", "--max-outstanding", "0"]).returncode, FINDINGS)

    def test_the_programs_own_failure_comes_first_and_both_are_told(self):
        done = self.check("sh", "-c", f"{workload('demo')} >/dev/null; exit 7")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(self.last_line(done), "lastref: check: program ended with 7 · report: fails (1) · exit status 7")
        done = self.check("sh", "-c", f"{workload('demo')} >/dev/null; exit 7", options=["--fail-on", "none"])
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("report: clean (0)", self.last_line(done))

    def test_gate_status_tells_the_two_apart(self):
        self.assertEqual(self.check(workload("demo"), options=["--gate-status", "42"]).returncode, 42)
        self.assertEqual(self.check("sh", "-c", "exit 7", options=["--gate-status", "42"]).returncode, 7)
        self.assertEqual(self.check("true", options=["--gate-status", "0"]).returncode, USAGE)

    def test_a_program_without_driver_calls_does_not_pass(self):
        done = self.check("true")
        self.assertEqual(done.returncode, INCOMPLETE, done.stderr)
        self.assertIn("No call of the CUDA driver was recorded.", done.stderr)

    def test_a_killed_program_does_not_pass(self):
        done = self.check("sh", "-c", "kill -9 $$")
        self.assertEqual(done.returncode, 128 + 9, done.stderr)

    def test_no_such_program(self):
        done = self.check("/nowhere/program")
        self.assertEqual(done.returncode, 127)
        self.assertEqual(self.check().returncode, USAGE)

    def test_mistakes_are_told_before_the_program_runs(self):
        for options in (["--fail-on", "x"], ["--suppressions", "/nowhere"], ["--baseline", "/nowhere"], ["--save", "x"],
                        ["--max-leak-bytes", "x"]):
            done = self.check("touch", self.path("ran"), options=options)
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertFalse(os.path.exists(self.path("ran")), options)

    def test_trace_and_reports_are_kept_where_asked_for(self):
        done = self.check(workload("demo"), options=["-o", self.trace, "--save", "sarif=out.sarif", "--save", "html=out.html"])
        self.assertEqual(done.returncode, FINDINGS, done.stderr)
        with open(self.path("out.sarif"), encoding="utf-8") as file:
            self.assertEqual(len(json.load(file)["runs"][0]["results"]), 6)
        self.assertTrue(os.path.getsize(self.path("out.html")) > 1000)
        self.assertEqual(self.report()[1], FINDINGS)

    def test_stdin_and_stdout_are_the_programs(self):
        done = self.check("cat", input="through")
        self.assertEqual(done.stdout, "through")


class OverRuns(Case):
    def setUp(self):
        super().setUp()
        self.recorded(workload("demo"))
        self.second = self.path("second.lastref")
        self.recorded(workload("demo"), trace=self.second)

    def test_fingerprints_are_the_same(self):
        prints = [sorted(f["fingerprint"] for f in self.report(trace)[0]["findings"]) for trace in (self.trace, self.second)]
        self.assertEqual(*prints)

    def test_diff_of_two_runs_is_none(self):
        done = self.lastref("diff", self.trace, self.second)
        self.assertEqual(done.returncode, CLEAN, done.stdout + done.stderr)
        self.assertIn("No difference; 6 findings in both.", done.stdout)

    def test_baseline_of_the_first_run_covers_the_second(self):
        base = self.path("base.json")
        self.assertEqual(self.lastref("report", self.trace, "--format", "json", "-o", base).returncode, FINDINGS)
        self.assertEqual(self.lastref("report", self.second, "--baseline", base).returncode, CLEAN)
        self.assertEqual(self.lastref("report", self.second, "--baseline", self.trace).returncode, CLEAN)

    def test_written_suppressions_cover_the_second_run(self):
        file = self.path("s.txt")
        self.lastref("report", self.trace, "--write-suppressions", file)
        done = self.lastref("report", self.second, "--suppressions", file, "--fail-on-stale")
        self.assertEqual(done.returncode, CLEAN, done.stdout + done.stderr)


@unittest.skipUnless(shutil.which("cc"), "needs a C compiler")
class OverRebuilds(Case):
    """The same program built again: other options, moved lines, one more leak, and one that is larger."""

    def setUp(self):
        super().setUp()
        for version, options in ((1, ["-O0", "-g"]), (2, ["-O2", "-g"])):
            folder = self.path(f"v{version}", folder=True)
            source = os.path.join(HERE, "programs", "leaky.c")
            program = os.path.join(folder, "leaky")
            subprocess.run(["cc", *options, f"-DVERSION={version}", source, "-o", program, "-L" + SIMDRIVER, "-l:libcuda.so.1"],
                           check=True)
            done = self.record(program, trace=self.path(f"{version}.lastref"))
            self.assertEqual(done.returncode, 0, done.stderr)
        self.first, self.second = self.path("1.lastref"), self.path("2.lastref")

    def place(self, finding):
        return finding["place"].split(" ")[0]

    def test_only_the_new_leak_is_new(self):
        base = self.path("base.json")
        self.assertEqual(self.lastref("report", self.first, "--format", "json", "-o", base).returncode, FINDINGS)
        report, status = self.report(self.second, "--baseline", base)
        self.assertEqual(status, FINDINGS)
        states = {self.place(f): f["baseline"] for f in report["findings"]}
        self.assertEqual(states, {"new_leak": "new", "old_leak": "known"})
        self.assertEqual(report["baseline"]["gone"], [])

    def test_diff_tells_what_came_and_what_grew(self):
        done = self.lastref("diff", self.first, self.second, "--format", "json")
        self.assertEqual(done.returncode, FINDINGS, done.stderr)
        diff = json.loads(done.stdout)
        self.assertEqual([self.place(f) for f in diff["came"]], ["new_leak"])
        self.assertEqual(diff["went"], [])
        (grown,) = diff["changed"]
        self.assertEqual((grown["count_before"], grown["count"]), (2, 5))
        self.assertEqual(diff["rules"]["allocation-leak"]["count"], [2, 6])
        back = self.lastref("diff", self.second, self.first)
        self.assertEqual(back.returncode, CLEAN, back.stdout)
        self.assertIn("Went: 1 finding", back.stdout)

    def test_a_trace_whose_program_was_rebuilt_is_told_of(self):
        shutil.copy(os.path.join(self.path("v2"), "leaky"), os.path.join(self.path("v1"), "leaky"))
        done = self.lastref("report", self.second, "--baseline", self.first)
        self.assertEqual(done.returncode, FINDINGS)
        self.assert_one_line(done.stderr, "1.lastref", "rebuilt", "JSON")


class DiffInput(Case):
    def test_wrong_input(self):
        good = self.path("good.json")
        with open(good, "w", encoding="utf-8") as file:
            file.write('{"findings": []}')
        damaged = self.path("damaged.lastref")
        with open(damaged, "wb") as file:
            file.write(b"SQLite format 3\0" + b"x" * 5000)
        self.assertEqual(self.lastref("diff", good, good).returncode, CLEAN)
        for wrong, status in ((self.path("nowhere"), USAGE), (damaged, UNREADABLE), (self.path("tmp"), USAGE)):
            for pair in ((good, wrong), (wrong, good)):
                done = self.lastref("diff", *pair)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assert_one_line(done.stderr, wrong)

    def test_incomplete_is_no_pass(self):
        complete, incomplete = self.path("c.json"), self.path("i.json")
        for path, state in ((complete, "true"), (incomplete, "false")):
            with open(path, "w", encoding="utf-8") as file:
                file.write('{"trace": {"complete": %s}, "findings": []}' % state)
        self.assertEqual(self.lastref("diff", complete, incomplete).returncode, INCOMPLETE)
        self.assertEqual(self.lastref("diff", incomplete, complete).returncode, INCOMPLETE)


class Mistakes(Case):
    """Files of people's own, with a mistake in them: one line that says where, and no report."""

    def setUp(self):
        super().setUp()
        self.recorded(workload("demo"))

    def with_file(self, option, content):
        path = self.path("file")
        with open(path, "wb") as file:
            file.write(content)
        done = self.lastref("report", self.trace, option, path)
        self.assert_not_signalled(done)
        return path, done

    def test_suppressions(self):
        for content, where in ((b"# fine\n\n  leak:f", ":3:3: "), (b"failed-free", ":1:1: "), (b"*:\n", ":1:3: "),
                               (b"*:a\0b", ":1:4: "), (b"\xff\xfe\x00", ":1:3: ")):
            path, done = self.with_file("--suppressions", content)
            self.assertEqual((done.returncode, done.stdout), (USAGE, ""), done.stderr)
            self.assert_one_line(done.stderr, "lastref: ", path + where)

    def test_baseline(self):
        for content, where in ((b"{\n  \"findings\": [,]}", ":2:16: "), (b"", ":1:1: "), (b"[1]", ":1:1: "),
                               (b"{\"findings\": [\n\n {\"rule\": \"x\"}]}", ":3:2: "), (b"\xff\xfe", ":1:1: "),
                               (b"[" * 100000, ":1:")):
            path, done = self.with_file("--baseline", content)
            self.assertEqual((done.returncode, done.stdout), (USAGE, ""), done.stderr)
            self.assert_one_line(done.stderr, "lastref: ", path + where)

    def test_output_that_cannot_be_written(self):
        for options in (["-o", "/nowhere/r"], ["--save", "json=/nowhere/r"], ["--write-suppressions", "/nowhere/s"], ["-o", "/dev/full"]):
            done = self.lastref("report", self.trace, *options)
            self.assertEqual(done.returncode, USAGE, options)
            self.assert_one_line(done.stderr, "lastref: ", "cannot be written")

    def test_names_of_files_are_shown_not_obeyed(self):
        done = self.lastref("report", self.trace, "--baseline", "/nowhere/\x1b[31m\n")
        self.assert_one_line(done.stderr, "\\x1b[31m\\n")
