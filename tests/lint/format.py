"""Every C++ file is as clang-format leaves it. Versions differ in taste: 14 is the one that counts."""

import re
import shutil
import subprocess
import sys

from sources import arguments, finish, repository_files

VERSION = "14"
SKIPPED = 77


def find():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        if shutil.which(name):
            told = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"version {VERSION}\.", told):
                return name
    return None


def check(program, root, paths):
    done = subprocess.run([program, "--dry-run", "-ferror-limit=1", *paths], cwd=root, capture_output=True, text=True)
    return sorted(set(re.findall(r"^(\S+?:\d+):\d+: warning", done.stderr, re.M)))


if __name__ == "__main__":
    options = arguments(__doc__)
    formatter = find()
    if not formatter:
        print(f"skipped: no clang-format {VERSION}")
        sys.exit(SKIPPED)
    files = [f for f in repository_files(options.root) if f.endswith((".h", ".hpp", ".cpp", ".c"))]
    finish([f"{place}: not as ./dev format leaves it" for place in check(formatter, options.root, files)],
           f"{len(files)} sources")
