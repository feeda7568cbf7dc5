"""Recorded programs behave as they do alone, and every call of theirs is in the trace, whichever way they make it."""

import collections
import re

from harness import Case, workload

# Workloads that end by themselves with nothing special about their end, and print the same in every run.
ORDINARY = ("demo", "way_plt", "way_dlsym", "way_get_proc_address", "fork_child", "exec_chain", "static_destructor",
            "threads", "dlsym_next", "host_callbacks", "user_objects", "capture", "pools",
            "batches")


class Transparent(Case):
    """Output and exit status are those of a bare run."""

    def compare(self, name, options=()):
        bare = self.run_program(workload(name))
        self.assertEqual(bare.returncode, 0, bare.stdout)
        done = self.record(workload(name), options=options)
        self.assertEqual(done.stdout, bare.stdout)
        self.assertEqual(done.returncode, bare.returncode)
        # On standard error lastref adds its summary, after everything of the program's.
        self.assertTrue(done.stderr.startswith(bare.stderr), done.stderr)
        self.assert_one_line(done.stderr[len(bare.stderr):], "lastref: ", "lastref report")
        self.assert_complete(self.open_trace())


def add_transparent(name):
    setattr(Transparent, f"test_{name}", lambda self: self.compare(name))
    setattr(Transparent, f"test_{name}_with_stacks", lambda self: self.compare(name, ("--stacks=all",)))


for ordinary in ORDINARY:
    add_transparent(ordinary)


