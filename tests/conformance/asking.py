"""Asks a driver the questions: a process a group, in rounds, each with a time limit.

A group's answers are a list of (question, answer). A question asked again in its group gets a number, so that a name means one
question; how the process ended is the answer to `(end)`.
"""
import collections
import concurrent.futures
import os
import signal
import subprocess
import time

END = "(end)"
# What a simulated driver is set to: as many devices as the machine had on which the golden answers were taken.
SIMULATED = {"LASTREF_SIM_DEVICES": "1"}


def environment(driver, more=None):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LASTREF_", "LD_PRELOAD", "CUDA_"))}
    if driver:
        kept.update(SIMULATED, LD_LIBRARY_PATH=str(driver))
    return {**kept, **(more or {})}


def numbered(lines):
    """`question = answer` lines as pairs, the second `question` as `question #2`."""
    seen = collections.Counter()
    answers = []
    for line in lines:
        question, sign, answer = line.rpartition(" = ")
        if not sign:
            question, answer = "(line)", line
        seen[question] += 1
        name = question if seen[question] == 1 else f"{question} #{seen[question]}"
        answers.append((name, answer))
    return answers


def how_it_ended(status):
    return f"exit {status}" if status >= 0 else f"signal {-status}"


def ask_group(program, group, driver, limit):
    """All answers of one group, once. The process and what it forked do not outlive the limit."""
    with subprocess.Popen([str(program), group], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env=environment(driver), start_new_session=True) as process:
        try:
            out, _ = process.communicate(timeout=limit)
            end = how_it_ended(process.returncode)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, _ = process.communicate()
            end = "time limit"
    return tuple(numbered(out.decode(errors="replace").splitlines()) + [(END, end)])


def groups_of(program, driver):
    out = subprocess.run([str(program), "--list"], env=environment(driver), capture_output=True, text=True, check=True).stdout
    return out.split()


def ask_all(program, groups, driver, runs, jobs, limit, deadline):
    """Every group `runs` times, or as often as the deadline lets; group → {answers: how often}."""
    heard = {group: collections.Counter() for group in groups}
    ends_at = time.monotonic() + deadline

    def one(group):
        if time.monotonic() < ends_at:
            heard[group][ask_group(program, group, driver, limit)] += 1

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for _ in range(runs):
            list(pool.map(one, groups))
    return heard
