#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that was linked with another libmpi_abi.so.1 (here: one whose functions only trap)
runs on ours unchanged, found by LD_LIBRARY_PATH.

usage: foreign.py NAMES HEADER_FOLDER LIBRARY DLRUN SOURCE
"""
import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    names, headers, library, dlrun, source = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        functions = pathlib.Path(names).read_text("utf-8").split()
        (folder / "stubs.c").write_text(
            "".join(f"void {name}(void) {{ __builtin_trap(); }}\n" for name in functions), "utf-8"
        )
        other = folder / "libmpi_abi.so"
        cc = ["cc", "-O0"]
        subprocess.run(
            [*cc, "-fno-builtin", "-fPIC", "-shared", "-Wl,-soname,libmpi_abi.so.1",
             folder / "stubs.c", "-o", other], check=True, timeout=100,
        )
        program = folder / "program"
        subprocess.run(
            [*cc, "-I", headers, source, "-o", program, f"-L{folder}", "-lmpi_abi"],
            check=True, timeout=100,
        )
        environment = {**os.environ, "LD_LIBRARY_PATH": str(pathlib.Path(library).parent)}
        done = subprocess.run(
            [dlrun, "--oversubscribe", "-n", "2", program], env=environment, timeout=100,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )
        if done.returncode != 0 or done.stdout != "sum 1\n":
            sys.exit(f"status {done.returncode}: {done.stdout}")


if __name__ == "__main__":
    main()
