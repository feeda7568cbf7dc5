"""Every rule has its code, its page and its golden report, all under one name.

The rule `failed-free` is analyzer/detectors/failed_free.cpp, docs/rules/failed-free.md, and a file under tests/golden
whose name is or begins with `failed-free`. A file of analyzer/detectors is a rule if it names itself: "failed-free".
"""

import os
import re

from sources import arguments, finish, read, repository_files


def code_rules(root, files):
    for path in files:
        if re.fullmatch(r"analyzer/detectors/\w+\.cpp", path):
            name = os.path.basename(path)[:-len(".cpp")].replace("_", "-")
            if f'"{name}"' in read(root, path):
                yield name


def page_rules(files):
    names = (re.fullmatch(r"docs/rules/([\w-]+)\.md", path) for path in files)
    return {match[1] for match in names if match} - {"README"}


def goldens(files):
    return {os.path.basename(path) for path in files if re.match(r"tests/(\w+/)?golden/", path)}


def compare(code, pages, golden_files):
    problems = []
    for rule in sorted(code | pages):
        if rule not in code:
            problems.append(f"docs/rules/{rule}.md: no analyzer/detectors/{rule.replace('-', '_')}.cpp names this rule")
        if rule not in pages:
            problems.append(f"rule {rule}: no docs/rules/{rule}.md")
        if not any(re.match(rf"{rule}\b(?!-)", name) for name in golden_files):
            problems.append(f"rule {rule}: no golden report under tests/golden")
    return problems


if __name__ == "__main__":
    options = arguments(__doc__)
    paths = repository_files(options.root)
    rules = set(code_rules(options.root, paths))
    finish(compare(rules, page_rules(paths), goldens(paths)), f"{len(rules)} rules")
