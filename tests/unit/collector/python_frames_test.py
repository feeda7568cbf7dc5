"""Frames of Python as they are read from outside, against what the interpreter itself says: python_frames_test.py PROBE

Every case runs in every interpreter that is found: the running one, python3.10 to python3.14 on the path, and those that
LASTREF_PYTHONS names (separated by colons).
"""

import asyncio
import ctypes
import gc
import importlib.util
import os
import random
import shutil
import subprocess
import sys
import threading
import unittest

NEWEST = 14
WAYS = range(3)  # how much of the memory is trusted to be there
INSIDE = "--inside"


def interpreters():
    candidates = [sys.executable, *os.environ.get("LASTREF_PYTHONS", "").split(":"),
                  *(shutil.which(f"python3.{minor}") for minor in range(10, NEWEST + 1))]
    known = {}
    for path in filter(None, candidates):
        ask = "import ctypes, sys; print(sys.implementation.name, *sys.version_info[:2], sys.version, sys.executable)"
        try:
            done = subprocess.run([path, "-c", ask], capture_output=True, text=True, timeout=30)
        except OSError:
            continue
        words = done.stdout.split()
        if done.returncode == 0 and words[0] == "cpython" and (3, 10) <= (int(words[1]), int(words[2])) <= (3, NEWEST):
            known.setdefault(done.stdout, path)
    return list(known.values())


class Everywhere(unittest.TestCase):
    def test_every_interpreter(self):
        for path in interpreters():
            with self.subTest(interpreter=path):
                done = subprocess.run([path, __file__, PROBE, INSIDE], capture_output=True, text=True, timeout=200)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


# --- inside one interpreter ------------------------------------------------------------------------------------------------

def expected(frame):
    found = []
    while frame is not None:
        code = frame.f_code
        found.append((frame.f_lineno or 0, getattr(code, "co_qualname", code.co_name), code.co_filename))
        frame = frame.f_back
    return found


class Inside(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.released, cls.held = ctypes.CDLL(PROBE), ctypes.PyDLL(PROBE)
        for probe in (cls.released, cls.held):
            probe.probe_mark.restype = ctypes.c_ulong
            probe.probe_line.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_long)
        assert cls.released.probe_open() == 0

    def setUp(self):
        self.room = ctypes.create_string_buffer(1 << 20)
        self.checks = 0

    def read(self, probe, how):
        """The frames of the caller's caller, by one of the ways to read memory."""
        count = probe.probe_frames(how, self.room, len(self.room))
        self.assertGreaterEqual(count, 0)
        rows = [row.split("\t") for row in self.room.value.decode().splitlines()]
        return [(int(line), function, file) for line, function, file, _ in rows][2:], [int(row[3], 16) for row in rows]

    def check(self, *_):
        """That the frames of whoever calls are found as they are."""
        for probe in (self.released, self.held):
            for how in WAYS:
                found, entries = self.read(probe, how)
                wanted = expected(sys._getframe(1))
                self.assertEqual(found, wanted[:94])
                # On the native stack callers lie above. 3.10 does not say where.
                self.assertEqual(entries, sorted(entries))
                self.assertTrue(sys.version_info < (3, 11) or len(found) == 94 or all(entries))
        self.checks += 1
        return 0

    def done(self, times=1):
        self.assertEqual(self.checks, times)

    def test_calls(self):
        def outer(n):
            return (
                inner(
                    n)
            )

        def inner(n):
            if n:
                return outer(n - 1)
            return self.check()

        outer(5)
        self.done()

    def test_from_native_code(self):
        compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        numbers = (ctypes.c_int * 2)(1, 0)
        ctypes.CDLL(None).qsort(numbers, 2, 4, compare(lambda a, b: self.check()))
        sorted([1], key=self.check)
        list(map(lambda n: [self.check() for _ in range(1)], [1]))

        class Held:
            def __del__(held):
                self.check()

            def __eq__(held, other):
                return self.check() == 0

        Held() == Held()
        cycle = Held()
        cycle.self = cycle
        del cycle
        gc.collect()
        self.assertGreaterEqual(self.checks, 6)

    def test_generators_and_coroutines(self):
        def numbers():
            yield self.check()
            yield from more()

        def more():
            yield self.check()

        async def step():
            await asyncio.sleep(0)
            self.check()

        async def walk():
            async for _ in steps():
                pass

        async def steps():
            yield await step()

        self.assertEqual(list(numbers()), [0, 0])
        asyncio.run(walk())
        self.done(3)

    def test_statements(self):
        class Guard:
            def __enter__(guard):
                self.check()

            def __exit__(guard, *_):
                self.check()

        for number in range(2):
            with Guard():
                try:
                    if number == 0:
                        raise ValueError
                except ValueError:
                    self.check()
                finally:
                    self.check()

        class Body:
            self.check()

        exec("self.check()\n\n\nself.check()", {"self": self})
        self.done(4 + 1 + 2 + 1 + 2)

    def test_names(self):
        for file, function in (("données/é.py", "größe"), ("测试.py", "関数"), ("🙂.py", "f"), ("<string>", "g"), ("x" * 900, "h")):
            names = {"self": self}
            exec(compile(f"def {function}():\n  return self.check()", file, "exec"), names)
            names[function]()
        self.done(5)

    def test_cut(self):
        long, deep = "l" * 1000, lambda n: deep(n - 1) if n else self.check()
        deep(300)
        names = {"self": self}
        exec(compile(f"def {long}():\n  return self.released.probe_frames(0, self.room, len(self.room))", "f" * 3000, "exec"), names)
        self.assertGreater(names[long](), 0)
        line, function, file, _ = self.room.value.decode().splitlines()[0].split("\t")
        self.assertEqual((line, function, file), ("2", "l" * 320, "f" * 1600))

    def test_threads(self):
        failures = []

        def work():
            try:
                for _ in range(50):
                    self.check()
            except BaseException as failure:
                failures.append(failure)

        room = threading.local()
        threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
        lock = threading.Lock()
        check = self.check

        def one_at_a_time(*_):
            with lock:  # the probe has one buffer
                return check()

        self.check = one_at_a_time
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.done(200)
        self.assertEqual(self.released.probe_elsewhere(), -10)
        del room

    def test_while_traced(self):
        def trace(*_):
            return trace

        sys.settrace(trace)
        try:
            self.check()
        finally:
            sys.settrace(None)
        self.done()

    def test_code_made_again(self):
        """Objects at the addresses of others: equal marks only for equal frames."""
        seen, addresses = {}, set()
        for i in range(3000):
            lines = random.randrange(1, 5)
            names = {"mark": self.held.probe_mark}
            exec(compile("def f():\n" + "  x = 1\n" * lines + "  return mark()", f"file{i % 3}", "exec"), names)
            what = (lines, i % 3)
            self.assertEqual(seen.setdefault(names["f"](), what), what)
            addresses.add(id(names["f"].__code__))
            del names
        self.assertLess(len(addresses), 3000)

    def test_wrong_layouts(self):
        """Another offset is found out or makes no difference; it never crashes."""
        wrong = 0
        for offset in range(self.held.probe_offsets()):
            for by in (-24, -16, -8, -4, -1, 1, 2, 4, 8, 16, 24, 40, 64, 4096, 30000):
                wrong += self.held.probe_wrong(offset, by) != 0
        self.assertGreater(wrong, 100)
        self.check()


