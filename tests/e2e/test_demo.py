"""The demo's report names exactly the planted faults, and none of their healthy twins."""

import collections
import os
import re
import subprocess

from harness import CLEAN, FINDINGS, LASTREF, PATIENCE, Case, workload

# Function of the demo → the rule that names what it does.
PLANTED = {
    "fault_payload_held_by_executable_graph": "user-object-leak",
    "fault_free_without_context": "failed-free",
    "fault_free_on_other_threads_default_stream": "ptds-cross-thread-free",
    "fault_cleanup_never_drained": "allocation-leak",
    "fault_device_memory_leaked": "allocation-leak",
    "fault_released_after_main": "shutdown-release",
}
FINDING_KEYS = ("rule", "severity", "confidence", "title", "objects", "sites", "first_seen", "count", "bytes", "fingerprint",
                "advice")


def functions(finding):
    """Names of the demo's functions in the stacks of a finding's sites and consequences."""
    sites = finding["sites"] + [site for each in finding.get("consequences", []) for site in each["sites"]]
    names = set()
    for site in sites:
        for frame in site["stack"]:
            inlined = frame.get("inlined_functions", [])
            for function in [frame.get("function", ""), *(each["function"] for each in inlined)]:
                names |= set(re.findall(r"\b(?:fault|healthy)_\w+", function))
    return names


class Demo(Case):
    def setUp(self):
        super().setUp()
        self.recorded(workload("demo"))
        self.json, self.status = self.report()

    def test_exactly_the_planted_faults(self):
        self.assertEqual(self.status, FINDINGS)
        named = [(function, finding["rule"]) for finding in self.json["findings"] for function in functions(finding)]
        self.assertEqual(sorted(named), sorted(PLANTED.items()), [f["title"] for f in self.json["findings"]])
        self.assertEqual(len(self.json["findings"]), len(PLANTED), [f["title"] for f in self.json["findings"]])

    def test_shape(self):
        self.assertTrue({"trace", "loss", "findings", "suppressed"} <= set(self.json), list(self.json))
        for finding in self.json["findings"]:
            self.assertTrue(set(FINDING_KEYS) <= set(finding), list(finding))
            self.assertTrue(finding["advice"] and finding["title"])
        self.assertEqual(len({f["fingerprint"] for f in self.json["findings"]}), len(self.json["findings"]))

    def test_trace_in_short(self):
        trace = self.json["trace"]
        calls = collections.Counter(self.open_trace().calls())
        self.assertEqual(trace["calls"], dict(calls))
        self.assertIs(trace["clean_end"], True)
        self.assertEqual(len(trace["processes"]), 1)
        self.assertTrue(all(count == 0 for count in self.json["loss"].values()), self.json["loss"])
        ledger = trace["ledger"]
        self.assertGreaterEqual(ledger["predicted"], 2)
        self.assertEqual(ledger["agreed"], ledger["predicted"])

    def test_holder_of_the_payload(self):
        (leak,) = [f for f in self.json["findings"] if f["rule"] == "user-object-leak"]
        self.assertIn("executable graph", str(leak["holders"]))
        self.assertEqual(leak["count"], 1)

    def test_bytes(self):
        by_function = {next(iter(functions(f))): f for f in self.json["findings"] if functions(f)}
        self.assertEqual(by_function["fault_device_memory_leaked"]["bytes"], 3 << 20)
        self.assertEqual(by_function["fault_cleanup_never_drained"]["bytes"], 1 << 20)
        self.assertEqual(by_function["fault_free_without_context"]["bytes"], 256 << 10)

    def test_confidence(self):
        confidence = {f["rule"]: f["confidence"] for f in self.json["findings"]}
        self.assertEqual(confidence["ptds-cross-thread-free"], "likely")
        self.assertEqual(confidence["failed-free"], "proven")

    def test_lines_of_the_source(self):
        (leak,) = [f for f in self.json["findings"] if "fault_device_memory_leaked" in functions(f)]
        places = [(os.path.basename(frame.get("file", "")), frame.get("line")) for frame in leak["sites"][0]["stack"]]
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workloads", "demo", "device_memory.cpp")
        with open(source, encoding="utf-8") as file:
            number = next(n for n, line in enumerate(file, 1) if "device memory, never freed" in line)
        self.assertIn(("device_memory.cpp", number), places)

    def test_text(self):
        done = self.lastref("report", self.trace)
        self.assertEqual(done.returncode, FINDINGS)
        for function, rule in PLANTED.items():
            self.assertRegex(done.stdout, rf"(?m)^\d\. (error|warning|note) +{rule} ")
            if rule != "ptds-cross-thread-free":  # that happens in lambdas, on threads of their own
                self.assertIn(function[:24], done.stdout)  # long names are cut to the column
        self.assertNotIn("healthy_", done.stdout)
        self.assertNotIn("\x1b", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 140)

    def test_fail_on(self):
        for threshold, status in (("none", CLEAN), ("error", FINDINGS), ("failed-free", FINDINGS)):
            with self.subTest(threshold=threshold):
                self.assertEqual(self.lastref("report", self.trace, "--fail-on", threshold).returncode, status)

    def test_fingerprints_survive_another_run(self):
        again = self.path("again.lastref")
        self.record(workload("demo"), trace=again)
        other, _ = self.report(again)
        self.assertEqual(sorted(f["fingerprint"] for f in other["findings"]),
                         sorted(f["fingerprint"] for f in self.json["findings"]))

    def test_views(self):
        trace = self.open_trace()
        rows = {view: trace.one(f"SELECT count(*) FROM {view}") for view in (
            "outstanding_payloads", "outstanding_allocations", "failed_frees", "per_thread_default_stream_frees", "callbacks",
            "shutdown_events", "losses")}
        self.assertEqual(rows["outstanding_payloads"], 1, rows)
        self.assertEqual(rows["outstanding_allocations"], 4, rows)  # leaked, undrained, refused, freed after teardown
        self.assertEqual(rows["failed_frees"], 3, rows)             # two without context, one after teardown
        self.assertEqual(rows["per_thread_default_stream_frees"], 2, rows)
        self.assertEqual(rows["callbacks"], 3, rows)
        self.assertGreaterEqual(rows["shutdown_events"], 1, rows)
        self.assertEqual(rows["losses"], 0, rows)


