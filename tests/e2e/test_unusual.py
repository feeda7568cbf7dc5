"""Programs that end, multiply, lock themselves up or are loaded in unusual ways: they do what they do alone, and the trace
is right or says what it lost. Calls are counted, on the null driver."""

import ctypes.util
import os
import re
import shutil
import signal
import subprocess
import unittest

from harness import BUILD, INCOMPLETE, PATIENCE, PRELOAD, Case, Trace, wait_until, workload

NULL_DRIVER = {"LD_LIBRARY_PATH": os.path.join(BUILD, "lib", "nulldriver")}
TOOLS = os.path.join(BUILD, "bin", "workloads", "tools")
SKIPPED = 77


def in_a_mount_namespace():
    """Whether we may have one of our own: as root, with the capability."""
    return subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0 if shutil.which("unshare") else False


class Unusual(Case):
    def setUp(self):
        super().setUp()
        self.environment.update(NULL_DRIVER)

    def run_both(self, *command, program="unusual", **options):
        """A recorded run whose output and exit status are those of a bare one; returns the trace."""
        bare = self.run_program(workload(program), *command, **options)
        if bare.returncode == SKIPPED:
            self.skipTest(bare.stdout.strip())
        self.done = self.record(workload(program), *command, **options)
        said = [re.sub(r"\d+", "N", text) if self.counts_differ else text for text in (bare.stdout, self.done.stdout)]
        self.assertEqual(said[1], said[0], self.done.stderr)
        status = bare.returncode if bare.returncode >= 0 else 128 - bare.returncode
        self.assertEqual(self.done.returncode, status, self.done.stderr)
        return self.open_trace()

    counts_differ = False  # from run to run

    def said(self):
        return int(re.search(r"^calls (\d+)$", self.done.stdout, re.M).group(1))

    def recorded_calls(self, trace, process=None):
        return trace.calls(process).count("cuStreamQuery")

    def assert_all_calls(self, trace, end="clean"):
        self.assert_complete(trace)
        self.assertEqual(self.recorded_calls(trace), self.said())
        self.assertEqual([p["end"] for p in trace.processes()], [end])

    def assert_counted(self, trace, said=None):
        """Every call is there or counted as lost, and the report is not clean."""
        missing = (self.said() if said is None else said) - self.recorded_calls(trace)
        self.assertGreaterEqual(missing, 0)
        self.assertGreaterEqual(sum(trace.losses().values()), missing)
        if missing:
            self.assertEqual(self.report(trace.path)[1], INCOMPLETE)


class Ends(Unusual):
    def test_abort(self):
        trace = self.run_both("abort")
        self.assert_all_calls(trace, "abrupt")
        self.assertEqual(trace.processes()[0]["exit_signal"], signal.SIGABRT)

    def test_quick_exit(self):
        trace = self.run_both("quick_exit")
        self.assert_all_calls(trace, "abrupt")
        self.assertEqual(trace.processes()[0]["exit_status"], 3)

    def test_stack_overflow(self):
        trace = self.run_both("stack_overflow")
        self.assert_complete(trace)
        self.assertGreater(self.recorded_calls(trace), 100)
        self.assertEqual(trace.processes()[0]["exit_signal"], signal.SIGSEGV)

    def test_stack_overflow_with_stacks(self):
        done = self.record(workload("unusual"), "stack_overflow", options=("--stacks=all",))
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV)
        self.assertGreater(self.recorded_calls(self.open_trace()), 100)

    def test_handled_stack_overflow(self):
        # The handler may have interrupted the writing of a record: then its own calls are dropped, and counted.
        self.counts_differ = True
        trace = self.run_both("handled_stack_overflow")
        self.assertEqual(trace.processes()[0]["exit_status"], 5)
        self.assertLessEqual(self.said() - self.recorded_calls(trace) - trace.losses().get("records_dropped", 0), 1)

    def test_exit_of_a_thread_among_others(self):
        trace = self.run_both("exit_of_a_thread")
        self.assert_complete(trace)
        self.assertGreater(self.recorded_calls(trace), 1500)
        self.assertEqual(trace.processes()[0]["exit_status"], 4)


