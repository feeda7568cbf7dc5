#!/usr/bin/env python3
"""Every difference that is allowed stands in docs/simdriver.md with its reason, and every one that stands there is allowed."""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import comparing  # noqa: E402

HEADING = "## Where it differs from the real driver"


def rows_of(text):
    """(group, question, reason) of each row of the table under the heading; its columns are group, question, real, simulated,
    reason."""
    section = text.partition(HEADING)[2].partition("\n## ")[0]
    rows = set()
    for line in section.splitlines():
        # A bar inside code is written as \|.
        cells = [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 5 and cells[0].startswith("`"):
            rows.add((cells[0].strip("`"), cells[1].strip("`"), cells[4]))
    return rows


def problems_of(listed, rows):
    wanted = {(entry["group"], entry["question"], entry["reason"]) for entry in listed}
    return ([f"allowed, but not in docs/simdriver.md: {row}" for row in sorted(wanted - rows)]
            + [f"in docs/simdriver.md, but not in differences.json: {row}" for row in sorted(rows - wanted)])


def main():
    text = (HERE.parent.parent / "docs/simdriver.md").read_text(encoding="utf-8")
    listed = comparing.read_differences(HERE / "differences.json")
    problems = problems_of(listed, rows_of(text))
    print(*problems, f"{len(listed)} differences, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
