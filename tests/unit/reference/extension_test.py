"""The queue inside an extension module: python extension_test.py FOLDER-OF-THE-MODULE

Every test is a program of its own, since what matters most is how an interpreter ends.
"""

import subprocess
import sys
import textwrap
import unittest

MODULE_FOLDER = sys.argv.pop(1)

PREAMBLE = """
import sys, threading, time
sys.path.insert(0, {folder!r})
import lastref_reference_probe as probe
cleaned = []
def clean():
    assert threading.current_thread() is threading.main_thread()
    cleaned.append(1)
def run():
    time.sleep(0)  # gives the GIL up once: CPython 3.11 looks for other threads' pending calls when it takes it again
    for _ in range(1000): pass
"""


def run(code):
    program = PREAMBLE.format(folder=MODULE_FOLDER) + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-I", "-X", "dev", "-c", program], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


class Extension(unittest.TestCase):
    def check(self, code, output):
        self.assertEqual(run(code), (0, output, ""))

    def test_more_callbacks_than_pending_calls(self):
        self.check("""
            probe.release_elsewhere(clean, 100)
            run()
            print(len(cleaned), probe.counts()["refusals"])
        """, "100 0\n")

    def test_saturated(self):
        self.check("""
            places = probe.release_elsewhere(clean, 40, True)
            assert places in (31, 32), places
            run()
            print(len(cleaned), probe.counts()["refusals"])
            probe.retry()
            run()
            print(len(cleaned))
        """, "0 40\n40\n")

    def test_main_thread_only(self):
        self.check("""
            def work():
                probe.release_elsewhere(clean, 5)
                run()
            others = [threading.Thread(target=work) for _ in range(8)]
            for t in others: t.start()
            for t in others: t.join()
            probe.retry()
            run()
            print(len(cleaned))
        """, "40\n")

    def test_queued_at_exit(self):
        self.check("""
            probe.release_elsewhere(lambda: print("cleaned up"), 3, True)
        """, "cleaned up\n" * 3)

    def test_released_by_the_teardown_of_modules(self):
        # Released after the shut-down: leaked on purpose, and above all no crash.
        self.check("""
            class Late:
                def __del__(self, probe=probe):
                    probe.release_elsewhere(print, 1)
                    sys.stderr.flush()
                    assert probe.leaked() == 1
                    sys.stdout.write("late\\n")
            kept = Late()
            sys.modules["keeps_it"] = kept
        """, "late\n")

    def test_sub_interpreters_are_refused(self):
        self.check("""
            try:
                import _xxsubinterpreters as sub
            except ImportError:
                import _interpreters as sub
            try:
                made = sub.create()
            except TypeError:
                made = sub.create("legacy")
            code = "import sys; sys.path.insert(0, %r)" % sys.path[0] + '''
            try:
                import lastref_reference_probe
            except ImportError as refused:
                print("refused:", refused, flush=True)
            '''.replace("\\n            ", "\\n")
            sub.run_string(made, code)
            sub.destroy(made)
            probe.release_elsewhere(clean, 2)
            run()
            print(len(cleaned))
        """, "refused: deferred CUDA clean-up runs in the main interpreter only\n2\n")

    def test_imported_twice(self):
        self.check("""
            del sys.modules["lastref_reference_probe"]
            import lastref_reference_probe as again
            again.release_elsewhere(clean, 2)
            run()
            print(len(cleaned))
        """, "2\n")

    def test_an_exception_in_a_clean_up(self):
        self.check("""
            seen = []
            sys.unraisablehook = lambda u: seen.append(u.exc_type)
            def fail(): raise ValueError
            probe.release_elsewhere(fail, 1)
            probe.release_elsewhere(clean, 1)
            run()
            print(seen == [ValueError], len(cleaned))
        """, "True 1\n")


if __name__ == "__main__":
    unittest.main()
