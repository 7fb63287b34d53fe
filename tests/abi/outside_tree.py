#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs into an empty folder, builds a C and a C++ program against it with pkg-config alone, and
runs both under the installed dlrun.

usage: outside_tree.py MESON BUILD_FOLDER C_SOURCE CXX_SOURCE
"""
import os
import pathlib
import subprocess
import sys
import tempfile

RIGHT = ["rank 0 of 2, sum 1", "rank 1 of 2, sum 1"]


def run(command, **options):
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        timeout=300, **options,
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def installed_file(folder, name):
    found = sorted(folder.rglob(name))
    if len(found) != 1:
        sys.exit(f"{name} is installed {len(found)} times: {found}")
    return found[0]


def main():
    meson, build, c_source, cxx_source = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        folder, outside = pathlib.Path(scratch) / "installed", pathlib.Path(scratch) / "outside"
        outside.mkdir()
        run([meson, "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", str(folder)])
        dlrun = installed_file(folder, "dlrun")
        library = installed_file(folder, "libdlrt.so.0").parent
        environment = {
            "PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"),
            "PKG_CONFIG_PATH": str(installed_file(folder, "dlrt.pc").parent),
        }
        for compiler, standard, source in (
            (os.environ.get("CC", "cc"), "-std=c99", c_source),
            (os.environ.get("CXX", "c++"), "-std=c++20", cxx_source),
        ):
            flags = run(["pkg-config", "--cflags", "--libs", "dlrt"], env=environment).split()
            run([*compiler.split(), standard, "-Wall", "-Wextra", "-Werror", source, *flags, "-o",
                 "program"], cwd=outside, env=environment)
            said = run([str(dlrun), "-np", "2", "./program"], cwd=outside, env=environment)
            if sorted(said.splitlines()) != RIGHT:
                sys.exit(f"{source} printed:\n{said}")
        print("built and ran in C and C++ against", *sorted(p.name for p in library.iterdir()))


if __name__ == "__main__":
    main()
