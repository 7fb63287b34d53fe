#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a C or C++ file is not as clang-format 14 with .clang-format would write it.

usage: check_format.py ROOT [--fix]   (skipped, status 77, where clang-format 14 is not installed)
"""
import pathlib
import re
import shutil
import subprocess
import sys

from source_tree import cxx_files

VERSION = "14"


def formatter():
    for name in ("clang-format-" + VERSION, "clang-format"):
        if shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True, check=True)
            if re.search(rf"version {VERSION}\.", said.stdout):
                return name
    return None


def main():
    root, fix = pathlib.Path(sys.argv[1]).resolve(), "--fix" in sys.argv[2:]
    program = formatter()
    if program is None:
        print(f"clang-format {VERSION} is not installed")
        return 77
    files = [name for name, _ in cxx_files(root)]
    options = ["-i"] if fix else ["--dry-run", "-Werror"]
    done = subprocess.run(
        [program, *options, *files], cwd=root, capture_output=True, text=True, check=False
    )
    wrong = sorted(set(re.findall(r"^([^\s:]+):\d+:\d+: error", done.stderr, re.M)))
    for name in wrong:
        print(f"{name}: not formatted; run {program} -i {name}")
    if done.returncode != 0 and not wrong:
        print(done.stderr)
    if done.returncode == 0:
        print(f"format: {len(files)} files are formatted")
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
