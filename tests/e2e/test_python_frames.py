"""Call stacks of Python programs show Python's lines, whichever CPython it is and however it calls the driver."""

import json
import os
import shutil
import subprocess
import sys
import unittest

from harness import FINDINGS, Case

NEWEST = 14

PROGRAM = """\
import ctypes
import threading

driver = ctypes.{loader}("libcuda.so.1")
device, context, pointer = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()


class Model:
    def load(self):
        return [allocate(size)
                for size in (256, 512)]


def allocate(size):
    driver.cuCtxSetCurrent(context)
    assert driver.cuMemAlloc_v2(
        ctypes.byref(pointer), ctypes.c_size_t(size)) == 0


def from_native():
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    numbers = (ctypes.c_int * 2)(1, 0)
    ctypes.CDLL("libc.so.6").qsort(numbers, 2, 4, compare(lambda *_: allocate(1024) or 0))


def main():
    driver.cuInit(0)
    driver.cuDeviceGet(ctypes.byref(device), 0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    Model().load()
    from_native()
    worker = threading.Thread(target=allocate, args=(2048,))
    worker.start()
    worker.join()


main()
"""

# Threads that are in the middle of calls, without the interpreter's lock, when the interpreter takes their state away.
BUSY_AT_THE_END = """\
import ctypes
import threading
import time

driver = ctypes.CDLL("libcuda.so.1")
device, context = ctypes.c_int(), ctypes.c_void_p()
driver.cuInit(0)
driver.cuDeviceGet(ctypes.byref(device), 0)
driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)


def below(levels):
    if levels:
        return below(levels - 1)
    pointer = ctypes.c_uint64()
    driver.cuCtxSetCurrent(context)
    while True:
        driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(256))
        driver.cuMemFree_v2(pointer)


for _ in range(4):
    threading.Thread(target=below, args=(10,), daemon=True).start()
time.sleep(0.05)
"""

# (bytes, the program's own lines from the innermost one out)
EXPECTED = {
    256: [("allocate", 16), ("load", 10), ("main", 30), ("<module>", 37)],
    1024: [("allocate", 16), ("<lambda>", 23), ("from_native", 23), ("main", 31), ("<module>", 37)],
    2048: [("allocate", 16)],
}


def interpreters():
    """The one that runs the tests, python3.10 to python3.14 of the path, and those that LASTREF_PYTHONS names."""
    found = {}
    named = os.environ.get("LASTREF_PYTHONS", "").split(":")
    for path in [sys.executable, *named, *(shutil.which(f"python3.{minor}") for minor in range(10, NEWEST + 1))]:
        ask = "import ctypes, sys; print(sys.version_info >= (3, 10), sys.implementation.name, sys.version, sys.executable)"
        if path:
            done = subprocess.run([path, "-c", ask], capture_output=True, text=True)
            if done.returncode == 0 and done.stdout.startswith("True cpython"):
                found.setdefault(done.stdout, done.stdout.split()[-1])
    return list(found.values())


