"""LD_PRELOAD alone, drains that die, spools that are left over: the trace is whole in the end."""

import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import elf
from harness import INCOMPLETE, LASTREF, PATIENCE, PRELOAD, Case, Trace, wait_until, workload

HERE = os.path.dirname(os.path.abspath(__file__))


def finished(path):
    """Whether the trace is there and its recording has ended."""
    try:
        with Trace(path) as trace:
            return trace.column("SELECT value FROM meta WHERE key = 'state'") not in ([], ["recording"])
    except Exception:  # not there yet, or just being made
        return False


class BarePreload(Case):
    """The collector starts a detached drain itself."""

    def run_preloaded(self, *command, **environment):
        return self.run_program(*command, env={"LD_PRELOAD": PRELOAD, **environment})

    def traces(self):
        return glob.glob(self.path("*.lastref"))

    def one_trace(self):
        path = wait_until(lambda: next(iter(self.traces()), None), "a trace in the working folder")
        wait_until(lambda: finished(path), "the end of the detached drain")
        return self.open_trace(path)

    def test_makes_the_same_trace_as_record(self):
        bare = self.run_program(workload("user_objects"))
        done = self.run_preloaded(workload("user_objects"))
        self.assertEqual((done.returncode, done.stdout), (bare.returncode, bare.stdout))
        trace = self.one_trace()
        self.assert_complete(trace)
        calls = trace.main_calls()
        self.assertEqual(self.recorded(workload("user_objects")).main_calls(), calls)

    def test_says_where_the_trace_is(self):
        bare = self.run_program(workload("way_plt"))
        done = self.run_preloaded(workload("way_plt"))
        said = done.stderr[len(bare.stderr):]
        self.assert_one_line(said, "lastref: ")
        path = self.one_trace().path
        self.assertIn(path, said)

    def test_quiet(self):
        bare = self.run_program(workload("way_plt"))
        done = self.run_preloaded(workload("way_plt"), LASTREF_QUIET="1")
        self.assertEqual((done.stdout, done.stderr), (bare.stdout, bare.stderr))
        self.one_trace()

    def test_named_trace(self):
        self.run_preloaded(workload("way_plt"), LASTREF_OUTPUT=self.trace)
        wait_until(lambda: finished(self.trace), "the trace that LASTREF_OUTPUT names")
        self.assertIn("cuInit", self.open_trace().calls())

    def test_disabled(self):
        bare = self.run_program(workload("way_plt"))
        done = self.run_preloaded(workload("way_plt"), LASTREF_DISABLE="1")
        self.assertEqual((done.stdout, done.stderr), (bare.stdout, bare.stderr))
        self.assertEqual(self.traces(), [])

    def test_program_does_not_see_the_drain(self):
        # A program that waits for all its children must find its own only, and none left over.
        script = f"{workload('way_plt')} >/dev/null; exec {workload('fork_child')}"
        bare = self.run_program("sh", "-c", script)
        done = self.run_preloaded("sh", "-c", script)
        self.assertEqual((done.returncode, done.stdout), (bare.returncode, bare.stdout))

    def test_crashed_program(self):
        done = self.run_preloaded(workload("crash"))
        self.assertEqual(done.returncode, -signal.SIGSEGV)
        trace = self.one_trace()
        self.assertEqual([p["end"] for p in trace.processes()], ["abrupt"])
        self.assertEqual(trace.calls().count("cuMemFreeAsync"), 100)

    def test_spools_are_gone_afterwards(self):
        before = set(glob.glob("/dev/shm/lastref-*"))
        done = self.run_preloaded(workload("way_plt"))
        self.assertEqual(done.returncode, 0)
        self.one_trace()
        wait_until(lambda: not [f for f in set(glob.glob("/dev/shm/lastref-*")) - before if self.is_ours(f)],
                   "the spool's folder to be removed")

    @staticmethod
    def is_ours(folder):
        # Tests run side by side: a folder of a process that lives is another test's.
        pid = re.search(r"lastref-(\d+)-", folder)
        return pid and not os.path.exists(f"/proc/{pid[1]}")

    def test_without_a_drain_the_import_is_named(self):
        done = self.run_preloaded(workload("user_objects"), LASTREF_PROGRAM=self.path("not-there"))
        told = re.search(r"lastref import (\S+)", done.stderr)
        self.assertTrue(told, done.stderr)
        imported = self.lastref("import", told[1], "-o", self.trace)
        self.assertEqual(imported.returncode, 0, imported.stderr)
        trace = self.open_trace()
        self.assert_complete(trace)
        again = self.path("again.lastref")
        self.record(workload("user_objects"), trace=again)
        self.assertEqual(self.open_trace(again).main_calls(), trace.main_calls())


