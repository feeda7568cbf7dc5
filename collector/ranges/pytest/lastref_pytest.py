"""pytest plugin: marks each test as a range of lastref's recording, and fails those that leave something behind.

Under `lastref record` or `lastref check`, each test is a range from the setup of its fixtures to their teardown, and the
report's --by-range says which test left what. Where nothing is recorded, that part does nothing.

`pytest --lastref` runs the tests under lastref by itself. What a test left can only be told once everything that could still
release it is gone, so the verdict comes after the tests: those that left something are listed, and the run fails.
"""

import ctypes
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

import pytest

# Exit statuses of `lastref report`.
CLEAN, FINDINGS, INCOMPLETE = 0, 1, 4


class Ranges:
    """The functions that liblastref.so exports into a recorded process, or none."""

    def __init__(self):
        try:
            everything = ctypes.CDLL(None)
            self.begin, self.end = everything.lastref_range_begin, everything.lastref_range_end
        except (AttributeError, OSError):
            self.begin = self.end = None
            return
        self.begin.restype, self.begin.argtypes = ctypes.c_ulonglong, [ctypes.c_char_p]
        self.end.restype, self.end.argtypes = None, [ctypes.c_ulonglong]

    def __bool__(self):
        return self.begin is not None


RANGES = Ranges()


def pytest_addoption(parser):
    group = parser.getgroup("lastref", "CUDA lifetimes (lastref)")
    group.addoption("--lastref", action="store_true", help="record the tests with lastref, and fail those that leave something")
    group.addoption("--lastref-program", metavar="PATH", default=None, help="the program lastref ($LASTREF, or out of the path)")
    group.addoption("--lastref-trace", metavar="FILE", default=None, help="keep the trace here")
    group.addoption("--lastref-record", metavar="OPTIONS", default="", help="further options of `lastref record`, in one argument")
    group.addoption("--lastref-report", metavar="OPTIONS", default="",
                    help="further options of `lastref report`, in one argument: '--suppressions FILE'; what a test left fails it "
                    "whatever its severity, unless --fail-on is among them")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    number = RANGES.begin(item.nodeid.encode("utf-8", "replace")) if RANGES else 0
    yield
    if number:
        RANGES.end(number)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    # A worker of pytest-xdist has the options of the run that it is part of, and is recorded with it.
    is_worker = hasattr(config, "workerinput")
    if not config.getoption("lastref") or RANGES or is_worker or config.getoption("collectonly"):
        return None
    return run_recorded(config)


def find_program(config):
    program = config.getoption("lastref_program") or os.environ.get("LASTREF") or shutil.which("lastref")
    if not program:
        raise pytest.UsageError("--lastref: there is no program lastref in the path; name it with --lastref-program")
    return program


def run_recorded(config):
    program = find_program(config)
    with tempfile.TemporaryDirectory(prefix="lastref-pytest-") as folder:
        trace = config.getoption("lastref_trace") or os.path.join(folder, "tests.lastref")
        command = [program, "record", "--quiet", "--force", "-o", trace, *shlex.split(config.getoption("lastref_record")), "--",
                   sys.executable, "-m", "pytest", *config.invocation_params.args]
        status = subprocess.call(command, cwd=config.invocation_params.dir)
        if not os.path.exists(trace):
            print("lastref: nothing was recorded", file=sys.stderr)
            return status or pytest.ExitCode.TESTS_FAILED
        verdict = judge([program, "report", trace, "--format", "json", *report_options(config)])
    return status or verdict


def report_options(config):
    """What a test leaves is a failure whatever its severity: a library that keeps memory to the end is only a note elsewhere."""
    given = shlex.split(config.getoption("lastref_report"))
    own = any(option == "--fail-on" or option.startswith("--fail-on=") for option in given)
    return given if own else ["--fail-on", "note", *given]


def judge(command):
    """Prints what was left by which test; the exit status of the run as far as lastref has a say."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    if done.returncode not in (CLEAN, FINDINGS, INCOMPLETE):
        return pytest.ExitCode.USAGE_ERROR
    report = json.loads(done.stdout.decode("utf-8"))
    for line in lines_of(report):
        print(shown(line))
    return pytest.ExitCode.OK if done.returncode == CLEAN else pytest.ExitCode.TESTS_FAILED


def lines_of(report):
    yield ""
    for each in report.get("by_range", []):
        for left in each["left"]:
            bytes_text = f", {left['bytes']} bytes" if left["bytes"] else ""
            yield (f"{'FAILED' if left['fails'] else 'note'} {each['range']} - left behind: {left['rule']}, "
                   f"{left['count']} of it{bytes_text}{', in ' + left['place'] if left['place'] else ''}")
    for reason in report["trace"]["incomplete"]:
        yield f"INCOMPLETE {reason}"
    for reason in report["gate"]["reasons"]:
        yield f"FAILED {reason}"
    yield f"lastref: {report['gate']['verdict']}"


def shown(text):
    """Names come from programs: nothing in them may steer a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
