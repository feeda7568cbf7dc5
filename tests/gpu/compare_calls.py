#!/usr/bin/env python3
"""Compares a trace with what CUPTI's driver callbacks counted in the same run, symbol by symbol.

    compare_calls.py TRACE COUNTS.json [COUNTS.json …] [--json]

COUNTS.json is what cupti_calls wrote, one file a process. Only differences are printed, each as an ABI symbol with both
counts, then one line that sums up. Set apart, since they are no differences:

  allowed        differences whose cause is known: see ALLOWED
  outside        entry points that CUPTI saw and the table of hooks does not hold
  nested         calls that the driver made itself inside a recorded one: CUPTI may or may not report them
  after exit     calls after exit handlers had begun: CUPTI shuts down then, at a moment of its own

Exit status: 0 no differences, 1 differences, 2 wrong use.
"""
import argparse
import collections
import json
import pathlib
import re
import sqlite3
import sys

# Both tools see the same process, and each sees something of the other. Symbol → (which side may have more, how many more
# at most (None: any number), why).
ALLOWED = {
    "cuInit": ("recorded", 1, "CUPTI subscribes inside the first cuInit, after that call's entry"),
    "cuCtxGetCurrent": ("cupti", None, "the collector asks the driver itself for the current context"),
    "cuStreamIsCapturing": ("cupti", None, "the collector asks the driver itself whether a host function is captured"),
    "cuStreamIsCapturing_ptsz": ("cupti", None, "the collector asks the driver itself whether a host function is captured"),
}

Recorded = collections.namedtuple("Recorded", "plain nested after_exit failed")
NOTHING = Recorded(0, 0, 0, 0)

# event.flags, see schema/trace.sql
NESTED = 2
AFTER_EXIT = 8


def open_trace(path):
    trace = sqlite3.connect(f"file:{pathlib.Path(path).resolve()}?mode=ro", uri=True)
    trace.execute("SELECT 1 FROM event LIMIT 1")
    return trace


def recorded_calls(trace, pids):
    """Symbol → Recorded, over the processes that CUPTI counted in. Callbacks are no calls."""
    marks = ",".join("?" * len(pids))
    rows = trace.execute(
        f"""SELECT api.symbol,
                   sum(flags & {NESTED} = 0 AND flags & {AFTER_EXIT} = 0),
                   sum(flags & {NESTED} != 0),
                   sum(flags & {NESTED} = 0 AND flags & {AFTER_EXIT} != 0),
                   sum(coalesce(result, 0) NOT IN (0, 600) AND flags & {NESTED | AFTER_EXIT} = 0)
            FROM event JOIN api ON api.id = event.api
                       JOIN thread ON thread.id = event.thread
                       JOIN process ON process.id = thread.process
            WHERE api.symbol GLOB 'cu*' AND process.pid IN ({marks})
            GROUP BY api.symbol""",
        pids,
    )
    return {symbol: Recorded(*counts) for symbol, *counts in rows}


def read_counts(paths):
    """The sum of what CUPTI counted, and the files as they are."""
    files = [json.loads(pathlib.Path(path).read_text()) for path in paths]
    calls, failed = collections.Counter(), collections.Counter()
    for file in files:
        calls.update(file["calls"])
        failed.update(file["failed"])
    return calls, failed, files


def base_names(trace):
    return dict(trace.execute("SELECT symbol, name FROM api WHERE symbol GLOB 'cu*'"))


def without_suffix(symbol):
    return re.sub(r"(_v\d+)?(_ptsz|_ptds)?$", "", symbol)


def excess(recorded, cupti):
    """How many more CUPTI counted (negative: the trace), beyond what nested calls and those after exit may account for."""
    highest = recorded.plain + recorded.nested + recorded.after_exit
    if cupti > highest:
        return cupti - highest
    return min(0, cupti - recorded.plain)


def allowed(symbol, more_in_cupti):
    """Why this difference is expected, or None."""
    side, limit, reason = ALLOWED.get(symbol, (None, 0, None))
    if side != ("cupti" if more_in_cupti > 0 else "recorded"):
        return None
    return reason if limit is None or abs(more_in_cupti) <= limit else None


def comparable(mine, symbol, result):
    """Whether both sides counted the same calls, so that they must agree about the failed ones too."""
    return not mine.nested and not mine.after_exit and symbol not in result["allowed"]