class DrainDies(Case):
    """The drain of a bare preload is killed at some point; `lastref import` finishes what it began."""

    def setUp(self):
        super().setUp()
        # Stands for `lastref`: leaves its arguments and process id, then becomes it.
        self.stand_in = elf.write(self.path("stand-in"), (
            '#!/bin/sh\necho "$@" > %s/arguments\necho $$ > %s/pid\n%s\nexec %s "$@"\n' % (
                self.folder, self.folder, "{}", LASTREF)).encode())

    def become(self, before=""):
        with open(self.stand_in, encoding="utf-8") as file:
            text = file.read()
        with open(self.stand_in, "w", encoding="utf-8") as file:
            file.write(text.replace("{}", before))

    def spool_folder(self):
        with open(self.path("arguments"), encoding="utf-8") as file:
            return re.search(r"--spool-dir (\S+)", file.read())[1]

    def drain_pid(self):
        with open(self.path("pid"), encoding="utf-8") as file:
            return int(file.read())

    def start(self, *command):
        return subprocess.Popen([str(c) for c in command], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, env={
                                    **self.environment, "LD_PRELOAD": PRELOAD, "LASTREF_PROGRAM": self.stand_in,
                                    "LASTREF_OUTPUT": self.trace})

    def kill_drain(self):
        pid = self.drain_pid()
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return  # it was through already, which is an outcome like any other
        # Until it is gone it holds its lock on the trace.
        wait_until(lambda: not os.path.exists(f"/proc/{pid}/exe") or not self.is_running(pid), "the drain to be gone")

    @staticmethod
    def is_running(pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                return file.read().rpartition(")")[2].split()[0] not in "ZX"
        except OSError:
            return False

    def check_import(self, expected):
        folder = self.spool_folder()
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        if os.path.isdir(folder):  # else the drain was through before it was killed
            done = self.lastref("import", folder, "-o", self.trace)
            self.assertEqual(done.returncode, 0, done.stderr)
        trace = self.open_trace()
        self.assert_complete(trace)
        self.assertEqual(trace.main_calls(), expected)

    def test_killed_before_it_did_anything(self):
        expected = self.usual("user_objects")
        self.become("kill -STOP $$")
        program = self.start(workload("user_objects"))
        wait_until(lambda: os.path.exists(self.path("pid")), "the drain to be started")
        program.wait(PATIENCE)
        self.kill_drain()
        self.check_import(expected)

    def usual(self, name):
        trace = self.path("usual.lastref")
        self.assertEqual(self.record(workload(name), trace=trace).returncode, 0)
        return self.open_trace(trace).main_calls()

    def test_killed_at_any_time(self):
        expected = self.usual("user_objects")
        self.become()
        seed = random.randrange(1 << 32)
        times = random.Random(seed)
        for attempt in range(12):
            with self.subTest(seed=seed, attempt=attempt):
                for name in ("pid", "arguments", "t.lastref", "t.lastref-wal", "t.lastref-shm"):
                    if os.path.exists(self.path(name)):
                        os.remove(self.path(name))
                program = self.start(workload("user_objects"))
                wait_until(lambda: os.path.exists(self.path("pid")) and os.path.getsize(self.path("pid")) > 0,
                           "the drain to be started")
                time.sleep(times.uniform(0, 0.25))
                self.kill_drain()
                program.wait(PATIENCE)
                self.check_import(expected)


class LeftOver(Case):
    """Spools that no drain has read: made by naming a folder, as `lastref record` does, with no drain on it."""

    def setUp(self):
        super().setUp()
        self.spools = self.path("spools", folder=True)

    def spool(self, name, **environment):
        done = self.run_program(workload(name), env={"LD_PRELOAD": PRELOAD, "LASTREF_SPOOL_DIR": self.spools, **environment})
        return done, sorted(glob.glob(os.path.join(self.spools, "*.spool")))

    def import_all(self):
        done = self.lastref("import", self.spools, "-o", self.trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.open_trace()

    def test_name_says_whose_it_is(self):
        _, (spool,) = self.spool("way_plt")
        self.assertRegex(os.path.basename(spool), r"^\d+-\d+-\d+\.spool$")
        self.assertEqual(os.stat(spool).st_mode & 0o777, 0o600)

    def test_import_of_a_folder(self):
        self.spool("fork_child")
        trace = self.import_all()
        self.assert_complete(trace)
        self.assertEqual(len(trace.processes()), 3)

    def test_import_of_one_spool(self):
        _, (spool,) = self.spool("user_objects")
        done = self.lastref("import", spool, "-o", self.trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        imported = self.open_trace().main_calls()
        again = self.path("recorded.lastref")
        self.record(workload("user_objects"), trace=again)
        self.assertEqual(self.open_trace(again).main_calls(), imported)

    def test_import_of_a_cut_spool(self):
        # What is whole in it is read, the rest is a loss, and the report does not call that clean.
        _, (spool,) = self.spool("threads")
        whole = self.import_of(shutil.copy(spool, self.path("whole.spool")), "whole.lastref")
        for share in (0.999, 0.9):
            with self.subTest(share=share):
                cut = self.path(f"{share}.spool")
                shutil.copy(spool, cut)
                os.truncate(cut, int(os.path.getsize(cut) * share))
                done = self.lastref("import", cut, "-o", self.path(f"{share}.lastref"))
                self.assert_not_signalled(done)
                if done.returncode == 0:
                    trace = self.open_trace(self.path(f"{share}.lastref"))
                    self.assertLessEqual(len(trace.calls()), len(whole.calls()))
                    self.assertTrue(len(trace.calls()) == len(whole.calls()) or trace.losses())

    def import_of(self, spool, name):
        self.assertEqual(self.lastref("import", spool, "-o", self.path(name)).returncode, 0)
        return self.open_trace(self.path(name))

    def test_import_of_a_damaged_spool(self):
        _, (spool,) = self.spool("user_objects")
        size = os.path.getsize(spool)
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        for attempt in range(10):
            damaged = self.path(f"{attempt}.spool")
            shutil.copy(spool, damaged)
            with open(damaged, "r+b") as file:
                for _ in range(20):
                    file.seek(chance.randrange(max(0, size - 70000), size))
                    file.write(bytes([chance.randrange(256)]))
            with self.subTest(seed=seed, attempt=attempt):
                done = self.lastref("import", damaged, "-o", self.path(f"{attempt}.lastref"))
                self.assert_not_signalled(done)

    def test_spool_cap(self):
        # With no drain to empty it, a spool that may not grow drops and counts. The program does not notice, every call
        # is either there or counted, and the report is not clean.
        counted = self.run_program(sys.executable, os.path.join(HERE, "programs", "many_calls.py"), env={
            "LD_PRELOAD": PRELOAD, "LASTREF_SPOOL_DIR": self.spools, "LASTREF_SPOOL_MAX": "4M", "LASTREF_STACKS": "off"})
        self.assertEqual(counted.returncode, 0, counted.stderr)
        trace = self.import_all()
        dropped = trace.losses()["records_dropped"]
        self.assertGreater(dropped, 1000)
        # The process's last phases may have found no room either.
        self.assertIn(trace.calls().count("cuCtxGetCurrent") + dropped - int(counted.stdout), range(4))
        self.assertEqual(self.report()[1], INCOMPLETE)
