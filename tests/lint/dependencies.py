"""liblastref.so and liblastref_cupti.so need nothing but libc, and a libc no newer than that of Ubuntu 20.04.

They are loaded into programs of every kind: whatever else they needed would be loaded into those too, and could be
another version than theirs.
"""

import re
import subprocess

from sources import arguments, finish

NEEDED = re.compile(r"libc\.so\.6|ld-linux-[\w-]+\.so\.\d")
NEWEST_GLIBC = (2, 31)
# In libdl and libpthread before glibc 2.34, so that a program may lack them: references must be weak.
PERHAPS_MISSING = re.compile(r"dl(?!_iterate_phdr)\w+|pthread_(key_create|key_delete|setspecific|getspecific|create|join|once)")
# References without a version that compilers put into every shared library, all weak.
FREE_REFERENCES = {"__gmon_start__", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable", "__cxa_finalize"}


def readelf(library, *options):
    return subprocess.run(["readelf", "-W", *options, library], check=True, capture_output=True, text=True).stdout


def check_needed(dynamic):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    problems = [f"needs {name}" for name in needed if not NEEDED.fullmatch(name)]
    if "(TEXTREL)" in dynamic or re.search(r"\(FLAGS\).*\bTEXTREL\b", dynamic):
        problems.append("has text relocations")
    return problems


def check_reference(name, version, binding):
    if PERHAPS_MISSING.fullmatch(name) and binding != "WEAK":
        return f"refers to {name}, which a program may lack before glibc 2.34, by a reference that is not weak"
    if version is None:
        return None if name in FREE_REFERENCES else f"refers to {name}, which no library that it needs is known to have"
    if match := re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", version):
        if (int(match[1]), int(match[2])) > NEWEST_GLIBC:
            return f"refers to {name} of {version}, newer than GLIBC_{NEWEST_GLIBC[0]}.{NEWEST_GLIBC[1]}"
    elif version != "GLIBC_PRIVATE" or name != "__tls_get_addr":
        return f"refers to {name} of {version}"
    # Dynamic thread-local storage is allocated at its first use, inside whatever call of the program that is.
    return "has thread-local storage that is not initial-exec" if name == "__tls_get_addr" else None


def check_references(symbols):
    problems = []
    for line in symbols.splitlines():
        fields = line.split()
        if len(fields) < 8 or fields[6] != "UND":
            continue
        name, _, version = fields[7].partition("@")
        problems.append(check_reference(name, version.lstrip("@") or None, fields[4]))
    return [p for p in problems if p]


def check_segments(headers):
    problems = []
    for line in headers.splitlines():
        match = re.match(r"\s*(LOAD|GNU_STACK)\s+(?:0x\w+\s+){5}([RWE ]{3})", line)
        if match and "W" in match[2] and "E" in match[2]:
            problems.append(f"segment {match[1]} is both writable and executable")
    return problems


if __name__ == "__main__":
    options = arguments(__doc__, ("--library", {"required": True}))
    finish(check_needed(readelf(options.library, "-d")) + check_references(readelf(options.library, "--dyn-syms")) +
           check_segments(readelf(options.library, "-l")), options.library)
