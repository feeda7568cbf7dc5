"""NVTX: what programs say of themselves, recorded beside their driver calls."""

import os
import unittest

from harness import FINDINGS, INCOMPLETE, PRELOAD, USAGE, WORKLOADS, Case, workload

PROGRAM = workload("nvtx")
OTHER_TOOL = os.path.join(WORKLOADS, "tools", "libworkload_other_tool.so")
MAIN = "SELECT id FROM thread WHERE main"


@unittest.skipUnless(os.path.exists(PROGRAM), "no headers of NVTX 3")
class Nvtx(Case):
    def said(self, part, complete=True, **more):
        trace = self.recorded(PROGRAM, part, **more)
        if complete:
            self.assert_complete(trace)
        return trace

    def allocations_in(self, trace, message):
        return trace.one(
            "SELECT count(*) FROM event e JOIN api a ON a.id = e.api, nvtx_range r WHERE a.name = 'cuMemAlloc'"
            " AND r.message = ? AND e.id > r.begin_event AND e.id <= coalesce(r.end_event, e.id)", message)

    def test_ranges(self):
        trace = self.said("ranges")
        self.assertEqual(
            trace.rows("SELECT message, kind, thread IN (SELECT id FROM thread WHERE main), end IS NULL, end_thread = thread"
                       " FROM nvtx_range ORDER BY id"),
            [("warm-up", "push", 1, 0, 1), ("early", "start", 1, 0, 1), ("inner", "push", 1, 0, 1),
             ("wide é中", "start", 1, 0, 0), ("on the thread", "push", 0, 0, 1), ("never popped", "push", 1, 1, None)])
        self.assertEqual([self.allocations_in(trace, name) for name in ("warm-up", "early", "inner", "wide é中")], [2, 2, 1, 1])
        self.assertEqual(trace.rows("SELECT * FROM nvtx_range WHERE end < begin OR end_event < begin_event"), [])
        self.assertEqual(trace.one("SELECT begin_event FROM nvtx_range WHERE message = 'warm-up'"), 0)
        self.assertEqual(trace.column("SELECT message FROM nvtx_mark"), [])

    def test_contexts(self):
        trace = self.said("contexts")
        self.assertEqual(
            trace.rows("SELECT message, b.kind, e.kind, b.id = e.id FROM nvtx_range r JOIN context b ON b.id = begin_context"
                       " JOIN context e ON e.id = end_context ORDER BY r.id"),
            [("leaves another", "primary", "created", 0), ("restores", "created", "created", 1)])

    def test_domains(self):
        trace = self.said("domains", complete=False)
        self.assertEqual(trace.losses().keys(), {"texts_cut"})
        self.assertEqual(
            trace.rows("SELECT kind, domain, category, message, payload, typeof(payload), end IS NULL FROM nvtx_range ORDER BY id"),
            [("push", "trainer", "memory", "registered", -5, "integer", 0), ("push", None, None, "default", None, "null", 0),
             ("start", "trainer", "8", "registered", 0.5, "real", 0)])
        self.assertEqual(
            trace.rows("SELECT domain, category, message, payload FROM nvtx_mark ORDER BY at"),
            [("trainer", "8", "registered", 0.5), (None, None, None, None), (None, None, "m" * 984, None)])

    def test_names(self):
        trace = self.said("resources")
        self.assertEqual(
            trace.rows("SELECT resource, name FROM nvtx_name ORDER BY at"),
            [("context", "main context"), ("stream", "copy"), ("event", "copied"), ("device", "first device"),
             ("thread", "trainer"), ("other", "a mutex")])
        self.assertEqual(trace.column("SELECT name FROM thread WHERE main"), ["trainer"])
        self.assertEqual(
            trace.one("SELECT count(*) FROM nvtx_name n JOIN event e ON e.object = n.handle AND e.id <= n.event"
                      " JOIN api a ON a.id = e.api WHERE a.name = 'cuStreamCreate' AND n.resource = 'stream'"), 1)

    def sites(self, report):
        return {site["entry_point"].split("_")[0]: site for finding in report["findings"] for site in finding["sites"]
                if finding["rule"] == "allocation-leak"}

    def test_findings_speak_of_names_and_ranges(self):
        self.said("left")
        report, _ = self.report(self.trace)
        sites = self.sites(report)
        self.assertEqual(sites["cuMemAllocAsync"]["stream_name"], "copy")
        self.assertEqual(sites["cuMemAllocAsync"]["ranges"], [{"name": "warm-up", "domain": None, "kind": "push"}])
        self.assertEqual(sites["cuMemAllocHost"]["thread"]["name"], "loader")
        self.assertEqual(sites["cuMemAllocHost"]["ranges"], [{"name": "load", "domain": "trainer", "kind": "push"}])
        text = " ".join(self.lastref("report", self.trace).stdout.split())
        self.assertIn('by the main thread during "warm-up": cuMemAllocAsync', text)
        self.assertIn('on stream "copy" (0x', text)
        self.assertRegex(text, r'by thread "loader" \(\d+\) during "load" of domain "trainer": cuMemAllocHost')

    def test_ranges_suppress(self):
        self.said("left")
        with open(self.path("s.txt"), "w", encoding="utf-8") as file:
            file.write("allocation-leak:^load$\n")
        report, _ = self.report(self.trace, "--suppressions", self.path("s.txt"))
        self.assertEqual(self.sites(report).keys(), {"cuMemAllocAsync"})

    def test_warm_up_ends_with_its_range(self):
        def late(*options):
            report, status = self.report(self.trace, *options)
            return [f["count"] for f in report["findings"] if f["rule"] == "steady-state-allocation"], status

        self.said("left")
        self.assertEqual(late(), ([1], FINDINGS))
        self.assertEqual(late("--warm-up", "warm-up"), ([1], FINDINGS))
        self.assertEqual(late("--warm-up", "load"), ([], FINDINGS))
        self.assertEqual(late("--warm-up", "3600"), ([], FINDINGS))
        self.assertEqual(late("--warm-up", "lode", "--fail-on", "none"), ([], INCOMPLETE))
        done = self.lastref("report", self.trace, "--warm-up", "-1")
        self.assertEqual(done.returncode, USAGE)
        self.assert_one_line(done.stderr, "--warm-up: -1 is no number of seconds")

    def test_out_of_a_spool_with_a_bare_preload(self):
        spools = self.path("spools", folder=True)
        done = self.run_program(PROGRAM, "ranges", env={"LD_PRELOAD": PRELOAD, "LASTREF_SPOOL_DIR": spools})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.lastref("import", spools, "-o", self.trace).returncode, 0)
        self.assertEqual(self.open_trace().one("SELECT count(*) FROM nvtx_range"), 6)

    def test_the_environment_is_left_alone_where_switched_off(self):
        for disabled, shown in (("1", ""), ("0", PRELOAD)):
            done = self.run_program("sh", "-c", "printf %s \"$NVTX_INJECTION64_PATH\"",
                                    env={"LD_PRELOAD": PRELOAD, "LASTREF_DISABLE": disabled})
            self.assertEqual(done.stdout, shown)


