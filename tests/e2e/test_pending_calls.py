"""CPython's pending calls, in programs that know nothing of lastref: attempts, refusals, runs, and the interpreter's phases."""

import ctypes.util
import glob
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import unittest

from harness import PRELOAD, WORKLOADS, Case, workload

QUEUE = os.path.join(WORKLOADS, "python", "pending_queue.so")
FILLER = os.path.join(WORKLOADS, "python", "pending_filler.so")
LINKED = workload("python_linked")
LOADED = workload("python_loaded")

# The main thread runs pending calls in between.
BEGIN = f"""
import ctypes, os, sys, time
queue = ctypes.CDLL({QUEUE!r})
def come_by(done=lambda: False):
    for _ in range(2000):
        time.sleep(0.001)
        if done(): return True
assert queue.set_up() == 0
"""


def interpreters():
    """Those of this machine that run, by their real paths: the one that runs the tests first."""
    found = {}
    for name in [sys.executable, "/usr/bin/python3", *(f"python3.{minor}{kind}" for minor in range(10, 15) for kind in ("", "t"))]:
        path = shutil.which(name)
        if not path:
            continue
        done = subprocess.run([path, "-c", "import sys; print(sys.executable, sys.version_info >= (3, 10))"], capture_output=True,
                              text=True, check=False, env={**os.environ, "PYTHONPATH": ""})
        words = done.stdout.split()
        if done.returncode == 0 and words[-1] == "True":
            found.setdefault(os.path.realpath(words[0]), None)
    return list(found)


def shared_library():
    """A libpython that a program can load, or None."""
    names = [os.path.join(folder, name) for folder in (sysconfig.get_config_var("LIBDIR"), "/usr/lib/x86_64-linux-gnu", "/usr/lib64")
             if folder for name in glob.glob1(folder, "libpython3.1*.so.1.0") if re.search(r"libpython3\.1\d", name)]
    return names[0] if names else None


