"""The table of hooks is complete: of every entry point that it names, it has each variant that cuda.h declares."""

import re
import subprocess

from sources import arguments, finish

SUFFIX = re.compile(r"(_v\d+)?(_ptsz|_ptds)?$")
DECLARATION = re.compile(r"\bCUresult\s+(cu[A-Z]\w*)\s*\(")


def declared(include, compiler):
    """Entry points that cuda.h declares, old ones included."""
    source = "#define __CUDA_API_VERSION_INTERNAL\n#include <cuda.h>\n"
    output = subprocess.run([compiler, "-E", "-P", "-x", "c++", "-isystem", include, "-"], input=source, check=True,
                            capture_output=True, text=True).stdout
    return set(DECLARATION.findall(output))


def base(symbol):
    return SUFFIX.sub("", symbol)


def compare(table, header):
    names = {base(symbol) for symbol in table}
    return [f"cuda.h declares {symbol}, the table lacks it" for symbol in sorted(header - table) if base(symbol) in names] + \
           [f"the table has {symbol}, cuda.h does not declare it" for symbol in sorted(table - header)]


if __name__ == "__main__":
    options = arguments(__doc__, ("--include", {"required": True}), ("--table", {"required": True}),
                        ("--compiler", {"default": "c++"}))
    symbols = set(subprocess.run([options.table], check=True, capture_output=True, text=True).stdout.split())
    finish(compare(symbols, declared(options.include, options.compiler)), f"{len(symbols)} entry points")
