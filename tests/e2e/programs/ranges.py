"""Marks ranges as test frameworks do, around driver calls; what it does is named by its argument."""

import ctypes
import os
import sys
import threading

SELF = ctypes.CDLL(None)
SELF.lastref_range_begin.restype = ctypes.c_ulonglong
SELF.lastref_range_begin.argtypes = [ctypes.c_char_p]
SELF.lastref_range_end.argtypes = [ctypes.c_ulonglong]
begin, end = SELF.lastref_range_begin, SELF.lastref_range_end
cuda = ctypes.CDLL("libcuda.so.1")


def start():
    context = ctypes.c_void_p()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    use(context)
    return context


def use(context):
    assert cuda.cuCtxSetCurrent(context) == 0


def allocate():
    memory = ctypes.c_ulonglong()
    assert cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(64)) == 0
    return memory


def nested():
    outer = begin(b"outer")  # before the first call: written when there is one
    gone = begin(b"gone before the first call")
    end(gone)
    start()
    inner = begin(b"inner")
    allocate()
    end(inner)
    allocate()
    end(outer)
    begin(b"never ended")
    allocate()


def overlapping():
    """Ranges of two threads: they end in another order than they began in."""
    context = start()
    first, second = begin(b"first"), begin(b"second")

    def other():
        use(context)
        allocate()
        end(first)

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    allocate()
    end(second)


def names():
    start()
    for name in (b"", b"x" * 5000, b"\xff\x1b[31m\n", "é".encode() * 20, b"y" * 40, b"y" * 41):
        number = begin(name)
        assert (number == 0) == (name == b""), name
        end(number)
    end(0)
    end(12345)


def many():
    start()
    numbers = [begin(b"open %d" % i) for i in range(70)]
    assert numbers.count(0) == 6, numbers
    for number in numbers:
        end(number)
    for i in range(3000):
        end(begin(b"short %d" % i))


def forked():
    around = begin(b"around")
    start()
    child = os.fork()
    if child == 0:
        number = begin(b"in the child")
        cuda.cuInit(0)
        end(number)
        os._exit(0)
    os.waitpid(child, 0)
    end(around)


def without_driver():
    end(begin(b"nothing"))


globals()[sys.argv[1]]()
