"""Runs the labelled corpus: records each program, and compares what the report finds with what the program's name says.

Prints a table by rule: programs with the fault, in how many it was found and missed, and findings that should not be there.
Exits with 0 where nothing is missed and nothing false. By default on the simulated driver of the build; with --driver system
on the machine's own.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

# What the simulated driver has to be told, since its kernels compute nothing; ignored by a real one.
SIMULATED = {
    "first-error.fault.reported_by_a_synchronization": "cuCtxSynchronize:1:719",
    "first-error.fault.frees_that_follow": "cuCtxSynchronize:1:719,cuMemFree:1:719",
}
# Rules that are asked for with the end of warm-up, a real driver's start included.
AFTER_WARM_UP = ("steady-state-allocation.", "late-module-load.")
WARM_UP = {True: 0.3, False: 3.0}  # seconds, simulated and real
# ... or that a range of the program says, by its usual name or by one that is asked for.
BY_RANGE = {"_the_range": [], "_later_range": [], "_asked_range": ["--warm-up", "prepare"]}
# Rules of the product that no corpus program can show yet would stand here with the reason.
WITHOUT_PROGRAMS = {}
LIMIT = 20  # seconds for a program; a real driver sometimes hangs where threads that used it end, bare as well
TRIES = 3
# Rules whose programs speak through NVTX: left out of a corpus that was built without its headers.
NEED_NVTX = ("queue-contract", "context-not-restored")
LEAST = 2  # programs with the fault, and healthy twins, for each rule


def system_driver():
    """The folder of the machine's own libcuda.so.1, as the dynamic linker finds it."""
    known = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"^\s*libcuda\.so\.1 .*x86-64.* => (\S+)$", known, re.M)
    folders = [os.path.dirname(found[1])] if found else []
    folders += [f for f in os.environ.get("LD_LIBRARY_PATH", "").split(":") if f]
    for folder in folders:
        if os.path.exists(os.path.join(folder, "libcuda.so.1")):
            return folder
    sys.exit("no libcuda.so.1 on this machine")


def asked_for(name, warm_up):
    """Options of the report, by the program's name."""
    if not name.startswith(AFTER_WARM_UP):
        return []
    ranged = [options for end, options in BY_RANGE.items() if name.endswith(end)]
    return ranged[0] if ranged else ["--warm-up", warm_up]


class Machine:
    def __init__(self, build, driver):
        self.lastref = os.path.join(build, "bin", "lastref")
        self.corpus = os.path.join(build, "bin", "workloads", "corpus")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("LASTREF_", "CUDA_", "LD_"))}
        self.environment["NO_COLOR"] = "1"
        self.simulated = driver == "simulated"
        if self.simulated:
            self.environment["LD_LIBRARY_PATH"] = os.path.join(build, "lib", "simdriver")
        else:
            # The program's own RUNPATH leads to the simulated driver; the real one has to come before it.
            self.environment["LD_LIBRARY_PATH"] = system_driver() if driver == "system" else driver

    def run(self, *command, **more):
        environment = {**self.environment, **more}
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT, env=environment, check=False)

    def names(self):
        return self.run(self.corpus, "--list").stdout.split()

    def record(self, trace, name, more):
        """What `lastref record` did, or None where the program did not end."""
        for _ in range(TRIES):
            try:
                return self.run(self.lastref, "record", "-o", trace, "--", self.corpus, name, **more)
            except subprocess.TimeoutExpired:
                continue
        return None

    def look(self, name, folder):
        """(name, rules found, complaint): what the report of this program says; a complaint where there is none."""
        trace = os.path.join(folder, name + ".lastref")
        more = {"LASTREF_SIM_FAIL": SIMULATED[name]} if self.simulated and name in SIMULATED else {}
        warm_up = str(WARM_UP[self.simulated])
        more["CORPUS_WARM_UP"] = warm_up
        asked = asked_for(name, warm_up)
        recorded = self.record(trace, name, more)
        if not recorded:
            return name, [], f"did not end within {LIMIT} s, {TRIES} times"
        if recorded.returncode != 0:
            return name, [], f"the program went wrong ({recorded.returncode}):\n{recorded.stdout}{recorded.stderr}"
        told = self.run(self.lastref, "report", trace, "--format", "json", *asked)
        try:
            report = json.loads(told.stdout)
        except ValueError:
            return name, [], f"no report: {told.stderr}"
        if report["trace"]["incomplete"]:
            return name, [], f"the trace is incomplete: {report['trace']['incomplete']}"
        return name, [(f["rule"], f["title"]) for f in report["findings"]], None


def listed_rules(path):
    with open(path, encoding="utf-8") as file:
        return re.findall(r'^\s*\{"([a-z][a-z-]*)",', file.read(), re.M)


def count(results, rules):
    """Per rule: programs, found, missed, healthy, false; and a line for each that is not as it should be."""
    table = {rule: dict.fromkeys(("programs", "found", "missed", "healthy", "false"), 0) for rule in rules}
    wrong = []
    for name, found, complaint in results:
        rule, label, _ = name.split(".")
        table[rule]["programs" if label == "fault" else "healthy"] += 1
        if complaint:
            wrong.append(f"{name}: {complaint}")
            continue
        expected = label == "fault"
        hit = any(r == rule for r, _ in found)
        if expected:
            table[rule]["found" if hit else "missed"] += 1
            if not hit:
                wrong.append(f"{name}: missed")
        for other, title in found:
            if not expected or other != rule:
                table[other]["false"] += 1
                wrong.append(f"{name}: {other}: {title}")
    for rule in rules:
        if rule not in WITHOUT_PROGRAMS and min(table[rule]["programs"], table[rule]["healthy"]) < LEAST:
            wrong.append(f"{rule}: fewer than {LEAST} programs with the fault, or healthy twins")
    return table, wrong


def print_table(table):
    width = max(map(len, table))
    print(f"{'rule':{width}}  faults  found  missed  twins  false")
    total = dict.fromkeys(next(iter(table.values())), 0)
    for rule, row in sorted(table.items()) + [("all", total)]:
        print(f"{rule:{width}}  {row['programs']:6}  {row['found']:5}  {row['missed']:6}  {row['healthy']:5}  {row['false']:5}")
        if row is not total:
            for key, value in row.items():
                total[key] += value


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", required=True, help="folder of the build")
    parser.add_argument("--rules", required=True, help="analyzer/findings/rules.cpp")
    parser.add_argument("--driver", default="simulated", help="simulated, system, or a folder with libcuda.so.1")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("only", nargs="*", help="names of programs, or beginnings of them; else all")
    options = parser.parse_args()
    machine = Machine(os.path.abspath(options.build), options.driver)
    names = [n for n in machine.names() if not options.only or n.startswith(tuple(options.only))]
    if not names:
        sys.exit("no such program")
    with tempfile.TemporaryDirectory(prefix="lastref-corpus-") as folder:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(lambda name: machine.look(name, folder), names))
    rules = listed_rules(options.rules)
    if not any(name.startswith(NEED_NVTX) for name in machine.names()):
        print(f"without the headers of NVTX 3, hence without {' and '.join(NEED_NVTX)}")
        rules = [rule for rule in rules if rule not in NEED_NVTX]
    table, wrong = count(results, rules)
    if options.only:
        wrong = [line for line in wrong if not line.endswith("healthy twins")]
    print_table(table)
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
