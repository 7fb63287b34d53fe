#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when libdlrt.so exports other symbols than the list says, or dlrt.h declares others.

usage: exported_symbols.py LIBRARY LIST HEADER
"""
import re
import subprocess
import sys


def exported(library):
    output = subprocess.run(
        ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True
    ).stdout
    # The version node itself is listed as an absolute symbol.
    rows = [line.split() for line in output.splitlines()]
    return {row[2] for row in rows if row[1] != "A"}


def declared(header):
    with open(header, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    return set(re.findall(r"^DLRT_PUBLIC[^;(]*?\b(dlrt_\w+)\(", text, flags=re.M))


def main():
    library, listing, header = sys.argv[1:]
    with open(listing, encoding="utf-8") as file:
        listed = {line.strip() for line in file if line.strip()}
    faults = []
    faults += [f"exported but not listed: {name}" for name in sorted(exported(library) - listed)]
    faults += [f"listed but not exported: {name}" for name in sorted(listed - exported(library))]
    plain = {name.split("@")[0] for name in listed}
    faults += [f"declared but not listed: {name}" for name in sorted(declared(header) - plain)]
    faults += [f"listed but not declared: {name}" for name in sorted(plain - declared(header))]
    print("\n".join(faults) or f"{len(listed)} symbols, as listed")
    return 1 if faults else 0


sys.exit(main())
