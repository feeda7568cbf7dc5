"""What the Python test programs share: parts with a verdict each, so that one that fails hides no other.

A program prints only what is the same in every run: its output with and without lastref is compared byte by byte.
"""
import importlib
import sys
import traceback

SKIPPED = 77

_parts = []


def require(*modules):
    """The modules, or the end of the program with the status of a skipped test where one is not installed."""
    try:
        found = [importlib.import_module(name) for name in modules]
    except ImportError as error:
        print(f"skipped: {error}", file=sys.stderr)
        sys.exit(SKIPPED)
    return found[0] if len(found) == 1 else found


def part(function):
    """Marks a function as one part of the program; parts run in the order of their definitions."""
    _parts.append(function)
    return function


def fact(name, value):
    print(f"{name}: {value}", flush=True)


def run():
    """Runs every part, or all but those named on the command line after --without; returns the exit status."""
    failed = 0
    without = sys.argv[2:] if sys.argv[1:2] == ["--without"] else []
    for function in _parts:
        name = function.__name__.replace("_", " ")
        if name in without:
            continue
        try:
            function()
            fact(name, "ok")
        except Exception as error:
            fact(name, f"FAILED: {type(error).__name__}")
            traceback.print_exc()
            failed = 1
    return failed