class WaysIn(Case):
    LEGACY = (("way_plt",), ("way_dlsym",), ("way_get_proc_address", "v1", "legacy"), ("way_get_proc_address", "v2", "legacy"),
              ("way_get_proc_address", "v2", "default"))
    PER_THREAD = (("way_plt_per_thread",), ("way_dlsym", "per-thread"), ("way_get_proc_address", "v1", "per-thread"),
                  ("way_get_proc_address", "v2", "per-thread"))

    def sequence(self, way, **more):
        name, *arguments = way
        trace = self.path("-".join((*way, str(len(more)))) + ".lastref")
        done = self.record(workload(name), *arguments, trace=trace, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        opened = self.open_trace(trace)
        self.assert_complete(opened)
        self.assertEqual(opened.rows("SELECT name FROM unhooked"), [])
        # The program prints the result of each call that it makes: the trace must say the same, in the same order.
        printed = [(name.removesuffix(" again"), int(result))
                   for name, result in re.findall(r"^(cu\w+(?: again)?): (\d+)$", done.stdout, re.M)]
        calls = opened.rows("SELECT a.symbol, a.name, e.result, e.size, e.flags FROM event e JOIN api a ON a.id = e.api "
                            "WHERE a.symbol LIKE 'cu%' ORDER BY e.id")
        hooked = set(opened.column("SELECT name FROM api"))
        self.assertEqual([call[1:3] for call in calls], [p for p in printed if p[0] in hooked])
        self.assertEqual(opened.one("SELECT count(*) FROM event e JOIN api a ON a.id = e.api "
                                    "WHERE a.symbol = 'callback:user_object'"), 1)
        return calls

    def compare(self, ways):
        first = self.sequence(ways[0])
        self.assertGreater(len(first), 25)
        for way in ways[1:]:
            with self.subTest(way=way):
                self.assertEqual(self.sequence(way), first)
        return first

    def test_each_way_gives_the_same_sequence(self):
        self.compare(self.LEGACY)

    def test_each_way_to_per_thread_default_streams_gives_the_same_sequence(self):
        calls = self.compare(self.PER_THREAD)
        self.assertTrue(any(symbol.endswith("_ptsz") for symbol, *_ in calls))

    def test_sim_option_finds_the_simulated_driver(self):
        # A program that finds no driver by itself does with --sim.
        for way in (("way_dlsym",), ("way_get_proc_address", "v2", "legacy")):
            with self.subTest(way=way):
                usual = self.sequence(way)
                self.assertEqual(self.sequence(way, options=("--sim",), env={"LD_LIBRARY_PATH": ""}), usual)


EVENTS = ("FROM event e JOIN api a ON a.id = e.api JOIN kind k ON k.id = a.kind JOIN thread t ON t.id = e.thread ")


class Contents(Case):
    def test_user_objects(self):
        trace = self.recorded(workload("user_objects"))
        kinds = collections.Counter(trace.column(f"SELECT k.name {EVENTS}"))
        for kind in ("user_object_create", "user_object_retain", "user_object_release", "graph_retain_user_object",
                     "graph_release_user_object", "graph_clone", "graph_add_child", "graph_exec_update"):
            self.assertGreater(kinds[kind], 0, kinds)
        # A destructor runs for an object that was made before, and with the payload that it was made with.
        runs = trace.rows(f"SELECT e.object, e.other, e.extra, e.begin {EVENTS} WHERE a.symbol = 'callback:user_object'")
        made = trace.rows(f"SELECT e.object, e.other, e.extra, e.begin {EVENTS} WHERE k.name = 'user_object_create' "
                          "AND e.result = 0")
        # Of those made, one is released too often and one is left in an executable graph: neither is destroyed.
        self.assertEqual(len(runs), len(made) - 2)
        for handle, payload, destructor, at in runs:
            self.assertTrue(any(made_as[:3] == (handle, payload, destructor) and made_as[3] < at for made_as in made))

    def test_callbacks_have_a_length_and_a_thread(self):
        trace = self.recorded(workload("host_callbacks"))
        rows = trace.rows(f"SELECT e.duration, t.main {EVENTS} WHERE a.symbol LIKE 'callback:%'")
        self.assertGreater(len(rows), 0)
        for duration, main in rows:
            self.assertIsNotNone(duration)
            self.assertEqual(main, 0)

    def test_calls_inside_callbacks_are_marked(self):
        trace = self.recorded(workload("host_callbacks"))
        inside = trace.rows(f"SELECT e.thread, e.begin, e.result {EVENTS} WHERE a.symbol LIKE 'cu%' AND e.flags & 1")
        callbacks = trace.rows(f"SELECT e.thread, e.begin, e.begin + e.duration {EVENTS} WHERE a.symbol LIKE 'callback:%'")
        self.assertGreater(len(inside), 0)
        for thread, at, result in inside:
            self.assertEqual(result, 800)
            self.assertTrue(any(t == thread and begin <= at <= end for t, begin, end in callbacks))
        # And none but these was refused for being in a callback.
        self.assertEqual(trace.one(f"SELECT count(*) {EVENTS} WHERE a.symbol LIKE 'cu%' AND e.result = 800"), len(inside))

    def test_threads(self):
        trace = self.recorded(workload("threads"), "40", "8")
        # One for each that was started, 10 that free late, the first, and perhaps some of the driver's own.
        threads = trace.column("SELECT id FROM thread")
        self.assertGreaterEqual(len(threads), 51)
        for thread in threads:  # order within a thread is the program's own
            begins = trace.column("SELECT begin FROM event WHERE thread = ? ORDER BY id", thread)
            self.assertEqual(begins, sorted(begins))
        frees = trace.rows(f"SELECT e.stream, a.default_stream {EVENTS} WHERE k.name = 'memory_free_async'")
        self.assertEqual(frees, [(2, "legacy")] * 40)

    def test_calls_at_the_end_of_threads(self):
        trace = self.recorded(workload("threads"), "8", "8")
        late = trace.column(f"SELECT e.result {EVENTS} WHERE k.name = 'memory_free'")
        self.assertEqual(late, [0] * 10)

    def test_handles_are_freed_before_they_are_made_again(self):
        for name in ("threads", "pools"):
            with self.subTest(workload=name):
                trace = self.path(f"{name}.lastref")
                self.record(workload(name), trace=trace)
                live, freed = set(), 0
                for verb, handle in self.open_trace(trace).rows(
                        f"SELECT k.verb, e.object {EVENTS} WHERE k.object = 'device_memory' AND k.verb IN "
                        "('create', 'destroy') AND e.result = 0 ORDER BY e.id"):
                    if verb == "create":
                        self.assertNotIn(handle, live)
                        live.add(handle)
                    else:
                        self.assertIn(handle, live)
                        live.discard(handle)
                        freed += 1
                self.assertGreater(freed, 3)

    def test_batches_are_recorded_one_by_one(self):
        trace = self.recorded(workload("batches"))
        sizes, stream = [64, 128, 256], trace.one(f"SELECT e.object {EVENTS} WHERE k.name = 'stream_create'")
        for batch, part in (("cuMemcpyBatchAsync", "batch_copy"), ("cuMemPrefetchBatchAsync", "batch_prefetch")):
            self.assertEqual(trace.rows(f"SELECT e.stream, e.size, e.extra {EVENTS} WHERE a.name = '{batch}'"),
                             [(stream, sum(sizes), len(sizes))])
            self.assertEqual(trace.rows(f"SELECT e.stream, e.size {EVENTS} WHERE a.symbol = '{part}' ORDER BY e.id"),
                             [(stream, size) for size in sizes])
        used = trace.column(f"SELECT e.object {EVENTS} WHERE a.symbol LIKE 'batch_%'")
        used += trace.column(f"SELECT e.other {EVENTS} WHERE a.symbol = 'batch_copy'")
        made = trace.column(f"SELECT e.object {EVENTS} WHERE k.object = 'device_memory' AND k.verb = 'create'")
        self.assertEqual(sorted(used), sorted(made))

    def test_capture(self):
        trace = self.recorded(workload("capture"))
        calls = collections.Counter(trace.calls())
        self.assertEqual(calls["cuStreamBeginCapture"], calls["cuStreamEndCapture"])
        results = set(trace.column(f"SELECT e.result {EVENTS} WHERE k.name = 'capture_end'"))
        self.assertTrue({0, 901, 904} <= results, results)

    def test_failed_calls_keep_their_result(self):
        trace = self.recorded(workload("pools"))
        failed = collections.Counter(trace.column(f"SELECT e.result {EVENTS} WHERE k.name = 'memory_free_async' AND e.result"))
        self.assertEqual(failed, {1: 2, 201: 3})

    def test_stacks(self):
        for setting, expected in (("off", (False, False)), ("create", (True, False)), ("all", (True, True))):
            with self.subTest(stacks=setting):
                trace = self.path(f"{setting}.lastref")
                self.record(workload("demo"), trace=trace, options=(f"--stacks={setting}",))
                opened = self.open_trace(trace)
                made, used = (opened.one(f"SELECT count(e.stack) {EVENTS} WHERE e.result = 0 AND k.verb = '{verb}'")
                              for verb in ("create", "use"))
                self.assertEqual((made > 0, used > 0), expected)
                self.assertEqual(opened.column("SELECT stacks FROM process"), [setting])

    def test_failures_have_stacks(self):
        trace = self.recorded(workload("demo"), options=("--stacks=create",))
        self.assertEqual(trace.one(f"SELECT count(*) {EVENTS} WHERE e.result <> 0 AND e.stack IS NULL"), 0)

    def test_stacks_lead_to_the_program(self):
        trace = self.recorded(workload("demo"))
        paths = trace.column("SELECT DISTINCT m.path FROM stack_frame s JOIN frame f ON f.id = s.frame JOIN module m "
                             "ON m.id = f.module WHERE s.depth = 0")
        self.assertTrue(all("liblastref" not in path for path in paths), paths)
        self.assertTrue(any(path.endswith("/demo") for path in paths), paths)

    def test_environment_is_sifted(self):
        trace = self.recorded(workload("way_dlsym"), env={"CUDA_VISIBLE_DEVICES": "0", "SECRET_TOKEN": "hush-hush"})
        names = trace.column("SELECT name FROM environment")
        self.assertIn("CUDA_VISIBLE_DEVICES", names)
        self.assertTrue(all(name.startswith(("CUDA_", "LASTREF_")) for name in names), names)
        with open(self.trace, "rb") as file:
            self.assertNotIn(b"hush-hush", file.read())

    def test_modules_have_build_ids(self):
        trace = self.recorded(workload("demo"))
        build_ids = dict(trace.rows("SELECT path, build_id FROM module WHERE path LIKE '%/demo'"))
        self.assertTrue(all(re.fullmatch(r"[0-9a-f]{16,64}", build_id) for build_id in build_ids.values()), build_ids)
