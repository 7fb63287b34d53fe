#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a header can't be compiled alone: each is included by a program of one line.

usage: check_headers.py ROOT COMPILER...   (a C++ compiler; for .h also its C sibling in CC, or cc)

Public headers (runtime/include) must compile without warnings, .h ones as C99 too. A header that is
the first include of the source beside it is proved by the build and left out.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from source_tree import CXX_HEADERS, cxx_files

# Compiled by the compiler wrapper of an MPI library only, see tools/contest/libraries.py.
NEEDS_ANOTHER_COMPILER = ("tools/dlperf/messaging_mpi.h",)

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


# Where headers are that the build makes; they are made here too.
GENERATED = "generated"


def generate(root, folder):
    mpi = root / "runtime/mpi"
    if not (mpi / "generate.py").is_file():
        return
    tables = [mpi / "functions.txt", mpi / "functions_absent.txt"]
    command = [sys.executable, mpi / "generate.py"]
    subprocess.run(
        [*command, "header", folder / "mpi.h", *tables, mpi / "mpi.h.in"], check=True
    )
    subprocess.run([*command, "prototypes", folder / "mpi_functions.hpp", *tables], check=True)


def recipes(root, name, cxx):
    """The command lines that must accept `#include "name"`, and the line itself."""
    include = [
        "-I" + str(root), "-I" + str(root / "runtime" / "include"), "-I" + GENERATED,
        "-D_GNU_SOURCE",
    ]
    cc = os.environ.get("CC", "cc").split()
    public = name.startswith("runtime/include/")
    extra = STRICT if public else []
    if name.endswith(".hpp") or public:
        yield [*cxx, "-x", "c++", "-std=c++20", "-fsyntax-only", *extra, *include, "-"]
    if name.endswith(".h"):
        yield [*cc, "-x", "c", "-std=c99", "-fsyntax-only", *extra, *include, "-"]


def failure(root, name, cxx):
    for command in recipes(root, name, cxx):
        line = f'#include "{name}"\nint alone;\n'
        done = subprocess.run(command, input=line, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"{name}: does not compile alone\n{done.stderr[:2000]}"
    return None


def is_proved_by_the_build(root, name):
    source = (root / name).with_suffix(".cpp")
    if not name.endswith(".hpp") or not source.is_file():
        return False
    first = re.search(r"^[ \t]*#.*", source.read_text("utf-8"), re.M)
    return bool(first) and first.group(0) == f'#include "{name}"'


def main():
    root, cxx = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    names = [
        name for name, _ in cxx_files(root, CXX_HEADERS)
        if name not in NEEDS_ANOTHER_COMPILER and not is_proved_by_the_build(root, name)
    ]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path(GENERATED).mkdir()
        generate(root, pathlib.Path(GENERATED))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            found = [f for f in pool.map(lambda name: failure(root, name, cxx), names) if f]
    print("\n".join(found) if found else f"headers: {len(names)} compile alone")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