@unittest.skipUnless(os.path.exists(PROGRAM), "no headers of NVTX 3")
class AnotherTool(Case):
    """A tool that is named already keeps its place in the environment, and hears everything."""

    def heard(self, part, preload=True):
        log = self.path(f"{part}.{preload}")
        environment = {"NVTX_INJECTION64_PATH": OTHER_TOOL, "WORKLOAD_OTHER_TOOL": log}
        if preload:
            done = self.record(PROGRAM, part, env=environment)
        else:
            done = self.run_program(PROGRAM, part, env=environment)
        self.output = done.stdout
        with open(log, encoding="utf-8") as file:
            return file.read().splitlines()

    def test_hears_the_same(self):
        for part in ("ranges", "domains"):
            alone = self.heard(part, preload=False)
            said_alone = self.output
            os.path.exists(self.trace) and os.remove(self.trace)
            self.assertEqual(self.heard(part), alone)
            # The program gets the other tool's answers.
            self.assertEqual(self.output.splitlines()[:len(said_alone.splitlines())], said_alone.splitlines())
            self.assertTrue(alone)

    def test_and_so_does_the_trace(self):
        self.heard("domains")
        trace = self.open_trace()
        self.assertEqual(trace.rows("SELECT kind, domain, message FROM nvtx_range ORDER BY id")[0], ("push", "trainer", "registered"))
        os.remove(self.trace)
        self.heard("ranges")
        trace = self.open_trace()
        self.assertEqual(trace.rows("SELECT message, kind, number FROM nvtx_range WHERE kind = 'start' ORDER BY id")[0],
                         ("early", "start", 4711))


@unittest.skipUnless(os.path.exists(PROGRAM), "no headers of NVTX 3")
class Annotations(Case):
    KINDS = ["recipe", "enqueue", "schedule", "schedule_result", "drain_begin", "clean", "drain_end", "decline", "stop",
             "intended_leak", "adopt", "owner_begin", "owner_end"]

    def annotations(self, trace):
        return trace.rows("SELECT substr(a.symbol, 12), e.object, e.other, e.stream, e.size, e.extra FROM event e"
                          " JOIN api a ON a.id = e.api WHERE a.symbol LIKE 'annotation:%' ORDER BY e.id")

    def test_every_kind_in_both_forms(self):
        trace = self.recorded(PROGRAM, "annotations")
        said = self.annotations(trace)
        self.assertEqual([row[0] for row in said[:13]], self.KINDS)
        queues = [row[1:] for row in said[:13] if row[0] in self.KINDS[1:9]]
        self.assertEqual(queues, [(0x10, 0x20, 0, 3, 0)] * 8)
        others = [row[1:] for row in said[:13] if row[0] not in self.KINDS[1:9]]
        self.assertEqual(others, [(0x20, 4, 3, 0, 5)] * 5)
        self.assertEqual(said[13:], [
            ("recipe", 0x20, 4, 3, 0, 5), ("adopt", 0x20, 4, 3, 0, 0), ("enqueue", 0x10, 0x20, 0, 0, 0), ("schedule", 16, 0, 0, 0, 0),
            ("schedule_result", 0x10, 0, 0, 1, 0), ("drain_begin", 0x10, 0, 0, 0, 0), ("clean", 0x10, 32, 0, 0, 0),
            ("drain_end", 0x10, 0, 0, 1, 0), ("decline", 0x10, 0, 0, 0, 0), ("stop", 0x10, 0, 0, 0, 0),
            ("owner_end", 0x20, 0, 0, 0, 0), ("intended_leak", 0x20, 0, 0, 0, 0), ("owner_begin", 0x20, 0, 0, 0, 0)])

    def test_wrong_ones_are_counted(self):
        trace = self.recorded(PROGRAM, "annotations")
        self.assertEqual(trace.losses(), {"annotations_unknown": 7})
        report, _ = self.report()
        self.assertEqual(report["trace"]["incomplete"], [])  # no call of the driver is missing for that
        self.assertEqual(report["loss"]["annotations_unknown"], 7)

    def test_reference(self):
        trace = self.recorded(PROGRAM, "reference")
        self.assert_complete(trace)
        self.assertEqual([row[0] for row in self.annotations(trace)],
                         ["enqueue", "schedule", "schedule_result", "drain_begin", "clean", "drain_end", "stop"])
        # They are no calls of the driver.
        self.assertNotIn("annotation", " ".join(trace.calls()))