def compare(trace, paths):
    cupti, cupti_failed, files = read_counts(paths)
    recorded = recorded_calls(trace, [file["pid"] for file in files])
    names = base_names(trace)
    result = {"differences": {}, "allowed": {}, "failed": {}, "outside": {}, "agree": 0, "calls": 0}
    for symbol in sorted(set(cupti) | set(recorded)):
        if symbol not in names:
            result["outside"][symbol] = cupti[symbol]
            continue
        mine = recorded.get(symbol, NOTHING)
        more = excess(mine, cupti[symbol])
        result["calls"] += mine.plain
        if not more:
            result["agree"] += 1
        elif reason := allowed(symbol, more):
            result["allowed"][symbol] = {"recorded": mine.plain, "cupti": cupti[symbol], "reason": reason}
        else:
            result["differences"][symbol] = {"recorded": mine.plain, "cupti": cupti[symbol]}
        if comparable(mine, symbol, result) and mine.failed != cupti_failed[symbol]:
            result["failed"][symbol] = {"recorded": mine.failed, "cupti": cupti_failed[symbol]}
    result["by_name"] = by_base_name(result["differences"], names)
    result["nested"] = {s: r.nested for s, r in recorded.items() if r.nested}
    result["after_exit"] = {s: r.after_exit for s, r in recorded.items() if r.after_exit}
    result["uncounted_processes"] = uncounted(trace, files)
    result["unfinished_counts"] = [file["pid"] for file in files if file["state"] not in ("exit", "unload")]
    result["unhooked"] = [name for name, in trace.execute("SELECT name FROM unhooked ORDER BY name")]
    return result


def by_base_name(differences, names):
    """The differences summed by name without suffix: what is left is more than a matter of variants."""
    sums = collections.defaultdict(lambda: [0, 0])
    for symbol, counts in differences.items():
        name = names.get(symbol, without_suffix(symbol))
        sums[name][0] += counts["recorded"]
        sums[name][1] += counts["cupti"]
    return {name: {"recorded": mine, "cupti": theirs} for name, (mine, theirs) in sums.items() if mine != theirs}


def uncounted(trace, files):
    counted = {file["pid"] for file in files}
    return [pid for pid, in trace.execute("SELECT pid FROM process ORDER BY id") if pid not in counted]


def print_text(result):
    for symbol, counts in result["differences"].items():
        print(f"DIFFERENT {symbol}: recorded {counts['recorded']}, CUPTI {counts['cupti']}")
    for name, counts in result["by_name"].items():
        print(f"  by name {name}: recorded {counts['recorded']}, CUPTI {counts['cupti']}")
    for symbol, counts in result["failed"].items():
        print(f"FAILURES  {symbol}: recorded {counts['recorded']}, CUPTI {counts['cupti']}")
    for symbol, counts in result["allowed"].items():
        print(f"allowed   {symbol}: recorded {counts['recorded']}, CUPTI {counts['cupti']}: {counts['reason']}")
    for key, title in (("outside", "outside the table"), ("nested", "nested"), ("after_exit", "after exit")):
        if result[key]:
            print(f"{title}: " + ", ".join(f"{symbol} {count}" for symbol, count in sorted(result[key].items())))
    for key, title in (("unhooked", "obtained past the collector"), ("uncounted_processes", "no CUPTI counts of process"),
                       ("unfinished_counts", "CUPTI's counts stop before the exit of process")):
        if result[key]:
            print(f"{title}: " + ", ".join(map(str, result[key])))
    print(f"{result['agree']} entry points agree, {result['calls']} calls recorded, "
          f"{len(result['differences'])} different, {len(result['failed'])} with other failures, "
          f"{len(result['allowed'])} allowed, {len(result['outside'])} outside the table")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    parser.add_argument("counts", nargs="+")
    parser.add_argument("--json", action="store_true", help="print the whole comparison as JSON")
    arguments = parser.parse_args()
    try:
        result = compare(open_trace(arguments.trace), arguments.counts)
    except (OSError, ValueError, KeyError, sqlite3.Error) as error:
        print(f"compare_calls: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        print(json.dumps(result, indent=1))
    else:
        print_text(result)
    return 1 if result["differences"] or result["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
