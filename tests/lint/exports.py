"""liblastref.so exports exactly the hooked entry points of the table and the few symbols of exported_symbols.txt."""

import subprocess

from sources import arguments, finish


def listed(path):
    with open(path, encoding="utf-8") as file:
        return {line.split("#")[0].strip() for line in file} - {""}


def exported(library):
    """Names of the defined dynamic symbols, without their versions."""
    output = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    symbols = [line.split() for line in output.splitlines()]
    # Version names stand in the table as absolute symbols.
    return {fields[-1].split("@")[0] for fields in symbols if fields[-2] != "A"}


def compare(wanted, found):
    return [f"not exported: {name}" for name in sorted(wanted - found)] + \
           [f"exported but in no list: {name}" for name in sorted(found - wanted)]


if __name__ == "__main__":
    options = arguments(__doc__, ("--library", {"required": True}), ("--table", {"required": True}),
                        ("--extra", {"required": True}))
    table = subprocess.run([options.table], check=True, capture_output=True, text=True).stdout.split()
    symbols = exported(options.library)
    finish(compare(set(table) | listed(options.extra), symbols), f"{len(symbols)} exported symbols")
