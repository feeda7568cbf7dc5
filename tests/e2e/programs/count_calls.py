"""Allocates again and again and says after each call, in one write, that it has returned; ends when it is killed."""

import ctypes
import os
import time

driver = ctypes.CDLL("libcuda.so.1")
context, memory = ctypes.c_void_p(), ctypes.c_uint64()
assert driver.cuInit(0) == 0
assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert driver.cuCtxSetCurrent(context) == 0

count = 0
while True:
    assert driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(256)) == 0
    count += 1
    os.write(1, b"%d\n" % count)
    driver.cuMemFree_v2(memory)
    if count % 100 == 0:
        time.sleep(0.001)  # so that the reader keeps up
