"""`lastref record` stands between a program and its caller without either noticing."""

import os
import signal
import subprocess
import time

from harness import LASTREF, PATIENCE, Case, wait_until


class PassThrough(Case):
    def test_exit_status(self):
        for status in (0, 1, 2, 3, 4, 77, 255):
            with self.subTest(status=status):
                self.assertEqual(self.record("sh", "-c", f"exit {status}", trace=self.path(f"{status}.lastref")).returncode,
                                 status)

    def test_death_by_signal(self):
        done = self.record("sh", "-c", "kill -TERM $$")
        # As a shell reports it, or by the same signal: both are what callers understand.
        self.assertIn(done.returncode, (128 + signal.SIGTERM, -signal.SIGTERM))

    def test_input_and_output(self):
        done = self.record("sh", "-c", "cat; echo to-error >&2", input="line one\nline two\n")
        self.assertEqual(done.stdout, "line one\nline two\n")
        self.assertIn("to-error\n", done.stderr)
        self.assertEqual(done.returncode, 0)

    def test_arguments_reach_the_program_unchanged(self):
        arguments = ["--format", "-o", "a b", "", "--", "$HOME", "\\n", "*"]
        done = self.record("sh", "-c", 'for a; do printf "[%s]" "$a"; done', "sh", *arguments)
        self.assertEqual(done.stdout, "".join(f"[{a}]" for a in arguments))

    def test_closed_output(self):
        # A reader that goes away ends the program by SIGPIPE, as without lastref.
        done = self.run_program("sh", "-c", f"{LASTREF} record -o {self.trace} -- sh -c 'yes; echo status $? >&2' | head -n 1")
        self.assertEqual(done.stdout, "y\n")
        self.assertEqual(done.returncode, 0)

    def start(self, script, name="t"):
        process = subprocess.Popen([LASTREF, "record", "-o", self.path(name + ".lastref"), "--", "sh", "-c", script], cwd=self.folder,
                                   env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def test_signals_reach_the_program(self):
        for name in ("INT", "TERM", "HUP", "USR1", "USR2", "QUIT"):
            with self.subTest(signal=name):
                process = self.start(f"trap 'echo got; exit 9' {name}; echo ready; while :; do sleep 0.05; done", name)
                self.assertEqual(process.stdout.readline(), "ready\n")
                process.send_signal(getattr(signal, "SIG" + name))
                self.assertEqual(process.stdout.readline(), "got\n")
                self.assertEqual(process.wait(PATIENCE), 9)

    def test_interrupt_from_the_terminal(self):
        # The terminal signals the whole group: the program gets it once, and lastref lives to finish the trace.
        process = self.start("trap 'echo got' INT; echo ready; sleep 0.5; sleep 0.5; exit 5")
        self.assertEqual(process.stdout.readline(), "ready\n")
        os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(out, "got\n")
        self.assertEqual(process.returncode, 5)

    def test_stop_and_continue(self):
        process = self.start("echo ready; sleep 0.2; echo done")
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGTSTP)
        time.sleep(0.3)
        process.send_signal(signal.SIGCONT)
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual((out, process.returncode), ("done\n", 0))


class Environment(Case):
    def test_variables_reach_the_program(self):
        done = self.record("sh", "-c", 'printf "%s|%s" "$KEPT" "$LD_LIBRARY_PATH"', env={"KEPT": "as it was"})
        self.assertEqual(done.stdout, f"as it was|{self.environment['LD_LIBRARY_PATH']}")

    def test_other_preloads_stay(self):
        # What was preloaded before still is: libc's own libm serves as any library.
        done = self.record("sh", "-c", 'printf "%s" "$LD_PRELOAD"', env={"LD_PRELOAD": "libm.so.6"})
        self.assertIn("libm.so.6", done.stdout)
        self.assertIn("liblastref.so", done.stdout)

    def test_folder_and_umask_stay(self):
        done = self.record("sh", "-c", "pwd; umask", preexec_fn=lambda: os.umask(0o027))
        self.assertEqual(done.stdout.split(), [os.path.realpath(self.folder), "0027"])

    def test_no_open_files_are_handed_down(self):
        bare = self.run_program("sh", "-c", "ls /proc/self/fd | wc -l")
        self.assertEqual(self.record("sh", "-c", "ls /proc/self/fd | wc -l").stdout, bare.stdout)


class Afterwards(Case):
    def test_nothing_is_left_behind(self):
        self.record("sh", "-c", "exit 0")
        self.assertEqual(os.listdir(self.path("tmp")), [])
        self.assertEqual(os.listdir(self.path("run")), [])

    def test_programs_without_the_driver_say_nothing(self):
        bare = self.run_program("sh", "-c", "echo out; echo err >&2")
        preloaded = self.run_program("sh", "-c", "echo out; echo err >&2",
                                     env={"LD_PRELOAD": os.path.join(os.path.dirname(LASTREF), "..", "lib", "liblastref.so")})
        self.assertEqual((preloaded.stdout, preloaded.stderr), (bare.stdout, bare.stderr))
        wait_until(lambda: os.listdir(self.path("tmp")) == [], "the scratch folder to be empty")
