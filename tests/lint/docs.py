"""What README.md and docs/ say exists: commands of ./dev and lastref, their options, and the files they link to.

And the other way round: every table and view of the trace stands in docs/trace-format.md.
"""

import os
import re
import shlex
import subprocess

from sources import arguments, finish, read, repository_files

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
CODE = re.compile(r"```[^\n]*\n(.*?)```|`([^`\n]+)`|^((?: {4}[^\n]*\n)+)", re.S | re.M)
DEV = re.compile(r"\./dev ([a-z][\w-]*)")
LASTREF = re.compile(r"(?<![\w/.-])(?:[\w./]*/bin/)?lastref ([a-z][\w-]*)([^\n|]*)")
OPTION = re.compile(r"(?<=\s)(--[a-z][\w-]*)")


def check_links(root, path, text):
    problems = []
    for name in LINK.findall(text):
        if re.match(r"[a-z]+:", name):
            continue
        if not os.path.exists(os.path.join(root, os.path.dirname(path), name)):
            problems.append(f"{path}: links to {name}, which is not there")
    return problems


class Commands:
    """What ./dev and lastref say of themselves; lastref's part is left out where it has not been built."""

    def __init__(self, root, program):
        self.root, self.program = root, program
        self.dev = set(re.findall(r"^  ([a-z][\w-]*)", self.ask(["./dev", "help"]), re.M))
        self.lastref = {}

    def ask(self, command):
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, timeout=60)
        return done.stdout + done.stderr if done.returncode == 0 else None

    def refusal(self, words):
        """What the option parser has against a command line, None where it takes it. Nothing is run."""
        done = subprocess.run([self.program, *words, "--help"], cwd=self.root, capture_output=True, text=True, timeout=60)
        return None if done.returncode == 0 else (done.stdout + done.stderr).splitlines()[0]

    def options(self, command):
        """Text of `lastref COMMAND --help`, None where there is no such command."""
        if command not in self.lastref:
            self.lastref[command] = self.ask([self.program, command, "--help"])
        return self.lastref[command]


def words_of(text):
    """As a shell would split it, up to the end of the command; what cannot be split is prose."""
    try:
        return shlex.split(re.split(r"[;|&>]|\s#", text)[0])
    except ValueError:
        return []


def check_commands(path, text, commands):
    problems = []
    for code in ("".join(pair) for pair in CODE.findall(text)):
        problems += [f"{path}: ./dev {name} is no command" for name in DEV.findall(code) if name not in commands.dev]
        for name, rest in LASTREF.findall(code) if commands.program else []:
            told = commands.options(name)
            if told is None:
                problems.append(f"{path}: lastref {name} is no command")
                continue
            own = rest.split(" -- ")[0]  # what follows is the recorded program's
            unknown = [o for o in OPTION.findall(own) if o not in told]
            problems += [f"{path}: lastref {name} has no option {o}" for o in unknown]
            refused = None if unknown else commands.refusal([name, *words_of(own)])
            if refused:
                problems.append(f"{path}: lastref {name}{own}: {refused}")
    return problems


def check_trace_format(root, files):
    page = "docs/trace-format.md"
    told = set(re.findall(r"`(\w+)`", read(root, page))) if page in files else set()
    problems = []
    for path in files:
        if re.match(r"schema/\w+\.sql$", path):
            # A leading underscore marks the views that others are built from; they promise nothing to users.
            names = re.findall(r"^CREATE (?:TABLE|VIEW) ([a-z]\w*)", read(root, path), re.M)
            problems += [f"{page}: does not tell of {name} ({path})" for name in names if name not in told]
    return problems


if __name__ == "__main__":
    options = arguments(__doc__, ("--lastref", {"default": None, "help": "the built program"}))
    known = Commands(options.root, options.lastref)
    paths = repository_files(options.root)
    pages = [f for f in paths if f.endswith(".md")]
    found = check_trace_format(options.root, paths)
    for page in pages:
        content = read(options.root, page)
        found += check_links(options.root, page, content)
        # Decisions may speak of what is to come.
        if not page.startswith("docs/adr/"):
            found += check_commands(page, content, known)
    finish(found, f"{len(pages)} pages")
