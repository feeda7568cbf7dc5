"""Compares answers with the golden ones, and differences with the list of those that have a reason (differences.json).

The list's entries are {"group", "question", "reason"}; a question may end in `*`. Every difference must be listed, and every
listed one must still differ.
"""
import collections
import fnmatch
import json
import pathlib

import golden

Difference = collections.namedtuple("Difference", "group question real simulated")
Row = collections.namedtuple("Row", "group questions equal reasoned differing unasked")


def read_differences(path):
    path = pathlib.Path(path)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def pattern(question):
    """A pattern in which only a `*` at the end is special."""
    text, star = (question[:-1], "*") if question.endswith("*") else (question, "")
    return "".join(f"[{c}]" if c in "[*?" else c for c in text) + star


def fits(entry, difference):
    return (fnmatch.fnmatchcase(difference.group, pattern(entry["group"]))
            and fnmatch.fnmatchcase(difference.question, pattern(entry["question"])))


def shown(answers):
    return " or ".join(sorted(answers))


def differences(real, simulated):
    """Every question of which the simulated driver gave an answer that the real one never gave, or was not asked."""
    found = []
    for group, answered in sorted(real.items()):
        ours = simulated.get(group, {}).get("answers", {})
        for question, theirs in answered["answers"].items():
            allowed = golden.set_of(theirs)
            given = golden.set_of(ours.get(question, golden.ABSENT))
            if not given <= allowed:
                found.append(Difference(group, question, shown(allowed), shown(given)))
    return found


def unasked(real, simulated):
    """Questions that the real driver has not been asked: newer than its answers, or never reached since it crashed before."""
    return [(group, question) for group, answered in sorted(simulated.items()) for question in answered["answers"]
            if question not in real.get(group, {}).get("answers", {})]


def judge(found, listed):
    """Differences without a reason, and entries that stand for none."""
    without = [d for d in found if not any(fits(entry, d) for entry in listed)]
    idle = [entry for entry in listed if not any(fits(entry, d) for d in found)]
    return without, idle


def table(real, simulated, found, listed):
    """A row a group: how many questions, how many answered equally, differently with a reason, and differently without; and how
    many the real driver has not been asked."""
    rows = []
    waiting = collections.Counter(group for group, _ in unasked(real, simulated))
    for group in sorted(set(real) | set(simulated)):
        asked = real.get(group, {}).get("answers", {})
        differing = [d for d in found if d.group == group]
        reasoned = [d for d in differing if any(fits(entry, d) for entry in listed)]
        rows.append(Row(group, len(asked), len(asked) - len(differing), len(reasoned), len(differing) - len(reasoned),
                        waiting[group]))
    return rows


def print_table(rows, found, listed, file=None):
    width = max([len(row.group) for row in rows] + [5])
    print(f"{'group':{width}} {'questions':>9} {'equal':>6} {'with reason':>11} {'differ':>6} {'unasked':>7}", file=file)
    total = Row("all", *(sum(row[index] for row in rows) for index in range(1, 6)))
    for row in [*rows, total]:
        print(f"{row.group:{width}} {row.questions:9} {row.equal:6} {row.reasoned:11} {row.differing:6} {row.unasked:7}", file=file)
    for difference in found:
        reasons = [entry["reason"] for entry in listed if fits(entry, difference)]
        print(f"{difference.group}: {difference.question}: real {difference.real}, simulated {difference.simulated}"
              f"{': ' + reasons[0] if reasons else ''}", file=file)
