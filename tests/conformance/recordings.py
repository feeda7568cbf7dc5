"""Programs recorded with lastref: which findings they have, and which calls they made in which order.

Both are kept without addresses, so that recordings on a real driver and on the simulated one can be compared.
"""
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import time

import asking

HERE = pathlib.Path(__file__).resolve().parent
GPU_PROGRAMS = HERE.parent / "gpu" / "programs"

# Workloads that end by themselves and whose findings do not depend on where a signal strikes. Not `threads`: on a real driver
# it hangs in most runs, recorded or not (docs/simdriver.md).
WORKLOADS = ("demo", "way_plt", "way_plt_per_thread", "way_dlsym", "way_get_proc_address", "host_callbacks", "user_objects",
             "capture", "pools", "static_destructor", "fork_child", "exec_chain", "underscore_exit")
# Python programs, and their parts that a machine without a compiler for kernels leaves out.
SCRIPTS = {"cuda_core_graphs": ("kernel",), "cuda_core_objects": ()}

SEQUENCE = ("SELECT e.thread AS thread, a.symbol LIKE 'callback:%' AS callback, a.name AS name, e.result AS result FROM event e "
            "JOIN api a ON a.id = e.api WHERE a.symbol LIKE 'cu%' OR a.symbol LIKE 'callback:%' ORDER BY e.id")


class Failed(Exception):
    """A program could not be recorded or its trace not be read."""


def run(command, driver, more=None, limit=30):
    try:
        done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, timeout=limit,
                              env=asking.environment(driver, more), check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(str(error)) from error
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def record(bundle, command, driver, trace, more=None):
    status, out, err = run([bundle / "bin/lastref", "record", "-q", "--force", "-o", trace, "--", *command], driver, more)
    if not trace.exists():
        raise Failed(f"no trace: {err.strip()[-300:]}")
    return status, out


def rules(root):
    """The rules that findings come from, as the analyzer lists them; None where its sources are not at hand."""
    listed = root / "analyzer/findings/rules.cpp"
    return sorted(re.findall(r'^\s*\{"([a-z][a-z-]*)",', listed.read_text(), re.M)) if listed.exists() else None


def findings(bundle, trace):
    """How many findings of each severity and rule there are, and how often they happened: wording is no part of it."""
    status, out, err = run([bundle / "bin/lastref", "report", "--format", "json", trace], None)
    try:
        reported = json.loads(out)["findings"]
    except (ValueError, KeyError) as error:
        raise Failed(f"report ended with {status}: {err.strip()[-300:]}") from error
    counts = {}
    for finding in reported:
        counts.setdefault(f"{finding['severity']} {finding['rule']}", []).append(finding["count"])
    return {name: summary(each) for name, each in sorted(counts.items())}


def summary(counts):
    return f"{len(counts)} found, {sum(counts)} times"


def sequences(bundle, trace):
    """The calls of each of the program's threads as `name` or, where refused, `name:result`; and how many callbacks of a kind
    there were. On which thread and when a driver runs a destructor is its own affair: a real one's answer varies."""
    status, out, err = run([bundle / "bin/lastref", "query", "--json", trace, SEQUENCE], None)
    if status != 0:
        raise Failed(f"query ended with {status}: {err.strip()[-300:]}")
    threads, callbacks = {}, collections.Counter()
    for row in json.loads(out):
        if row["callback"]:
            callbacks[row["name"]] += 1
        else:
            refused = f":{row['result']}" if row["result"] else ""
            threads.setdefault(row["thread"], []).append(row["name"] + refused)
    return list(threads.values()), callbacks


def workload_commands(bundle, driver):
    """Name → command of every workload that is there."""
    for name in WORKLOADS:
        program = bundle / "bin/workloads" / name
        if program.exists():
            yield name, [program]
    for name in ("driver_api", "driver_api_ptds"):
        program = bundle / "bin/conformance" / name
        if program.exists():
            yield name, [program, *(["--simulated"] if asking.is_simulated(driver) else [])]


def record_workload(bundle, command, driver, trace):
    """As answers: how it ended, and what was found of each severity and rule."""
    status, _ = record(bundle, command, driver, trace)
    return ((asking.END, asking.how_it_ended(status)), *findings(bundle, trace).items())


def default_packages(root):
    """Where `./dev test` installs cuda-core for this Python; None where it has not."""
    folder = root / "build/python-packages" / "cp{}{}".format(*sys.version_info[:2])
    return folder if folder.exists() else None


def has_cuda_core(packages):
    status, out, _ = run([sys.executable, "-c", "import cuda.core, cuda.core.graph, cuda.bindings; print(cuda.core.__version__)"],
                         None, python_path(packages))
    return out.strip() if status == 0 else ""


def python_path(packages):
    path = {"PYTHONDONTWRITEBYTECODE": "1"}
    if packages:
        path["PYTHONPATH"] = str(packages)
    return path


def record_script(bundle, name, driver, packages, trace):
    """As answers: how it ended, what it printed, and the calls of each thread on one line."""
    without = SCRIPTS[name]
    command = [sys.executable, GPU_PROGRAMS / f"{name}.py", *(["--without", *without] if without else [])]
    status, out = record(bundle, command, driver, trace, python_path(packages))
    threads, callbacks = sequences(bundle, trace)
    return ((asking.END, asking.how_it_ended(status)), *asking.numbered(line.replace(": ", " = ", 1) for line in out.splitlines()),
            *((f"calls of thread {number}", " ".join(calls)) for number, calls in enumerate(threads, 1)),
            *((f"calls of a {name}", str(count)) for name, count in sorted(callbacks.items())))


def attempted(one, trace):
    try:
        return one(trace)
    except Failed as error:
        return ((asking.END, f"not recorded: {error}"),)


def repeat(jobs, folder, runs, deadline):
    """Group → {answers: how often}, as asking.ask_all gives; four programs at a time, none begun after the deadline."""
    folder.mkdir(parents=True, exist_ok=True)
    heard = {}
    ends_at = time.monotonic() + deadline

    def repeated(job):
        name, one = job
        trace = folder / f"{name.replace(' ', '-')}.lastref"
        heard[name] = collections.Counter(attempted(one, trace) for _ in range(runs) if time.monotonic() < ends_at)
        trace.unlink(missing_ok=True)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(repeated, jobs))
    return {name: heard[name] for name, _ in jobs if heard[name]}


def chosen(jobs, only):
    """Those whose group is named; all where none is."""
    return [job for job in jobs if not only or job[0] in only]


def hear_workloads(bundle, driver, only, folder, runs, deadline):
    jobs = [(f"workload {name}", lambda trace, c=command: record_workload(bundle, c, driver, trace))
            for name, command in workload_commands(bundle, driver)]
    return repeat(chosen(jobs, only), folder, runs, deadline)


def hear_scripts(bundle, driver, packages, only, folder, runs, deadline):
    jobs = [(f"program {name}", lambda trace, n=name: record_script(bundle, n, driver, packages, trace)) for name in SCRIPTS]
    return repeat(chosen(jobs, only), folder, runs, deadline)
