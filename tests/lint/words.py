"""Words that have no place in the repository: places on one machine, and how a text came to be.

words.txt holds one regular expression a line. A line of a file that matches is a problem unless it also matches the
expression after ` unless ` on that line of words.txt.
"""

import os
import re

from sources import arguments, finish, read, repository_files


def rules(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]
    for line in lines:
        pattern, _, exception = line.partition(" unless ")
        yield re.compile(pattern, re.I), re.compile(exception, re.I) if exception else None


def check_line(line, patterns):
    for pattern, exception in patterns:
        match = pattern.search(line)
        if match and not (exception and exception.search(line)):
            yield match.group(0).strip()


def check(root, path, patterns):
    lines = [path, *read(root, path).split("\n")]  # the name of the file counts as its line 0
    return [f"{path}:{number}: {word!r}" for number, line in enumerate(lines) for word in check_line(line, patterns)]


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    options = arguments(__doc__, ("--words", {"default": os.path.join(here, "words.txt")}))
    patterns = list(rules(options.words))
    files = [f for f in repository_files(options.root) if not f.endswith((".png", ".gz", ".lastref", ".spool", ".bin"))]
    finish([p for path in files for p in check(options.root, path, patterns)], f"{len(files)} files")
