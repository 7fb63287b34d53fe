#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when libdlrt.so exports, or its headers declare, other functions than the list says.

usage: check_symbols.py LIBRARY LIST HEADER...

LIST has one symbol with its version node a line (dlrt_init@@DLRT_0.1). A symbol that is published
never moves to another node; new ones get a new node.
"""
import pathlib
import re
import subprocess
import sys


def exported(library):
    """Symbols with their nodes; without the nodes themselves, which are absolute symbols."""
    said = subprocess.run(
        ["nm", "-D", "--defined-only", "--with-symbol-versions", library],
        check=True, capture_output=True, text=True,
    ).stdout
    rows = [line.split() for line in said.splitlines()]
    return {row[-1] for row in rows if row[-2] != "A"}


def declared(headers):
    text = "".join(pathlib.Path(header).read_text("utf-8") for header in headers)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return set(re.findall(r"^DLRT_PUBLIC[^;(]*?\b(\w+)\s*\(", text, flags=re.M))


def problems(library, listing, headers):
    symbols = exported(library)
    listed = set(pathlib.Path(listing).read_text("utf-8").split())
    names = {symbol.split("@")[0] for symbol in listed}
    for what, found in (
        ("has no version node", {symbol for symbol in symbols if "@@" not in symbol}),
        ("is exported but not listed", symbols - listed),
        ("is listed but not exported", listed - symbols),
        ("is declared but not listed", declared(headers) - names),
        ("is listed but not declared", names - declared(headers)),
    ):
        yield from (f"{symbol} {what}" for symbol in sorted(found))


def main():
    library, listing, *headers = sys.argv[1:]
    found = list(problems(library, listing, headers))
    print("\n".join(found) if found else "symbols: as listed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
