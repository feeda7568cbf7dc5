"""Holds the layers: which folder may include which, and who may use Qt, SQLite and the CUDA headers.

schema ◀ collector; schema ◀ analyzer ◀ gui. Only the program `lastref` (analyzer/cli) and tests see both sides.
"""

import os
import re

from sources import arguments, blank, cpp_files, finish, read, repository_files

# The part of the store whose interface shows no SQL: rows as types, and the trace that yields them.
ROWS = ["analyzer/store/rows.h", "analyzer/store/strong_id.h", "analyzer/store/trace.h", "analyzer/store/error.h"]

# Folder → folders and files that its files may include. The longest folder that fits a file counts; a folder may include itself.
MAY_INCLUDE = {
    "schema": [],
    "collector": ["schema"],
    "collector/spool": ["schema"],
    "collector/preload": ["schema", "collector/spool", "collector/nvtx"],
    "collector/cupti": ["schema", "collector/spool", "collector/preload"],
    "collector/nvtx": ["schema", "collector/spool", "collector/preload"],
    # What programs use: nothing but itself.
    "collector/ranges": ["collector/ranges"],
    "collector/drain": ["schema", "collector/spool", "collector/preload/hooks"],
    "analyzer": ["schema", "analyzer"],
    "analyzer/model": ["schema", "analyzer/store"],
    "analyzer/timeline": ["schema", "analyzer/model", *ROWS],
    "analyzer/ledger": ["schema", "analyzer/model", "analyzer/timeline", *ROWS],
    "analyzer/detectors": ["schema", "analyzer/model", "analyzer/timeline", "analyzer/ledger", "analyzer/findings", *ROWS],
    "analyzer/findings": ["schema", "analyzer/model", "analyzer/symbols", *ROWS],
    # What a pass over a trace came to, not the detectors that took it there.
    "analyzer/gate": ["analyzer/findings", "analyzer/symbols", "analyzer/model", *ROWS],
    # Built in the same pass, from what the detectors know of payloads.
    "analyzer/curves": ["analyzer/model", "analyzer/findings", "analyzer/detectors/payload_links.h", *ROWS],
    "analyzer/report": ["analyzer/curves", "analyzer/gate", "analyzer/findings", "analyzer/symbols", "analyzer/model", "analyzer/detectors/analysis.h",
                        "analyzer/replay/replay.h", "analyzer/replay/samples.h", *ROWS],
    "analyzer/reference": [],
    # What waits for a clean-up is known once, by the detectors' own means.
    "analyzer/replay": ["schema", "analyzer/model", "analyzer/findings", "analyzer/detectors/waiting_payloads.h",
                        "analyzer/detectors/payload_links.h", *ROWS],
    "analyzer/cli": ["schema", "analyzer", "collector"],
    "gui": ["schema", "analyzer"],
    "tests": ["schema", "analyzer", "collector", "gui"],
}

# Library → how its headers look, and the folders that may use it.
LIBRARIES = {
    "Qt": (r"Q[A-Z]\w*(/.*)?|Qt\w+/.*|q[a-z]+\.h", ["gui", "tests", "analyzer/reference/adapters"]),
    "SQLite": (r"sqlite3(ext)?\.h", ["collector/drain", "analyzer/store", "tests"]),
    "CUDA headers": (r"cuda\w*\.h|cupti\w*\.h|nvtx3/.*|nvToolsExt\w*\.h|crt/.*|driver_types\.h",
                     ["collector/preload", "collector/cupti", "collector/nvtx", "analyzer/reference", "tests"]),
}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)


def within(path, folder):
    return path == folder or path.startswith(folder + "/")


def rule_for(path):
    fitting = [folder for folder in MAY_INCLUDE if within(path, folder)]
    return max(fitting, key=len) if fitting else None


def target(root, path, name):
    """The repository's file that `name` means in `path`, or None where it is no file of ours."""
    for candidate in (os.path.join(os.path.dirname(path), name), name):
        candidate = os.path.normpath(candidate)
        if not candidate.startswith("..") and os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return name if rule_for(name) and "/" in name else None


def check_include(root, path, quote, name):
    inside = target(root, path, name) if quote == '"' or "/" in name else None
    if inside is not None:
        rule = rule_for(path)
        if rule is None or any(within(inside, folder) for folder in [rule, *MAY_INCLUDE[rule]]):
            return None
        return f"{rule} may not include {inside}"
    for library, (pattern, folders) in LIBRARIES.items():
        if re.fullmatch(pattern, name) and not any(within(path, folder) for folder in folders):
            return f"{library} ({name}) may be used in {', '.join(folders)} only"
    return None


def check_sources(root):
    problems = []
    for path in cpp_files(root):
        text = blank(read(root, path), strings=False)
        for match in INCLUDE.finditer(text):
            problem = check_include(root, path, match.group(1), match.group(2))
            if problem:
                problems.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {problem}")
    return problems


def check_build_files(root):
    """A folder without the right to CUDA's headers must not link the target that brings them either."""
    _, folders = LIBRARIES["CUDA headers"]
    problems = []
    for path in repository_files(root):
        if os.path.basename(path) != "CMakeLists.txt" or "/" not in path or any(within(path, f) for f in folders):
            continue
        for number, line in enumerate(read(root, path).splitlines(), 1):
            if "lastref_cuda_headers" in line.split("#")[0]:
                problems.append(f"{path}:{number}: CUDA headers may be used in {', '.join(folders)} only")
    return problems


if __name__ == "__main__":
    options = arguments(__doc__)
    finish(check_sources(options.root) + check_build_files(options.root), f"{len(cpp_files(options.root))} sources")
