"""Asks a driver the questions: a process for each batch of groups, in rounds, each with a time limit.

A group's answers are a list of (question, answer). A question asked again in its group gets a number, so that a name means one
question; how the process ended is the answer to `(end)`.
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import time

END = "(end)"
# What a simulated driver is set to: as many devices as the machine had on which the golden answers were taken.
SIMULATED = {"LASTREF_SIM_DEVICES": "1"}


def is_simulated(driver):
    return driver is not None and driver.name in ("simdriver", "nulldriver")


def environment(driver, more=None):
    """That of a process which finds the driver in this folder. It must be named even where it is the system's: our programs
    look for the simulated one otherwise."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LASTREF_", "LD_PRELOAD", "CUDA_"))}
    if driver:
        kept["LD_LIBRARY_PATH"] = ":".join(filter(None, (str(driver), kept.get("LD_LIBRARY_PATH"))))
    if is_simulated(driver):
        kept.update(SIMULATED)
    return {**kept, **(more or {})}


def system_driver():
    """The folder of the system's libcuda.so.1, None where there is none."""
    folders = [pathlib.Path(folder) for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    try:
        cache = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False,
                               env={**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin"}).stdout
    except OSError:
        cache = ""
    folders += [pathlib.Path(path).parent for path in re.findall(r"libcuda\.so\.1 \(.*x86-64.*\) => (\S+)", cache)]
    return next((folder for folder in folders if (folder / "libcuda.so.1").exists()), None)


def plain(question):
    """However the source was broken into lines, which shows where an expression is the question."""
    return re.sub(r"\s+", " ", question).replace("( ", "(").strip()


def numbered(lines):
    """`question = answer` lines as pairs, the second `question` as `question #2`."""
    seen = collections.Counter()
    answers = []
    for line in lines:
        question, sign, answer = line.rpartition(" = ")
        question, answer = (plain(question), answer) if sign else ("(line)", line)
        seen[question] += 1
        name = question if seen[question] == 1 else f"{question} #{seen[question]}"
        answers.append((name, answer))
    return answers


def how_it_ended(status):
    return f"exit {status}" if status >= 0 else f"signal {-status}"


def of_groups(lines, batch, end):
    """Splits what a process printed: group → its answers. Only the last group that it came to can have ended in another way
    than the others; groups that it did not come to are left out."""
    parts = {}
    for line in lines:
        if line.startswith("group = "):
            parts[line.removeprefix("group = ")] = current = []
        elif parts:
            current.append(line)
    answers = {group: (*numbered(part), (END, "exit 0")) for group, part in parts.items() if group in batch}
    last = list(parts)[-1] if parts else batch[0]
    answers[last] = (*answers.get(last, ())[:-1], (END, end))
    return answers


def ask_batch(program, batch, driver, limit):
    """All answers of the groups of one process, once. It and what it forked do not outlive the limit."""
    with subprocess.Popen([str(program), batch[0]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env=environment(driver), start_new_session=True) as process:
        try:
            out, _ = process.communicate(timeout=limit)
            end = how_it_ended(process.returncode)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, _ = process.communicate()
            end = "time limit"
    return of_groups(out.decode(errors="replace").splitlines(), batch, end)


def batches_of(program, driver):
    """Lists of groups, each asked by one process."""
    out = subprocess.run([str(program), "--list"], env=environment(driver), capture_output=True, text=True, check=True).stdout
    return [line.split() for line in out.splitlines()]


def ask_all(program, batches, driver, runs, jobs, limit, deadline, after_round=None):
    """Every group `runs` times, or as often as the deadline lets; group → {answers: how often}. After each round, what there is
    so far is handed to `after_round`: a run that is cut short is worth what it got."""
    heard = {group: collections.Counter() for batch in batches for group in batch}
    ends_at = time.monotonic() + deadline

    def one(batch):
        if time.monotonic() < ends_at:
            for group, answers in ask_batch(program, batch, driver, limit).items():
                heard[group][answers] += 1

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for _ in range(runs):
            list(pool.map(one, batches))
            if after_round:
                after_round({group: transcripts for group, transcripts in heard.items() if transcripts})
            if time.monotonic() >= ends_at:
                break
    return {group: transcripts for group, transcripts in heard.items() if transcripts}
