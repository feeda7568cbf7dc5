"""Kills what records, or what is recorded, with SIGKILL at random instants: every call that had returned is in the trace.

kill.py program|drain|both COUNT [--seed N] [--keep]

program  the recorded program, with several threads recording
drain    the drain, again and again, and at times the recorder as well, while the program runs to its end
both     program, drain and recorder, in any order

The program (counting.cpp) writes down, after each call has returned, that it has, so that the check is exact. Every
trace must open, pass SQLite's quick_check, and be reported as incomplete where a program was killed or a spool is gone.
The last line is a summary; the exit status is 0 when nothing was wrong. --keep leaves the folder of a failure.
"""

import argparse
import mmap
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["LASTREF_BUILD"]
LASTREF = os.path.join(BUILD, "bin", "lastref")
COUNTING = os.path.join(BUILD, "bin", "workloads", "counting")
NULL_DRIVER = os.path.join(BUILD, "lib", "nulldriver")

PATIENCE = 60
WORKERS = 4
MASK = (1 << 40) - 1
CLEAN, INCOMPLETE = 0, 4


class Wrong(Exception):
    pass


def require(condition, *what):
    if not condition:
        raise Wrong(" ".join(str(w) for w in what))


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.002)
    raise Wrong("waited in vain for", what)


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Run:
    """One program under `lastref record`, in a folder of its own."""

    def __init__(self, folder, milliseconds):
        self.folder = folder
        self.trace = os.path.join(folder, "t.lastref")
        self.spools = os.path.join(folder, "spools")
        os.mkdir(self.spools)
        board = os.path.join(folder, "board")
        with open(board, "wb") as file:
            file.truncate(64 * 65)
        with open(board, "r+b") as file:
            self.board = mmap.mmap(file.fileno(), 64 * 65)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("LASTREF_", "CUDA_", "LD_"))}
        self.environment = {**kept, "LD_LIBRARY_PATH": NULL_DRIVER, "NO_COLOR": "1"}
        self.errors = open(os.path.join(folder, "errors"), "wb")
        self.recorder = subprocess.Popen(
            [LASTREF, "record", "-o", self.trace, "--spool-dir", self.spools, "--", COUNTING, board, str(WORKERS), str(milliseconds)],
            cwd=folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors,
            start_new_session=True)
        wait_until(lambda: self.program or self.recorder.poll() is not None, "the program's start")
        require(self.program, "the program did not start")

    @property
    def program(self):
        return struct.unpack_from("Q", self.board, 0)[0]

    def returned(self):
        return [struct.unpack_from("Q", self.board, 64 * (1 + worker))[0] for worker in range(WORKERS)]

    def drains(self):
        """The recorder's children that are lastref themselves."""
        found = []
        try:
            with open(f"/proc/{self.recorder.pid}/task/{self.recorder.pid}/children", encoding="ascii") as file:
                children = [int(child) for child in file.read().split()]
        except OSError:
            return found
        for child in children:
            try:
                if child != self.program and os.readlink(f"/proc/{child}/exe") == os.path.realpath(LASTREF):
                    found.append(child)
            except OSError:
                continue
        return found

    def end(self):
        """Whatever of it is still there is killed."""
        victims = [*self.drains(), self.recorder.pid, *([self.program] if self.program else [])]
        for victim in victims:
            if is_running(victim):
                kill(victim)
        self.recorder.wait()
        self.errors.close()

    # --- what is left ---

    def report(self):
        done = subprocess.run([LASTREF, "report", self.trace, "--symbols", "off", "--fail-on", "none", "--format", "json"],
                              env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
        require(done.returncode in (CLEAN, INCOMPLETE), "report:", done.returncode, done.stderr.decode(errors="replace"))
        return done.returncode

    def check_opens(self):
        base = sqlite3.connect(self.trace)
        try:
            require(base.execute("PRAGMA quick_check").fetchall() == [("ok",)], "quick_check fails")
        finally:
            base.close()

    def check_trace(self, exactly):
        """Each worker's calls, from the first to the last that had returned; where the program was killed, maybe one more."""
        said = self.returned()
        base = sqlite3.connect(f"file:{self.trace}?mode=ro", uri=True)
        try:
            state = base.execute("SELECT value FROM meta WHERE key = 'state'").fetchone()[0]
            require(state == "complete", "the trace's state is", state)
            losses = base.execute("SELECT name, count FROM loss").fetchall()
            require(not losses, "losses:", losses)
            rows = dict((worker, found) for worker, *found in base.execute(
                f"SELECT (object >> 40) - 1, count(*), count(DISTINCT object), max(object & {MASK}), sum(result IS NOT NULL) "
                "FROM event WHERE object >= 1 << 40 GROUP BY 1"))
            for worker, calls in enumerate(said):
                count, distinct, highest, ended = rows.get(worker, (0, 0, 0, 0))
                require(count == distinct, "worker", worker, "has records twice:", count, "rows of", distinct, "calls")
                require(count == highest, "worker", worker, "has a gap:", count, "calls, the last is number", highest)
                require(ended in ((calls,) if exactly else (calls, calls + 1)), "worker", worker, "made", calls, "calls that returned,",
                        ended, "are recorded")
                require(count <= calls + 1, "worker", worker, "made", calls, "calls,", count, "are recorded")
            ends = [row[0] for row in base.execute("SELECT end FROM process")]
            require(ends == (["clean"] if exactly else ["abrupt"]), "the process ended:", ends)
            require(base.execute("PRAGMA foreign_key_check").fetchall() == [], "rows that name others that are not there")
        finally:
            base.close()
        return sum(said)


def kill_program(run, chance):
    time.sleep(chance.uniform(0, 0.08))
    kill(run.program)
    run.recorder.wait(PATIENCE)
    run.check_opens()
    require(run.report() == INCOMPLETE, "a killed program is not reported as incomplete")
    return run.check_trace(exactly=False)


def kill_drain(run, chance):
    """Up to three drains, since the recorder gives up at the fourth; then, or before, the recorder itself at times."""
    kills = chance.randrange(1, 4)
    last_drains = []
    with_recorder = chance.random() < 0.3
    for number in range(kills):
        time.sleep(chance.uniform(0, 0.06))
        if with_recorder and number == kills - 1:
            last_drains = run.drains()
            kill(run.recorder.pid)
            if chance.random() < 0.5:
                for drain in last_drains:
                    kill(drain)
            break
        for drain in run.drains():
            kill(drain)
    run.recorder.wait(PATIENCE)
    wait_until(lambda: not is_running(run.program), "the program's end")
    wait_until(lambda: not any(is_running(drain) for drain in last_drains), "the last drain's end")
    run.check_opens()
    require(run.report() == CLEAN, "the report of a finished trace is not clean")
    return run.check_trace(exactly=True)


def kill_both(run, chance):
    time.sleep(chance.uniform(0, 0.08))
    victims = [*run.drains(), run.program, run.recorder.pid]
    chance.shuffle(victims)
    for victim in victims:
        kill(victim)
        if chance.random() < 0.3:
            time.sleep(chance.uniform(0, 0.01))
    # The recorder may have put a new drain into the place of the killed one before it died itself.
    for drain in run.drains():
        kill(drain)
    run.recorder.wait(PATIENCE)
    wait_until(lambda: not any(is_running(victim) for victim in victims), "the end of all")
    wait_until_unlocked(run.trace)
    run.check_opens()
    without_spool = chance.random() < 0.2 and holds_spool(run.spools)
    if without_spool:
        shutil.rmtree(run.spools)
    require(run.report() == INCOMPLETE, "a killed recording is not reported as incomplete")
    return 0 if without_spool else run.check_trace(exactly=False)


def wait_until_unlocked(trace):
    """An orphaned drain that nobody has killed finishes by itself."""
    import fcntl
    with open(trace, "rb") as file:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                require(time.monotonic() < deadline, "somebody holds the trace for ever")
                time.sleep(0.01)


def holds_spool(folder):
    return any(name.endswith(".spool") for _, _, names in os.walk(folder) for name in names)


KILLS = {"program": (kill_program, 100_000), "drain": (kill_drain, 150), "both": (kill_both, 100_000)}


def attempt(which, seed, parent):
    """One life; returns the number of calls that were checked."""
    body, milliseconds = KILLS[which]
    folder = tempfile.mkdtemp(prefix="lastref-kill-", dir=parent)
    run = None
    try:
        run = Run(folder, milliseconds)
        calls = body(run, random.Random(seed))
    except (Wrong, subprocess.TimeoutExpired) as wrong:
        if run:
            run.end()
        return folder, f"{which}, seed {seed}: {wrong}", 0
    run.end()
    shutil.rmtree(folder, ignore_errors=True)
    return None, None, calls


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("which", choices=KILLS)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    calls, failures = 0, 0
    for number in range(given.count):
        folder, wrong, checked = attempt(given.which, given.seed + number, parent)
        calls += checked
        if wrong:
            failures += 1
            print(wrong + (f" ({folder})" if given.keep else ""), flush=True)
            if not given.keep:
                shutil.rmtree(folder, ignore_errors=True)
    print(f"{given.which}: {given.count} lives from seed {given.seed} on, {calls} calls that had returned, {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
