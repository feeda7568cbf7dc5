"""Call stacks are those that libgcc's unwinder finds, in programs of all kinds."""

import os
import sys

from harness import Case, workload

CALLS_FROM_PYTHON = """
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
device, context, pointer = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
driver.cuInit(0)
driver.cuDeviceGet(ctypes.byref(device), 0)
driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
driver.cuCtxSetCurrent(context)

def allocate(*_):
    assert driver.cuMemAlloc_v2(ctypes.byref(pointer), 256) == 0
    assert driver.cuMemFree_v2(pointer) == 0
    return 0

def descend(levels):
    return allocate() if levels == 0 else [descend(levels - 1)][0]

numbers = (ctypes.c_int * 2)(1, 0)
ctypes.CDLL("libc.so.6").qsort(numbers, 2, 4, compare(allocate))
for levels in range(100):
    descend(levels)
"""


class Stacks(Case):
    def verified(self, *command):
        trace = self.recorded(*command, options=("--stacks=all",), env={"LASTREF_VERIFY": "1"})
        self.assertEqual(trace.losses().get("stack_mismatch", 0), 0)
        self.assertGreater(trace.one("SELECT count(*) FROM stack"), 0)
        return trace

    def test_of_the_workloads(self):
        for name in ("demo", "capture", "host_callbacks", "user_objects", "threads", "pools", "static_destructor", "way_plt"):
            with self.subTest(workload=name):
                self.trace = self.path(f"{name}.lastref")
                self.verified(workload(name))

    def test_of_python(self):
        trace = self.verified(sys.executable, "-c", CALLS_FROM_PYTHON)
        paths = trace.column("SELECT DISTINCT m.path FROM stack_frame s JOIN frame f ON f.id = s.frame JOIN module m "
                             "ON m.id = f.module")
        self.assertTrue(any("ffi" in os.path.basename(path) or "ctypes" in os.path.basename(path) for path in paths), paths)
        self.assertGreater(trace.one("SELECT max(depth) FROM stack_frame"), 20)