class Lines(unittest.TestCase):
    def setUp(self):
        self.probe = ctypes.CDLL(PROBE)
        self.probe.probe_line.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_long)

    def line(self, table, first, offset):
        return self.probe.probe_line(sys.version_info < (3, 11), table, len(table), first, offset)

    def check_code(self, code):
        count = 0
        for begin, end, line in code.co_lines():
            for offset in {begin, end - 2}:
                if begin < end:
                    self.assertEqual(self.line(code.co_linetable, code.co_firstlineno, offset), line or 0, code)
                    count += 1
        return count + sum(self.check_code(c) for c in code.co_consts if hasattr(c, "co_lines"))

    def test_standard_library(self):
        count = 0
        for name in ("argparse", "asyncio.base_events", "ast", "dataclasses", "decimal", "inspect", "pathlib", "pickle", "tarfile",
                     "typing", "turtle", "unittest.mock"):
            spec = importlib.util.find_spec(name)
            with open(spec.origin, encoding="utf-8") as file:
                count += self.check_code(compile(file.read(), spec.origin, "exec"))
        self.assertGreater(count, 20000)

    def test_steps(self):
        """Backwards, far, and over more instructions than an entry holds."""
        for source in ("x = (\n" + "f(\n" * 90 + "1" + ")\n" * 90 + ")", "a = 1\n" * 300 + "\n" * 70000 + "b = 1",
                       "x = [" + "y, " * 1000 + "]", "try:\n  f()\nexcept E as e:\n  g()\nfinally:\n  h()",
                       "match x:\n  case [1, *y] if y:\n    z\n  case {'a': b}:\n    b"):
            self.assertGreater(self.check_code(compile(source, "steps", "exec")), 0)

    def test_damage(self):
        random.seed(1)
        for _ in range(20000):
            table = random.randbytes(random.randrange(40))
            for pairs in (0, 1):
                self.assertGreaterEqual(self.probe.probe_line(pairs, table, len(table), 10, random.randrange(-2, 400)), 0)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    PROBE = arguments[0]
    cases = [Inside, Lines] if INSIDE in arguments else [Everywhere]
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(case) for case in cases)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
