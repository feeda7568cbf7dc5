"""Runs the end-to-end tests: `run.py --list` prints their names, `run.py NAME…` runs those, `run.py` runs all."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77


def all_tests(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from all_tests(test)
        else:
            yield test


def main(arguments):
    sys.path.insert(0, HERE)
    os.environ.setdefault("LASTREF_BUILD", "")  # listing needs no build
    loader = unittest.TestLoader()
    if arguments == ["--list"]:
        for test in all_tests(loader.discover(HERE)):
            print(test.id())
        return 1 if loader.errors else 0
    suite = loader.loadTestsFromNames(arguments) if arguments else loader.discover(HERE)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if not result.testsRun or not result.wasSuccessful():
        return 1
    return SKIPPED if len(result.skipped) == result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
