"""What the end-to-end tests share: running programs bare and recorded, and reading what came of it.

The folder of the build is $LASTREF_BUILD. Every test has a scratch folder of its own, and an environment in which
programs find the simulated driver as the system's.
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

BUILD = os.environ["LASTREF_BUILD"]
SOURCE = os.environ.get("LASTREF_SOURCE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LASTREF = os.path.join(BUILD, "bin", "lastref")
PRELOAD = os.path.join(BUILD, "lib", "liblastref.so")
SIMDRIVER = os.path.join(BUILD, "lib", "simdriver")
WORKLOADS = os.path.join(BUILD, "bin", "workloads")

# Long enough for a busy machine with two processors; a test that gets here has hung.
PATIENCE = 60

# Exit statuses of lastref's own, see analyzer/cli/commands.h.
CLEAN, FINDINGS, USAGE, UNREADABLE, INCOMPLETE = range(5)


def workload(name):
    return os.path.join(WORKLOADS, name)


def wait_until(condition, what, patience=PATIENCE):
    """Returns condition()'s first true value; fails when it stays false."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {patience} s for {what}")


class Trace:
    """A trace as anyone reads it: with SQLite alone, and without writing into it."""

    def __init__(self, path):
        self.path = path
        self.base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.base.close()

    def rows(self, sql, *parameters):
        return self.base.execute(sql, parameters).fetchall()

    def column(self, sql, *parameters):
        return [row[0] for row in self.rows(sql, *parameters)]

    def one(self, sql, *parameters):
        rows = self.rows(sql, *parameters)
        assert len(rows) == 1 and len(rows[0]) == 1, f"{sql}: {rows}"
        return rows[0][0]

    def processes(self):
        names = ("id", "pid", "parent_pid", "executable", "end", "exit_status", "exit_signal", "spool")
        return [dict(zip(names, row)) for row in self.rows(f"SELECT {', '.join(names)} FROM process ORDER BY id")]

    def calls(self, process=None):
        """Names of the entry points called, without suffixes, in order; callbacks are left out."""
        where = "" if process is None else " AND t.process = ?"
        return self.column(
            "SELECT a.name FROM event e JOIN api a ON a.id = e.api JOIN thread t ON t.id = e.thread "
            f"WHERE a.symbol LIKE 'cu%'{where} ORDER BY e.id", *([] if process is None else [process]))

    def main_calls(self):
        """As calls, of each process's first thread only: the driver's threads interleave with it as they like."""
        return self.column("SELECT a.name FROM event e JOIN api a ON a.id = e.api JOIN thread t ON t.id = e.thread "
                           "WHERE a.symbol LIKE 'cu%' AND t.main ORDER BY e.id")

    def losses(self):
        return dict(self.rows("SELECT name, sum(count) FROM loss GROUP BY name"))


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="lastref-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("LASTREF_", "CUDA_", "LD_"))}
        self.environment = {**kept, "LD_LIBRARY_PATH": SIMDRIVER, "NO_COLOR": "1", "TMPDIR": self.path("tmp", folder=True),
                            "XDG_RUNTIME_DIR": self.path("run", folder=True), "HOME": self.path("home", folder=True)}
        self.trace = self.path("t.lastref")

    def path(self, name, folder=False):
        path = os.path.join(self.folder, name)
        if folder:
            os.makedirs(path, exist_ok=True)
        return path

    def run_program(self, *command, **options):
        options.setdefault("input", "")
        options.setdefault("timeout", PATIENCE)
        environment = {**self.environment, **options.pop("env", {})}
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace",
                              cwd=self.folder, env=environment, **options)

    def lastref(self, *arguments, **options):
        return self.run_program(LASTREF, *arguments, **options)

    def record(self, *command, options=(), trace=None, **more):
        """Records `command` into self.trace; the result is lastref's."""
        return self.lastref("record", "-o", trace or self.trace, *options, "--", *command, **more)

    def recorded(self, *command, **more):
        """As record, for programs that should end well: returns the trace."""
        done = self.record(*command, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return self.open_trace()

    def open_trace(self, path=None):
        trace = Trace(path or self.trace)
        self.addCleanup(trace.base.close)
        return trace

    def report(self, path=None, *options):
        """The JSON report of a trace and the exit status that came with it."""
        done = self.lastref("report", path or self.trace, "--format", "json", *options)
        self.assertIn(done.returncode, (CLEAN, FINDINGS, INCOMPLETE), done.stdout + done.stderr)
        return json.loads(done.stdout), done.returncode

    def assert_complete(self, trace):
        self.assertEqual(trace.losses(), {})
        self.assertEqual(trace.one("SELECT value FROM meta WHERE key = 'state'"), "complete")
        self.assertEqual(trace.column("SELECT spool FROM process WHERE spool IS NOT NULL"), [])
        self.assertEqual(trace.rows("PRAGMA foreign_key_check"), [])
        self.assertEqual(trace.one("PRAGMA integrity_check"), "ok")
        self.assertEqual(trace.rows("SELECT * FROM spool_progress"), [])

    def assert_one_line(self, text, *parts):
        """What lastref says of wrong input is one line, with these parts in it, and never a crash's output."""
        lines = text.strip().splitlines()
        self.assertEqual(len(lines), 1, text)
        for part in parts:
            self.assertIn(part, lines[0])

    def assert_not_signalled(self, done):
        self.assertGreaterEqual(done.returncode, 0, f"ended by {signal.strsignal(-min(done.returncode, -1))}: {done.stderr}")
