"""What the lints share: the files of the repository, C++ without comments, and how a lint ends."""

import argparse
import os
import re
import subprocess
import sys

CPP_ENDINGS = (".h", ".hpp", ".cpp", ".c", ".cc", ".inl", ".def")


def repository_files(root):
    """Paths, relative to root, of every file that is or would be in the repository."""
    try:
        listing = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            check=True, capture_output=True).stdout.decode()
        # `git -C` finds a repository around `root` too: only one whose top is `root` counts.
        top = subprocess.run(["git", "-C", root, "rev-parse", "--show-toplevel"],
                             check=True, capture_output=True, text=True).stdout.strip()
        if os.path.realpath(top) == os.path.realpath(root):
            return sorted(f for f in set(listing.split("\0")) if f and os.path.isfile(os.path.join(root, f)))
    except (OSError, subprocess.CalledProcessError):
        pass
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f not in (".git", "build", "__pycache__")]
        found += [os.path.relpath(os.path.join(folder, f), root) for f in files]
    return sorted(found)


def cpp_files(root):
    return [f for f in repository_files(root) if f.endswith(CPP_ENDINGS)]


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


TOKENS = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])+'""",
    re.S)


def blank(text, strings=True):
    """C++ with comments, and the insides of strings where `strings`, replaced by blanks; every line stays where it was."""

    def replace(match):
        if match.group("comment") is None and not strings:
            return match.group(0)
        return re.sub(r"[^\n]", " ", match.group(0))

    return TOKENS.sub(replace, text)


def arguments(description, *extra):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."),
                        help="top folder of what is checked (this repository)")
    for name, options in extra:
        parser.add_argument(name, **options)
    return parser.parse_args()


def finish(problems, checked):
    """Prints the problems and ends with status 1 if there are any; `checked` says what was looked at."""
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems in {checked}")
    sys.exit(1 if problems else 0)
