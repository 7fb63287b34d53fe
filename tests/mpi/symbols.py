#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when libmpi_abi.so exports other names than the standard's 664 functions and their PMPI
twins, or anything that isn't a function.

usage: symbols.py LIBRARY NAMES
"""
import pathlib
import subprocess
import sys


def main():
    library, listing = sys.argv[1:]
    said = subprocess.run(
        ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True
    ).stdout
    rows = [line.split() for line in said.splitlines()]
    names = {row[-1] for row in rows}
    listed = set(pathlib.Path(listing).read_text("utf-8").split())
    found = [f"{row[-1]} is no function" for row in rows if row[-2] not in "TWtw"]
    found += [f"{name} is missing" for name in sorted(listed - names)]
    found += [f"{name} is not the standard's" for name in sorted(names - listed)]
    if len(listed) != 2 * 664:
        found.append(f"{len(listed)} names are listed, not twice 664")
    dynamic = subprocess.run(
        ["readelf", "-d", library], check=True, capture_output=True, text=True
    ).stdout
    if "[libmpi_abi.so.1]" not in dynamic:
        found.append("the library isn't called libmpi_abi.so.1")
    print("\n".join(found) if found else f"{len(names)} functions, as listed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
