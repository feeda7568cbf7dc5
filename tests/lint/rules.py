"""Every rule has its detector, its page and its golden report, all under one name.

Rules are listed in analyzer/findings/rules.cpp. The rule `failed-free` is analyzer/detectors/failed_free.cpp,
docs/rules/failed-free.md, and a report under tests/golden (or tests/*/golden) that names it.
"""

import re

from sources import arguments, finish, read, repository_files


RULES = "analyzer/findings/rules.cpp"


def listed_rules(root, files):
    return set(re.findall(r'^\s*\{"([a-z][a-z-]*)",', read(root, RULES), re.M)) if RULES in files else set()


def detector(rule):
    return f"analyzer/detectors/{rule.replace('-', '_')}.cpp"


def page_rules(files):
    names = (re.fullmatch(r"docs/rules/([\w-]+)\.md", path) for path in files)
    return {match[1] for match in names if match} - {"README"}


def named_in_goldens(root, files, rules):
    texts = [read(root, path) for path in files if re.match(r"tests/(\w+/)?golden/.*\.(txt|json)$", path)]
    return {rule for rule in rules if any(re.search(rf"(?<![\w-]){rule}(?![\w-])", text) for text in texts)}


def compare(root, listed, files):
    pages, golden = page_rules(files), named_in_goldens(root, files, listed)
    problems = [f"docs/rules/{rule}.md: {RULES} lists no such rule" for rule in sorted(pages - listed)]
    for rule in sorted(listed):
        problems += [f"rule {rule}: no {path}" for path in (detector(rule), f"docs/rules/{rule}.md") if path not in files]
        if rule not in golden:
            problems.append(f"rule {rule}: no golden report under tests/golden names it")
    return problems


if __name__ == "__main__":
    options = arguments(__doc__)
    paths = repository_files(options.root)
    rules = listed_rules(options.root, paths)
    finish(compare(options.root, rules, paths), f"{len(rules)} rules")