class Command(Case):
    def test_demo_command(self):
        done = self.lastref("demo", "-o", self.trace)
        self.assertEqual(done.returncode, CLEAN, done.stderr)
        for rule in PLANTED.values():
            self.assertIn(rule, done.stdout)
        # What it tells to type next works as it stands.
        told = re.search(r"^ *(\S*lastref query .*)$", done.stdout, re.M)
        self.assertTrue(told, done.stdout)
        typed = subprocess.run(told[1], shell=True, capture_output=True, text=True, timeout=PATIENCE, env=self.environment)
        self.assertEqual(typed.returncode, 0, typed.stderr)
        self.assertIn("lastref record", done.stdout)

    def test_healthy_programs_are_clean(self):
        for name in ("way_plt", "way_dlsym", "way_get_proc_address"):
            with self.subTest(workload=name):
                trace = self.path(f"{name}.lastref")
                self.record(workload(name), trace=trace)
                done = self.lastref("report", trace, "--fail-on", "warning")
                # Each frees one pointer twice, on purpose: that is all there may be.
                findings, _ = self.report(trace)
                self.assertEqual({f["rule"] for f in findings["findings"]} - {"double-free"}, set(), done.stdout)

    def test_colour_on_a_terminal_only(self):
        self.recorded(workload("demo"))
        environment = {k: v for k, v in self.environment.items() if k != "NO_COLOR"}
        environment["TERM"] = "xterm-256color"
        for piped in (False, True):
            command = f"{LASTREF} report {self.trace}" + (" | cat" if piped else "")
            done = subprocess.run(["script", "-qec", command, "/dev/null"], capture_output=True, timeout=PATIENCE, env=environment,
                                  stdin=subprocess.DEVNULL, cwd=self.folder)
            with self.subTest(piped=piped):
                self.assertEqual(bool(re.search(rb"\x1b\[[0-9;]*m", done.stdout)), not piped)