class PythonFrames(Case):
    def script(self, text, name="train.py"):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def own_lines(self, trace, script, size):
        """Of the allocation of that many bytes; functions without the names of what they stand in."""
        rows = trace.rows(
            "SELECT p.function, p.line FROM event e JOIN api a ON a.id = e.api JOIN stack_frame s ON s.stack = e.stack"
            " JOIN frame f ON f.id = s.frame JOIN python_frame p ON p.process = f.process AND p.address = f.address"
            " WHERE a.name = 'cuMemAlloc' AND e.size = ? AND p.file = ? ORDER BY s.depth", size, script)
        return [(function.split(".")[-1], line) for function, line in rows if "listcomp" not in function]

    def test_of_every_interpreter(self):
        for python in interpreters():
            for loader in ("CDLL", "PyDLL"):  # without the interpreter's lock, and with it
                with self.subTest(python=python, loader=loader):
                    script = self.script(PROGRAM.format(loader=loader))
                    self.trace = self.path(f"{loader}-{python.replace('/', '_')}.lastref")
                    trace = self.recorded(python, script, env={"LASTREF_VERIFY": "1"})
                    self.assert_complete(trace)
                    self.assertEqual({size: self.own_lines(trace, script, size) for size in EXPECTED}, EXPECTED)
                    self.assertEqual(trace.column("SELECT text FROM note"), [])

    def test_between_native_frames(self):
        """Each frame stands where it was run: Python that native code calls lies between the library's frames."""
        for python in interpreters():
            with self.subTest(python=python):
                self.trace = self.path(f"{python.replace('/', '_')}.lastref")
                trace = self.recorded(python, self.script(PROGRAM.format(loader="PyDLL")))
                rows = trace.rows(
                    "SELECT coalesce(p.function, m.path) FROM event e JOIN api a ON a.id = e.api"
                    " JOIN stack_frame s ON s.stack = e.stack JOIN frame f ON f.id = s.frame LEFT JOIN python_frame p"
                    " USING (process, address) LEFT JOIN module m ON m.id = f.module"
                    " WHERE a.name = 'cuMemAlloc' AND e.size = 1024 ORDER BY s.depth")
                kept = [os.path.basename(name) for name, in rows]
                kept = ["libc" if name.startswith("libc.so") else name.split(".")[-1] for name in kept]
                wanted = ["allocate", "<lambda>", "libc", "from_native", "main", "<module>"]
                order = [name for name in kept if name in wanted]
                self.assertEqual(list(dict.fromkeys(order)), wanted, kept)

    def test_report(self):
        script = self.script(PROGRAM.format(loader="CDLL"))
        self.recorded(sys.executable, script)
        report, status = self.report()
        self.assertEqual(status, FINDINGS)
        leaks = [f for f in report["findings"] if f["rule"] == "allocation-leak"]
        self.assertEqual(len(leaks), 3)
        for leak in leaks:
            stack = leak["sites"][0]["stack"]
            own = [frame for frame in stack if frame.get("file") == script]
            self.assertEqual((own[0]["function"], own[0]["line"], own[0]["language"]), ("allocate", 16, "python"))
            self.assertFalse([f for f in stack if os.path.basename(f.get("module", "")).startswith(("python", "libpython"))])
        text = self.lastref("report", self.trace).stdout
        self.assertRegex(text, r"Model\.load +…?/?\S*train\.py:10\n")
        self.assertIn("train.py:16", self.lastref("report", self.trace, "--format", "html").stdout)
        sarif = json.loads(self.lastref("report", self.trace, "--format", "sarif").stdout)
        places = [result["locations"][0]["physicalLocation"] for result in sarif["runs"][0]["results"]
                  if result["ruleId"] == "allocation-leak"]
        self.assertEqual({(p["artifactLocation"]["uri"].split("/")[-1], p["region"]["startLine"]) for p in places},
                         {("train.py", 16)})

    def test_fingerprints_outlast_lines(self):
        first = self.report_of(PROGRAM)
        self.assertEqual(first, self.report_of("# a line more\n" + PROGRAM))
        self.assertNotEqual(first, self.report_of(PROGRAM.replace("def load", "def fetch").replace(".load", ".fetch")))

    def report_of(self, program):
        self.recorded(sys.executable, self.script(program.format(loader="CDLL")))
        report, _ = self.report()
        os.remove(self.trace)
        return sorted(finding["fingerprint"] for finding in report["findings"])

    def test_switched_off(self):
        trace = self.recorded(sys.executable, self.script(PROGRAM.format(loader="CDLL")), env={"LASTREF_PYTHON_FRAMES": "0"})
        self.assertEqual(trace.rows("SELECT * FROM python_frame"), [])
        self.assertGreater(trace.one("SELECT count(*) FROM stack_frame"), 0)

    def test_while_the_interpreter_ends(self):
        script = self.script(BUSY_AT_THE_END)
        for python in interpreters():
            for _ in range(3):
                done = self.record(python, script, options=("--force",))
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_in_forked_children(self):
        script = self.script(PROGRAM.format(loader="CDLL").replace(
            "\nmain()", "\nimport os\nmain()\nif os.fork() == 0:\n    main()\n    os._exit(0)\nos.wait()"))
        trace = self.recorded(sys.executable, script)
        rows = trace.rows("SELECT process, count(*) FROM python_frame WHERE file = ? GROUP BY process", script)
        self.assertEqual(len(rows), 2)
        self.assertEqual(trace.one(
            "SELECT count(*) FROM frame LEFT JOIN python_frame p USING (process, address) WHERE address < 0 AND p.line IS NULL"), 0)


@unittest.skipUnless(shutil.which("cc"), "needs a C compiler")
class OtherInterpreters(Case):
    """What is not as it should be is said in a note; the program is none the wiser, and stacks are native."""

    def recorded_through(self, version):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "other_python.c")
        program = self.path("program")
        subprocess.run(["cc", "-shared", "-fPIC", f"-DVERSION={version}", source, "-o", self.path("libother.so")], check=True)
        subprocess.run(["cc", "-DPROGRAM", source, "-o", program, "-L" + self.folder, "-lother", "-Wl,-rpath," + self.folder, "-ldl"],
                       check=True)
        trace = self.recorded(program)
        self.assert_complete(trace)
        self.assertEqual(trace.calls().count("cuMemAlloc"), 10)
        self.assertEqual(trace.rows("SELECT * FROM python_frame"), [])
        self.assertGreater(trace.one("SELECT count(*) FROM stack_frame"), 0)
        return trace.column("SELECT text FROM note")

    def test_of_unknown_version(self):
        self.assertEqual(self.recorded_through("0x030f00f0"), ["stacks are without Python frames: CPython 3.15.0 is not known"])

    def test_that_does_not_describe_itself(self):
        self.assertEqual(self.recorded_through("0x030d02f0"), ["stacks are without Python frames: CPython 3.13.2 is not known"])

    def test_of_wrong_layout(self):
        for version in ("0x030b02f0", "0x030c01f0"):
            os.path.exists(self.trace) and os.remove(self.trace)
            note, = self.recorded_through(version)
            self.assertRegex(note, r"CPython 3\.1[12]\.\d is not laid out as its version should be")
