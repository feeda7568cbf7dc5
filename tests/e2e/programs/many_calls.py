"""Asks the driver for its current context as often as it takes to fill a small spool; prints how often."""

import ctypes

COUNT = 60000
driver = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
for _ in range(COUNT):
    driver.cuCtxGetCurrent(ctypes.byref(context))
print(COUNT)
