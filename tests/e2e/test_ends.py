"""Processes that fork, are replaced, are killed, crash or leave by _exit: nothing that had returned is lost."""

import collections
import os
import shutil
import signal
import subprocess
import sys

from harness import LASTREF, PATIENCE, Case, Trace, wait_until, workload

HERE = os.path.dirname(os.path.abspath(__file__))


def program_of(recorder):
    """The recorded program's process id: the child of the recorder that is not lastref's own drain."""
    with open(f"/proc/{recorder.pid}/task/{recorder.pid}/children", encoding="ascii") as file:
        children = [int(child) for child in file.read().split()]
    (program,) = (c for c in children if os.readlink(f"/proc/{c}/exe") != os.path.realpath(LASTREF))
    return program


class Family(Case):
    def test_fork(self):
        trace = self.recorded(workload("fork_child"))
        self.assert_complete(trace)
        processes = trace.processes()
        self.assertEqual([p["end"] for p in processes], ["clean"] * 3)
        parent = next(p for p in processes if any(q["parent_pid"] == p["pid"] for q in processes))
        first, second = (p for p in processes if p is not parent)
        self.assertEqual({first["parent_pid"], second["parent_pid"]}, {parent["pid"]})
        calls = {p["pid"]: collections.Counter(trace.calls(p["id"])) for p in processes}
        usable, refused = sorted((calls[first["pid"]], calls[second["pid"]]), key=lambda c: -c.total())
        # Each has its own calls and none of another's.
        self.assertEqual(calls[parent["pid"]]["cuMemAllocAsync"], 20)
        self.assertEqual(usable["cuMemAllocAsync"], 10)
        self.assertEqual(refused, {"cuInit": 1, "cuMemAlloc": 1})
        results = trace.column("SELECT e.result FROM event e JOIN thread t ON t.id = e.thread JOIN process p ON p.id = t.process "
                               "WHERE p.pid IN (?, ?) AND e.result = 3", first["pid"], second["pid"])
        self.assertEqual(results, [3, 3])

    def test_exec(self):
        trace = self.recorded(workload("exec_chain"), "3")
        self.assert_complete(trace)
        processes = trace.processes()
        self.assertEqual([p["end"] for p in processes], ["exec"] * 3 + ["clean"])
        self.assertEqual(len({p["pid"] for p in processes}), 1)
        for process in processes:
            self.assertEqual(trace.calls(process["id"]).count("cuMemAllocAsync"), 5)

    def test_shell_pipeline(self):
        # Several programs side by side, children of one that uses no driver.
        done = self.record("sh", "-c", f"{workload('way_plt')} | cat; {workload('way_dlsym')} & {workload('user_objects')}; wait")
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = self.open_trace()
        self.assert_complete(trace)
        names = sorted(os.path.basename(p["executable"]) for p in trace.processes())
        self.assertEqual(names, ["user_objects", "way_dlsym", "way_plt"])


