"""Manual pages tell of the options that there are: each option of `--help`, and no other.

Every command of lastref has a page with a description; the desktop program's page is written by hand (gui/share/lastref-gui.1).
"""

import os
import re
import subprocess

from sources import arguments, finish, read

# CLI11: "  -o,--output TEXT". Qt: "  -h, --help", "  --size <WIDTHxHEIGHT>".
HELP_OPTION = re.compile(r"^ {2,4}(-{1,2}\w[\w-]*(?:, ?-{1,2}\w[\w-]*)*)", re.M)
PAGE_OPTION = re.compile(r"^\.TP\n(.*)$", re.M)
HIDDEN = {"drain", "probe"}


def said(command):
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    return done.stdout if done.returncode == 0 else None


def options_in_help(text):
    return {name for names in HELP_OPTION.findall(text) for name in re.split(r", ?", names)}


def options_in_page(text):
    titles = [re.sub(r"\\f[BIR]", "", title).replace("\\-", "-") for title in PAGE_OPTION.findall(text)]
    return {name for title in titles for name in re.findall(r"(?<![\w-])-{1,2}\w[\w-]*", title) if title.startswith("-")}


def compare(name, help_text, page):
    if help_text is None or page is None:
        return [f"{name}: {'--help' if help_text is None else 'its manual page'} cannot be had"]
    told, there = options_in_page(page), options_in_help(help_text)
    problems = [] if there else [f"{name}: no option is found in --help"]
    problems += [f"{name}: its page does not tell of {option}" for option in sorted(there - told)]
    problems += [f"{name}: its page tells of {option}, which --help does not have" for option in sorted(told - there)]
    description = re.search(r"^\.SH DESCRIPTION\n(.*?)(?=^\.SH |\Z)", page, re.M | re.S)
    if not description or not re.search(r"^[^.\n]", description.group(1), re.M):
        problems.append(f"{name}: its page has no description")
    return problems


def check_lastref(program):
    """Commands as --help lists them, those that it hides left out."""
    listed = re.search(r"^Subcommands:\n(.*)", said([program, "--help"]) or "", re.M | re.S)
    names = re.findall(r"^  ([a-z][\w-]*)", listed.group(1), re.M) if listed else []
    problems = [] if names else ["lastref --help lists no command"]
    problems += [f"lastref --help shows {name}" for name in names if name in HIDDEN]
    problems += compare("lastref", said([program, "--help"]), said([program, "manual"]))
    for name in names:
        problems += compare(f"lastref {name}", said([program, name, "--help"]), said([program, "manual", name]))
    return problems


if __name__ == "__main__":
    options = arguments(__doc__, ("--lastref", {"required": True}), ("--gui", {"default": None}))
    found = check_lastref(options.lastref)
    if options.gui:
        found += compare("lastref-gui", said([options.gui, "--help"]), read(options.root, "gui/share/lastref-gui.1"))
    finish(found, "the manual pages")
