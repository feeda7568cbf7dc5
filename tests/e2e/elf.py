"""Executables that cannot be recorded, made byte by byte: no cross compiler and no static libc needed."""

import os
import struct

# exit(7) for i386 and for x86-64.
EXIT_32 = bytes.fromhex("b801000000bb07000000cd80")
EXIT_64 = bytes.fromhex("b83c000000bf070000000f05")


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)
    os.chmod(path, 0o755)
    return path


def static_64(path):
    """A static x86-64 executable that ends with status 7."""
    code_at, base = 64 + 56, 0x400000
    size = code_at + len(EXIT_64)
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 2, 62, 1, base + code_at, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, size, size, 0x1000)
    return write(path, header + segment + EXIT_64)


def dynamic_32(path):
    """A 32-bit x86 executable, as the loader sees it: it names an interpreter."""
    interpreter = b"/lib/ld-linux.so.2\0"
    code_at, base = 52 + 2 * 32, 0x8048000
    size = code_at + len(EXIT_32) + len(interpreter)
    header = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack(
        "<HHIIIIIHHHHHH", 2, 3, 1, base + code_at, 52, 0, 0, 52, 32, 2, 0, 0, 0)
    named = struct.pack("<IIIIIIII", 3, code_at + len(EXIT_32), 0, 0, len(interpreter), len(interpreter), 4, 1)
    segment = struct.pack("<IIIIIIII", 1, 0, base, base, size, size, 5, 0x1000)
    return write(path, header + named + segment + EXIT_32 + interpreter)