class Abrupt(Case):
    def end_of(self, *command):
        bare = self.run_program(*command)
        done = self.record(*command)
        self.assertEqual(done.stdout, bare.stdout)
        status = bare.returncode
        self.assertEqual(done.returncode, status if status >= 0 else 128 - status)
        trace = self.open_trace()
        self.assert_complete(trace)
        (process,) = trace.processes()
        self.assertEqual(process["end"], "abrupt")
        return trace, process

    def test_crash(self):
        trace, process = self.end_of(workload("crash"), "1000")
        self.assertEqual((process["exit_status"], process["exit_signal"]), (None, signal.SIGSEGV))
        calls = collections.Counter(trace.calls())
        self.assertEqual((calls["cuMemAlloc"], calls["cuMemAllocAsync"], calls["cuMemFreeAsync"]), (1, 1000, 1000))

    def test_underscore_exit(self):
        trace, process = self.end_of(workload("underscore_exit"))
        self.assertEqual((process["exit_status"], process["exit_signal"]), (3, None))
        self.assertEqual(trace.calls().count("cuMemFreeAsync"), 20)
        self.assertNotIn("exit_begin", trace.column("SELECT what FROM phase"))

    def start(self, *command, **options):
        process = subprocess.Popen([LASTREF, "record", "-o", self.trace, "--", *command], cwd=self.folder, text=True,
                                   env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def test_killed_while_threads_call(self):
        recorder = self.start(workload("killed"), "4")
        self.assertEqual(recorder.stdout.readline(), "ready\n")
        program = program_of(recorder)
        os.kill(program, signal.SIGKILL)
        self.assertEqual(recorder.wait(PATIENCE), 128 + signal.SIGKILL)
        trace = self.open_trace()
        self.assert_complete(trace)
        (process,) = trace.processes()
        self.assertEqual((process["pid"], process["end"], process["exit_signal"]), (program, "abrupt", signal.SIGKILL))
        # Four threads, each with fifty rounds at the least; and at most one call of each that had not returned.
        self.assertGreaterEqual(trace.calls().count("cuMemFreeAsync"), 4 * 50)
        unreturned = trace.column("SELECT thread FROM event WHERE result IS NULL")
        self.assertLessEqual(len(unreturned), len(set(unreturned)))

    def test_no_call_that_returned_is_lost(self):
        # The program says after each call that it has returned; it is killed with SIGKILL at some time.
        for attempt in range(5):
            with self.subTest(attempt=attempt):
                if os.path.exists(self.trace):
                    os.remove(self.trace)
                recorder = self.start(sys.executable, os.path.join(HERE, "programs", "count_calls.py"))
                for _ in range(200 + 137 * attempt):
                    recorder.stdout.readline()
                program = program_of(recorder)
                os.kill(program, signal.SIGKILL)
                said = 200 + 137 * attempt + len(recorder.stdout.readlines())
                recorder.wait(PATIENCE)
                trace = self.open_trace()
                self.assert_complete(trace)
                calls = trace.one("SELECT count(*) FROM event e JOIN api a ON a.id = e.api WHERE a.name = 'cuMemAlloc' "
                                  "AND e.result = 0")
                # One more may have returned than was said.
                self.assertIn(calls - said, (0, 1))

    def kill_recorder(self, with_drain):
        """Kills the recorder before the program uses the driver; returns the spool folder once the program has ended."""
        recorder = self.start("sh", "-c", f"echo $$; sleep 1; exec {workload('user_objects')}", start_new_session=True)
        program = int(recorder.stdout.readline())
        folder = self.spool_folder_of(program)
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        victims = self.processes_of_lastref() if with_drain else [recorder.pid]
        self.assertIn(recorder.pid, victims)
        for victim in victims:
            os.kill(victim, signal.SIGKILL)
        wait_until(lambda: not os.path.exists(f"/proc/{program}"), "the program's end")
        return folder

    def processes_of_lastref(self):
        """Those that write this test's trace: the recorder and its drain, which have one command line."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    arguments = file.read().split(b"\0")
                if self.trace.encode() in arguments and os.readlink(f"/proc/{pid}/exe") == os.path.realpath(LASTREF):
                    found.append(int(pid))
            except OSError:
                continue  # gone, or another user's
        return found

    def test_recorder_is_killed(self):
        # Its drain lives on and finishes the trace.
        self.kill_recorder(with_drain=False)
        wait_until(self.trace_is_complete, "the drain to finish the trace")
        self.assert_complete(self.open_trace())
        self.assertGreater(len(self.open_trace().calls()), 50)

    def trace_is_complete(self):
        with Trace(self.trace) as trace:
            return trace.column("SELECT value FROM meta WHERE key = 'state'") == ["complete"]

    def test_recorder_and_drain_are_killed(self):
        folder = self.kill_recorder(with_drain=True)
        done = self.lastref("import", folder, "-o", self.trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_complete(self.open_trace())
        self.assertGreater(len(self.open_trace().calls()), 50)

    @staticmethod
    def spool_folder_of(pid):
        with open(f"/proc/{pid}/environ", "rb") as file:
            variables = dict(v.split(b"=", 1) for v in file.read().split(b"\0") if b"=" in v)
        return variables[b"LASTREF_SPOOL_DIR"].decode()


class Shutdown(Case):
    def test_phases(self):
        trace = self.recorded(workload("static_destructor"))
        phases = trace.column("SELECT what FROM phase ORDER BY at")
        order = [p for p in phases if p in ("driver_initialized", "exit_begin", "driver_torn_down", "end")]
        self.assertEqual(order, ["driver_initialized", "exit_begin", "driver_torn_down", "end"])

    def test_calls_after_main_are_marked(self):
        trace = self.recorded(workload("static_destructor"))
        frees = trace.rows("SELECT e.result, e.flags & 8 > 0, e.flags & 16 > 0 FROM event e JOIN api a ON a.id = e.api "
                           "WHERE a.name = 'cuMemFree' ORDER BY e.id")
        # The first handler still finds the driver: it was registered after the driver's own.
        self.assertEqual([result for result, _, _ in frees], [0, 4, 4])
        self.assertEqual([torn_down for _, _, torn_down in frees], [0, 1, 1])
        self.assertEqual([after for _, after, _ in frees][1:], [1, 1])
