#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures in docs/collectives.md are what dlsched draws now.

usage: pictures_test.py DLSCHED DOCS_FOLDER [--write]
"""
import pathlib
import re
import subprocess
import sys


def main():
    dlsched, docs, *write = sys.argv[1:]
    docs = pathlib.Path(docs)
    text = (docs / "collectives.md").read_text()
    shown = re.findall(r"!\[[^]]*, (\d+) ranks(?: in groups of (\d+))?\]"
                       r"\(pictures/([a-z]+)_([a-z_]+)\.svg\)", text)
    stale = []
    for ranks, group, collective, algorithm in shown:
        file = docs / "pictures" / f"{collective}_{algorithm}.svg"
        groups = ["--groups", group] if group else []
        drawn = subprocess.run([dlsched, "draw", collective, algorithm, "-p", ranks, *groups],
                               capture_output=True, check=True, timeout=60).stdout
        if write:
            file.write_bytes(drawn)
        elif not file.exists() or file.read_bytes() != drawn:
            stale.append(file.name)
    unused = {file.name for file in (docs / "pictures").iterdir()} - {
        f"{collective}_{algorithm}.svg" for _, _, collective, algorithm in shown}
    for name in stale:
        print(f"docs/pictures/{name} is stale: pictures_test.py DLSCHED docs --write")
    for name in sorted(unused):
        print(f"docs/pictures/{name} is shown nowhere")
    print(f"{len(shown)} pictures")
    return 1 if stale or unused or not shown else 0


if __name__ == "__main__":
    sys.exit(main())