class PendingCalls(Case):
    def setUp(self):
        super().setUp()
        # So that destructors run on a thread of the driver's.
        self.environment["LASTREF_SIM_CALLBACK_US"] = "100"

    def script(self, text, begin=BEGIN):
        path = self.path("program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(begin + text)
        return path

    def python(self, text, interpreter=sys.executable, begin=BEGIN, **more):
        """Bare and recorded, the program does the same; returns its trace."""
        program = [interpreter, "-S", self.script(text, begin)]
        bare = self.run_program(*program)
        self.assertEqual(bare.returncode, 0, bare.stderr)
        done = self.record(*program, **more)
        self.assertEqual((done.returncode, done.stdout), (0, bare.stdout), done.stderr)
        return self.open_trace()

    def phases(self, trace):
        return trace.column("SELECT what FROM phase WHERE what LIKE 'python%' ORDER BY at, rowid")

    def test_a_hundred_payloads_and_one_pending_call(self):
        for interpreter in interpreters():
            with self.subTest(interpreter=interpreter):
                if os.path.exists(self.trace):
                    os.remove(self.trace)
                trace = self.python("assert queue.make(100) == 0 and queue.release() == 0\n"
                                    "assert come_by(lambda: queue.number_cleaned() == 100)\nprint('done')\n", interpreter)
                self.assert_complete(trace)
                # A wait in C: until it is over the main thread runs nothing.
                self.assertEqual(
                    trace.rows("SELECT in_callback, result, became, payload_callbacks, on_main_thread, run_result, driver_calls, frees,"
                               " waited_us > 0 AND ran_us > 0, callback IN (SELECT event FROM callbacks WHERE what LIKE 'user%'),"
                               " tid <> ran_on FROM pending_calls"),
                    [(1, 0, "ran", 100, 1, 0, 100, 100, 1, 1, 1)])
                self.assertEqual(trace.one("SELECT count(*) FROM calls WHERE call = 'cuMemFree' AND (in_callback OR result <> 0)"), 0)
                # Its frees are the program's own: no call of the driver's is around them.
                self.assertEqual(trace.one("SELECT count(*) FROM event WHERE flags & 2"), 0)
                self.assertEqual(self.phases(trace), ["python_initialized", "python_finalizing", "python_finalized"])
                text = " ".join(self.lastref("report", self.trace).stdout.split())
                self.assertRegex(text, r"100 payload callbacks on the driver's thread \(\d+\), 1 pending call scheduled, ran on the main "
                                       r"thread after at most \S+ \S+; 100 frees \(100 KiB\) inside\.")

    def test_in_the_report(self):
        self.python("assert queue.make(5) == 0 and queue.release() == 0\nassert come_by(lambda: queue.number_cleaned() == 5)\n")
        report, _ = self.report()
        found, = report["trace"]["pending_calls"]
        self.assertEqual((found["attempts"], found["refused"], found["in_callbacks"], found["runs"], found["never_ran"],
                          found["payload_callbacks"], found["frees"], found["freed_bytes"]), (1, 0, 1, 1, 0, 5, 5, 5 * 1024))
        self.assertEqual(report["trace"]["callbacks"]["python:pending_call"], 1)

    def test_a_full_queue_refuses_and_takes_again(self):
        trace = self.python("assert queue.make(7) == 0\ntaken = queue.saturate_and_release()\nassert taken > 0\n"
                            "assert come_by(lambda: queue.number_of_others() == taken)\nassert queue.number_cleaned() == 0\n"
                            "assert queue.number_refused() == 7\nqueue.retry()\n"
                            "assert come_by(lambda: queue.number_cleaned() == 7)\nprint(taken)\n")
        self.assert_complete(trace)
        taken = 31 if sys.version_info < (3, 13) else 32
        # The one refused to the filler itself, then those of the seven destructors, then the one that was accepted.
        self.assertEqual(
            trace.rows("SELECT became, in_callback, count(*), max(frees) FROM pending_calls GROUP BY became, in_callback, argument = '0x0'"
                       " ORDER BY 1, 2, 3"),
            [("ran", 0, 1, 7), ("ran", 0, taken, 0), ("refused", 0, 1, None), ("refused", 1, 7, None)])
        self.assertEqual(trace.column("SELECT payload_callbacks FROM pending_calls WHERE frees"), [7])
        text = " ".join(self.lastref("report", self.trace).stdout.split())
        self.assertRegex(text, r"7 attempts refused since CPython's queue was full, the first at \S+ s; one was accepted at \S+ s\.")
        self.assertIn(f"Other pending calls of CPython: {taken + 1} attempts, 1 refused, {taken} runs.", text)

    def test_a_library_loaded_later(self):
        trace = self.python(f"assert queue.make(3) == 0 and queue.release() == 0 and come_by(lambda: queue.number_cleaned() == 3)\n"
                            f"filler = ctypes.CDLL({FILLER!r})\ntime.sleep(0.02)\nqueue.make(1)\n"
                            "taken = filler.fill()\nassert come_by(lambda: filler.number_run() == taken)\nprint(taken)\n")
        taken = 31 if sys.version_info < (3, 13) else 32
        self.assertEqual(trace.rows("SELECT became, count(*) FROM pending_calls WHERE NOT in_callback GROUP BY became ORDER BY 1"),
                         [("ran", taken), ("refused", 1)])

    def test_asked_for_with_dlsym(self):
        trace = self.python("@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)\ndef called(_):\n    print('called')\n    return 0\n"
                            "assert ctypes.pythonapi.Py_AddPendingCall(called, None) == 0\ncome_by(lambda: True)\n")
        self.assertEqual(trace.rows("SELECT became, in_callback FROM pending_calls"), [("ran", 0)])

    def test_a_child_runs_what_it_inherits(self):
        trace = self.python("assert queue.add_one() == 0 and come_by(lambda: queue.number_of_others() == 1)\n"
                            "child = queue.add_and_fork()\ncome_by(lambda: queue.number_of_others() == 2)\n"
                            "if child == 0: os._exit(queue.number_of_others())\n"
                            "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2\nprint(queue.number_of_others())\n")
        self.assertEqual(len(trace.processes()), 1)
        self.assertEqual(trace.column("SELECT became FROM pending_calls"), ["ran", "ran"])

    def test_left_at_the_interpreters_end(self):
        trace = self.python("class last:\n    def __init__(self): self.queue = queue\n    def __del__(self):\n"
                            "        self.queue.make(2)\n        self.queue.release()\nkept = last()\nkept.self = kept\nprint('end')\n")
        self.assertEqual(self.phases(trace), ["python_initialized", "python_finalizing", "python_finalized"])
        attempts = trace.rows("SELECT event, became FROM pending_calls")
        self.assertEqual(len(attempts), 1)
        finalizing = trace.one("SELECT event FROM phase WHERE what = 'python_finalizing'")
        self.assertGreater(attempts[0][0], finalizing)
        report, _ = self.report()
        asked, = [f for f in report["findings"] if f["rule"] == "queue-contract"]
        self.assertIn("while the interpreter was finalizing", asked["title"])
        ran, = [f for f in report["findings"] if f["rule"] == "shutdown-release"]
        self.assertEqual((ran["severity"], ran["title"]), ("note", "2 destructors of user objects ran while the interpreter was finalizing"))

    def steps(self, trace):
        """For each free, by the size of its memory, the phase of the interpreter in which it was made."""
        return trace.rows(
            "SELECT made.size, (SELECT what FROM phase WHERE what LIKE 'python%' AND phase.event < freed.id ORDER BY phase.event DESC,"
            " phase.rowid DESC LIMIT 1) FROM event freed JOIN api ON api.id = freed.api AND api.name = 'cuMemFree' JOIN event made"
            " ON made.id = (SELECT max(e.id) FROM event e JOIN api a ON a.id = e.api WHERE a.name = 'cuMemAlloc' AND e.object ="
            " freed.object AND e.id < freed.id) ORDER BY freed.id")

    @unittest.skipUnless(os.path.exists(LINKED), "no CPython to embed")
    def test_linked_into_a_program(self):
        trace = self.recorded(LINKED)
        self.assert_complete(trace)
        ended, begun = "python_finalized", "python_initialized"
        self.assertEqual(self.steps(trace), [(100, None), (101, begun), (102, begun), (103, ended),
                                             (200, ended), (201, begun), (202, begun), (203, ended)])
        self.assertEqual(trace.rows("SELECT became, frees FROM pending_calls"), [("ran", 1), ("ran", 1)])
        # Its end is seen as Py_FinalizeEx returns, before anything is called.
        self.assertEqual(trace.one("SELECT count(*) FROM phase WHERE what = 'python_finalized' AND at >= (SELECT min(begin) FROM event"
                                   " WHERE id > phase.event AND event.begin > phase.at - 1000000000 AND size IN (103, 203))"), 0)

    @unittest.skipUnless(shared_library(), "no shared libpython")
    def test_loaded_and_unloaded(self):
        trace = self.recorded(LOADED, shared_library())
        self.assert_complete(trace)
        self.assertEqual(self.steps(trace), [(100, None), (101, "python_initialized"), (102, "python_initialized"),
                                             (103, "python_finalized"), (200, "python_finalized")])
        self.assertEqual(trace.rows("SELECT became, frees FROM pending_calls"), [("ran", 1)])

    def test_more_than_there_are_places_for(self):
        trace = self.recorded(workload("no_python"), "many", FILLER)
        self.assertEqual(trace.losses(), {"pending_calls_unwrapped": 1500 - 1024})
        # Every third was dropped. The 1024 with a place are recorded when they run; those without run all the same, and a refusal
        # is one with or without.
        self.assertEqual(trace.rows("SELECT became, count(*) FROM pending_calls GROUP BY became ORDER BY 1"),
                         [("never ran", 1500 - 682 + 1), ("ran", 682), ("refused", 1)])
        self.assertEqual(trace.one("SELECT value FROM meta WHERE key = 'state'"), "complete")

    def test_from_many_threads_at_once(self):
        trace = self.recorded(workload("no_python"), "threads", FILLER)
        self.assert_complete(trace)
        self.assertEqual(trace.rows("SELECT count(*), count(DISTINCT argument), min(waited_us) >= 0, sum(run_result) FROM pending_calls"
                                    " WHERE became = 'ran'"), [(40000, 40000, 1, 0)])
        self.assertEqual(trace.one("SELECT count(*) FROM pending_calls WHERE became = 'never ran'"), 0)

    def test_nothing_where_switched_off_or_without_python(self):
        program = self.script("assert queue.make(3) == 0 and queue.release() == 0 and come_by(lambda: queue.number_cleaned() == 3)\n")
        spools = self.path("spools", folder=True)
        done = self.run_program(sys.executable, "-S", program,
                                env={"LD_PRELOAD": PRELOAD, "LASTREF_SPOOL_DIR": spools, "LASTREF_DISABLE": "1"})
        self.assertEqual((done.returncode, os.listdir(spools)), (0, []), done.stderr)
        trace = self.recorded(workload("demo"))
        self.assertEqual((self.phases(trace), trace.rows("SELECT * FROM pending_calls")), ([], []))


if __name__ == "__main__":
    unittest.main()