class Processes(Unusual):
    def test_forks_among_recording_threads(self):
        self.counts_differ = True
        trace = self.run_both("forks_among_threads")
        self.assert_complete(trace)
        parent, *children = sorted(trace.processes(), key=lambda p: p["id"])
        self.assertEqual(self.recorded_calls(trace, parent["id"]), self.said())
        self.assertEqual([self.recorded_calls(trace, child["id"]) for child in children], [50] * 10)

    def test_child_that_goes_on_without_calls(self):
        # Recording ends with the program; the child has nothing to be waited for.
        trace = self.run_both("child_goes_on")
        self.assert_all_calls(trace)

    def test_daemon(self):
        bare = self.run_program(workload("unusual"), "daemon", "bare")
        wait_until(lambda: os.path.exists(self.path("bare")), "the bare daemon")
        done = self.record(workload("unusual"), "daemon", "said", options=("--wait", str(PATIENCE)))
        self.assertEqual((done.returncode, done.stdout), (bare.returncode, bare.stdout))
        self.assertTrue(os.path.exists(self.path("said")), "recording ended before the daemon")
        trace = self.open_trace()
        self.assert_complete(trace)
        self.assertEqual(sorted(self.recorded_calls(trace, p["id"]) for p in trace.processes()), [10, 5000])

    def test_daemon_under_a_preload(self):
        done = self.run_program(workload("unusual"), "daemon", "said",
                                env={"LD_PRELOAD": PRELOAD, "LASTREF_OUTPUT": self.trace, "LASTREF_QUIET": "1"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        wait_until(lambda: os.path.exists(self.path("said")), "the daemon")

        def finished():
            with Trace(self.trace) as trace:
                return trace.one("SELECT value FROM meta WHERE key = 'state'") == "complete" and len(trace.processes()) == 2
        wait_until(finished, "the drains of both")
        trace = self.open_trace()
        self.assertEqual(sorted(self.recorded_calls(trace, p["id"]) for p in trace.processes()), [10, 5000])

    def test_set_user_id_program(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to give a program to somebody else")
        program = shutil.copy(workload("way_plt"), self.path("somebody-elses"))
        os.chmod(self.folder, 0o755)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        bare = self.run_program(program, env={"LD_LIBRARY_PATH": ""})
        preloaded = self.run_program(program, env={"LD_PRELOAD": PRELOAD, "LD_LIBRARY_PATH": ""})
        self.assertEqual((preloaded.returncode, preloaded.stdout, preloaded.stderr), (bare.returncode, bare.stdout, bare.stderr))
        done = self.record(program, env={"LD_LIBRARY_PATH": ""})
        self.assertEqual((done.returncode, done.stdout), (bare.returncode, bare.stdout))
        self.assertIn("changes the user", done.stderr)
        self.assertEqual(self.report()[1], INCOMPLETE)


class Threads(Unusual):
    def test_ten_thousand_short_lived(self):
        trace = self.run_both("ten_thousand_threads")
        self.assert_all_calls(trace)
        self.assertEqual(trace.one("SELECT count(DISTINCT thread) FROM event JOIN api ON api.id = api WHERE name = 'cuStreamQuery'"), 10000)

    def test_a_thousand_at_once(self):
        self.assert_all_calls(self.run_both("a_thousand_at_once"))


class TakenAway(Unusual):
    def test_another_root(self):
        trace = self.run_both("chroot", self.path("root", folder=True))
        self.assert_counted(trace)

    def test_another_root_before_the_first_call(self):
        # Nothing can be written from in there: one line says so, and the report knows that nothing was recorded.
        trace = self.run_both("chroot", self.path("root", folder=True), "first")
        self.assertEqual(trace.processes(), [])
        self.assertIn("not recording", self.done.stderr)
        self.assertEqual(self.report()[1], INCOMPLETE)

    def in_namespace(self, mounts, *command):
        if not in_a_mount_namespace():
            self.skipTest("may not mount anything here")
        return ("unshare", "-m", "sh", "-c", f"{mounts} && exec \"$@\"", "sh", *command)

    def record_in_namespace(self, mounts, *options):
        return self.run_program(*self.in_namespace(
            mounts, os.path.join(BUILD, "bin", "lastref"), "record", "-o", self.trace, *options, "--", workload("unusual"), "many_calls"))

    def test_full_disk_under_the_spool(self):
        small = self.path("small", folder=True)
        self.done = self.record_in_namespace(f"mount -t tmpfs -o size=4m none {small}", "--spool-dir", small)
        self.assertEqual((self.done.returncode, self.done.stdout), (0, "calls 200000\n"), self.done.stderr)
        self.assert_counted(self.open_trace())

    def test_full_disk_under_the_trace(self):
        # The trace cannot hold it all: it says so, and names the spools that still do.
        small = self.path("small", folder=True)
        self.trace = os.path.join(small, "t.lastref")
        keep = self.path("kept.lastref")
        self.done = self.run_program(*self.in_namespace(
            f"mount -t tmpfs -o size=2m none {small}", "sh", "-c",
            f"'{os.path.join(BUILD, 'bin', 'lastref')}' record -o {self.trace} --spool-dir {self.folder} -- {workload('unusual')} many_calls;"
            f" status=$?; cp {self.trace}* {self.folder}; exit $status"))
        self.trace = self.path("t.lastref")
        self.assertEqual((self.done.returncode, self.done.stdout), (0, "calls 200000\n"), self.done.stderr)
        self.assertIn("incomplete", self.done.stderr)
        imported = self.lastref("import", re.search(r"lastref import (\S+)", self.done.stderr)[1], "-o", self.trace)
        self.assertEqual(imported.returncode, 0, imported.stderr)
        self.assertFalse(os.path.exists(keep))
        trace = self.open_trace()
        self.assert_complete(trace)
        self.assertEqual(self.recorded_calls(trace), 200000)

    def test_no_memory_file_system(self):
        for mounts in ("mount -t tmpfs -o ro none /dev/shm", "mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3"):
            with self.subTest(mounts=mounts):
                if os.path.exists(self.trace):
                    os.remove(self.trace)
                self.done = self.record_in_namespace(mounts)
                self.assertEqual((self.done.returncode, self.done.stdout), (0, "calls 200000\n"), self.done.stderr)
                self.assert_all_calls(self.open_trace())

    def test_limit_on_file_sizes(self):
        # Growing beyond it would not only fail, but end the program by a signal.
        for blocks in (20000, 6000):
            with self.subTest(blocks=blocks):
                trace = self.path(f"{blocks}.lastref")
                self.done = self.record("sh", "-c", f"ulimit -f {blocks}; exec {workload('unusual')} many_calls", trace=trace)
                self.assertEqual((self.done.returncode, self.done.stdout), (0, "calls 200000\n"), self.done.stderr)
                if blocks == 20000:
                    self.assert_counted(self.open_trace(trace))
                else:
                    self.assertIn("not recording", self.done.stderr)
                    self.assertIn("File too large", self.done.stderr)
                    self.assertEqual(self.report(trace)[1], INCOMPLETE)

    def test_confined(self):
        # A filter that kills whoever opens or maps a file: the program lives, as it does alone.
        for how in ("prctl", "syscall", "no_mapping"):
            with self.subTest(how=how):
                if os.path.exists(self.trace):
                    os.remove(self.trace)
                self.assert_counted(self.run_both("confined", how))

    def test_confined_with_stacks(self):
        bare = self.run_program(workload("unusual"), "confined", "prctl")
        self.done = self.record(workload("unusual"), "confined", "prctl", options=("--stacks=all",))
        self.assertEqual((self.done.returncode, self.done.stdout), (bare.returncode, bare.stdout))
        self.assert_counted(self.open_trace())

    def test_confined_before_the_first_call(self):
        self.assert_counted(self.run_both("confined", "first"))

    def test_fork_of_a_confined_program(self):
        trace = self.run_both("forks_confined")
        self.assertEqual(self.recorded_calls(trace), 1010)
        self.assertEqual(trace.losses(), {"fork_unrecorded": 1})


class Loading(Unusual):
    def library(self, name):
        found = ctypes.util.find_library(name)
        if not found:
            self.skipTest(f"needs lib{name}")
        return found

    def run_in_both_orders(self, other, program="robust", command="crowd", prefix=""):
        """`other` preloaded before and after the collector; returns the traces."""
        bare = self.run_program(workload(program), command, env={"LD_PRELOAD": other})
        self.assertEqual(bare.returncode, 0, bare.stdout + bare.stderr)
        traces = []
        for number, preload in enumerate((f"{other}:{PRELOAD}", f"{PRELOAD}:{other}")):
            spools = self.path(f"spools-{number}", folder=True)
            done = self.run_program(workload(program), command, env={"LD_PRELOAD": preload, "LASTREF_SPOOL_DIR": spools})
            self.assertEqual((done.returncode, done.stdout, done.stderr), (bare.returncode, bare.stdout, bare.stderr))
            trace = self.path(f"{number}.lastref")
            if os.listdir(spools):
                self.assertEqual(self.lastref("import", spools, "-o", trace).returncode, 0)
                traces.append(self.open_trace(trace))
        return bare, traces

    def allocator(self, name):
        bare, traces = self.run_in_both_orders(self.library(name))
        for trace in traces:
            self.assert_complete(trace)
            self.assertEqual(self.recorded_calls(trace), 300 * 1500)
        # And through the recorder, which puts the collector first.
        done = self.record(workload("robust"), "crowd", env={"LD_PRELOAD": self.library(name)})
        self.assertEqual((done.returncode, done.stdout), (0, bare.stdout))

    def test_jemalloc(self):
        self.allocator("jemalloc")

    def test_tcmalloc(self):
        self.allocator("tcmalloc_minimal")

    def test_another_dlsym(self):
        other = os.path.join(TOOLS, "other_dlsym.so")
        self.environment["OTHER_DLSYM_SAYS"] = "1"
        bare, traces = self.run_in_both_orders(other, command="lookups")
        self.assertIn("other dlsym: asked", bare.stdout)
        self.environment.pop("OTHER_DLSYM_SAYS")
        self.environment["LD_LIBRARY_PATH"] = os.path.join(BUILD, "lib", "simdriver")
        # Before the collector, one that asks for glibc's own dlsym by its version passes us by; the recorder puts us first.
        _, traces = self.run_in_both_orders(other, program="way_dlsym", command="legacy")
        self.assertGreater(len(traces[-1].main_calls()), 25)
        done = self.record(workload("way_dlsym"), "legacy", env={"LD_PRELOAD": other})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.open_trace().main_calls(), traces[-1].main_calls())

    def sanitized(self, which):
        program = f"robust_{which}"
        if not os.path.exists(workload(program)):
            self.skipTest(f"the compiler has no {which} sanitizer")
        for command in ("crowd", "lookups", "late"):
            with self.subTest(command=command):
                if os.path.exists(self.trace):
                    os.remove(self.trace)
                bare = self.run_program(workload(program), command)
                if bare.returncode != 0 and "memory mapping" in bare.stderr:
                    self.skipTest("addresses are randomized too widely for this sanitizer")
                self.assertEqual(bare.returncode, 0, bare.stderr)
                trace = self.run_both(command, program=program)
                if command == "crowd":
                    self.assert_all_calls(trace)

    def test_address_sanitizer_program(self):
        self.sanitized("address")

    def test_thread_sanitizer_program(self):
        self.sanitized("thread")

    def test_namespace_of_its_own(self):
        # Its calls go past the collector; those of the program's own driver do not, and go where they should.
        trace = self.run_both("dlmopen")
        self.assertEqual(self.recorded_calls(trace), 500)
        self.assertEqual(trace.losses(), {"second_driver": 2})
        self.assertEqual(self.report()[1], INCOMPLETE)

    def test_deep_binding(self):
        # What reaches the driver past the collector is not recorded, and the trace knows.
        trace = self.run_both("deepbind", os.path.join(TOOLS, "plugin.so"))
        self.assertEqual(self.recorded_calls(trace), 500)
        self.assertEqual(trace.losses(), {"bound_past": 1})
        self.assertEqual(self.report()[1], INCOMPLETE)


if __name__ == "__main__":
    unittest.main()
