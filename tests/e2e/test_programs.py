"""Recorded programs behave as they do alone, and every call of theirs is in the trace, whichever way they make it."""

import collections

from harness import Case, workload

# Workloads that end by themselves with nothing special about their end.
ORDINARY = ("demo", "way_plt", "way_dlsym", "way_get_proc_address", "fork_child", "exec_chain", "static_destructor",
            "threads", "dlsym_next", "host_callbacks", "user_objects", "capture", "pools")


class Transparent(Case):
    """Output and exit status are those of a bare run."""

    def compare(self, name, options=()):
        bare = self.run_program(workload(name))
        done = self.record(workload(name), options=options)
        self.assertEqual(done.stdout, bare.stdout)
        self.assertEqual(done.returncode, bare.returncode)
        # On standard error lastref adds its summary, after everything of the program's.
        self.assertTrue(done.stderr.startswith(bare.stderr), done.stderr)
        summary = done.stderr[len(bare.stderr):]
        self.assertEqual(len(summary.splitlines()), 1, summary)
        self.assertIn("lastref report", summary)
        self.assert_complete(self.open_trace())


def add_transparent(name):
    setattr(Transparent, f"test_{name}", lambda self: self.compare(name))
    setattr(Transparent, f"test_{name}_with_stacks", lambda self: self.compare(name, ("--stacks=all",)))


for ordinary in ORDINARY:
    add_transparent(ordinary)


class WaysIn(Case):
    WAYS = ("way_plt", "way_dlsym", "way_get_proc_address")

    def sequence(self, way, **options):
        trace = self.path(f"{way}-{len(options)}.lastref")
        done = self.record(workload(way), trace=trace, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        opened = self.open_trace(trace)
        self.assert_complete(opened)
        return opened.rows("SELECT k.name, a.name, e.result, e.size, e.flags FROM event e JOIN api a ON a.id = e.api "
                           "JOIN kind k ON k.id = a.kind ORDER BY e.id")

    def test_each_way_gives_the_same_sequence(self):
        first = self.sequence(self.WAYS[0])
        self.assertGreater(len(first), 5)
        for way in self.WAYS[1:]:
            with self.subTest(way=way):
                self.assertEqual(self.sequence(way), first)

    def test_sim_option_finds_the_simulated_driver(self):
        # --sim stands for the library path that the other tests set.
        for way in self.WAYS:
            with self.subTest(way=way):
                usual = self.sequence(way)
                self.assertEqual(self.sequence(way, options=("--sim",), env={"LD_LIBRARY_PATH": ""}), usual)

    def test_no_entry_point_was_obtained_past_the_hooks(self):
        for way in self.WAYS:
            self.sequence(way)
            self.assertEqual(self.open_trace(self.path(f"{way}-0.lastref")).rows("SELECT name FROM unhooked"), [])


class Contents(Case):
    def test_user_objects(self):
        trace = self.recorded(workload("user_objects"))
        kinds = collections.Counter(trace.column("SELECT k.name FROM event e JOIN api a ON a.id = e.api JOIN kind k ON k.id = a.kind"))
        for kind in ("user_object_create", "user_object_release", "graph_retain_user_object", "callback_user_object"):
            self.assertGreater(kinds[kind], 0, kinds)
        # A destructor runs once at most, for an object that was made before.
        runs = trace.rows("SELECT e.object, e.begin FROM event e JOIN api a ON a.id = e.api WHERE a.symbol = 'callback:user_object'")
        made = trace.rows("SELECT e.object, e.begin FROM event e JOIN api a ON a.id = e.api WHERE a.name = 'cuUserObjectCreate'")
        for handle, at in runs:
            self.assertTrue(any(h == handle and t < at for h, t in made), handle)

    def test_callbacks_have_a_length_and_a_thread(self):
        trace = self.recorded(workload("host_callbacks"))
        rows = trace.rows("SELECT e.duration, e.thread, e.begin FROM event e JOIN api a ON a.id = e.api "
                          "WHERE a.symbol LIKE 'callback:%'")
        self.assertGreater(len(rows), 0)
        mains = set(trace.column("SELECT id FROM thread WHERE main"))
        for duration, thread, _ in rows:
            self.assertIsNotNone(duration)
            self.assertNotIn(thread, mains)

    def test_calls_inside_callbacks_are_marked(self):
        trace = self.recorded(workload("host_callbacks"))
        inside = trace.rows("SELECT e.thread, e.begin, e.result FROM event e JOIN api a ON a.id = e.api "
                            "WHERE a.symbol LIKE 'cu%' AND e.flags & 1")
        callbacks = trace.rows("SELECT e.thread, e.begin, e.begin + e.duration FROM event e JOIN api a ON a.id = e.api "
                               "WHERE a.symbol LIKE 'callback:%'")
        self.assertGreater(len(inside), 0)
        for thread, at, _ in inside:
            self.assertTrue(any(t == thread and begin <= at <= end for t, begin, end in callbacks))

    def test_threads(self):
        trace = self.recorded(workload("threads"))
        self.assertGreater(trace.one("SELECT count(*) FROM thread"), 2)
        # Order within a thread is the program's own.
        for thread in trace.column("SELECT id FROM thread"):
            begins = trace.column("SELECT begin FROM event WHERE thread = ? ORDER BY id", thread)
            self.assertEqual(begins, sorted(begins))

    def test_handles_are_freed_before_they_are_made_again(self):
        for name in ("threads", "pools"):
            with self.subTest(workload=name):
                trace = self.path(f"{name}.lastref")
                self.record(workload(name), trace=trace)
                live = set()
                for verb, handle, result in self.open_trace(trace).rows(
                        "SELECT k.verb, e.object, e.result FROM event e JOIN api a ON a.id = e.api JOIN kind k ON k.id = a.kind "
                        "WHERE k.object = 'device_memory' AND k.verb IN ('create', 'destroy') ORDER BY e.id"):
                    if result != 0:
                        continue
                    if verb == "create":
                        self.assertNotIn(handle, live)
                        live.add(handle)
                    else:
                        self.assertIn(handle, live)
                        live.discard(handle)

    def test_capture(self):
        trace = self.recorded(workload("capture"))
        calls = trace.calls()
        self.assertIn("cuStreamBeginCapture", calls)
        self.assertIn("cuStreamEndCapture", calls)

    def test_failed_calls_keep_their_result(self):
        trace = self.recorded(workload("demo"))
        self.assertIn(201, trace.column("SELECT result FROM failed_frees"))

    def test_stacks(self):
        for setting, expected in (("off", (False, False)), ("create", (True, False)), ("all", (True, True))):
            with self.subTest(stacks=setting):
                trace = self.path(f"{setting}.lastref")
                self.record(workload("demo"), trace=trace, options=(f"--stacks={setting}",))
                opened = self.open_trace(trace)
                made, used = (opened.one("SELECT count(e.stack) FROM event e JOIN api a ON a.id = e.api JOIN kind k ON "
                                         f"k.id = a.kind WHERE e.result = 0 AND k.verb = '{verb}'") for verb in ("create", "set"))
                self.assertEqual((made > 0, used > 0), expected)
                self.assertEqual(opened.column("SELECT stacks FROM process"), [setting])

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
