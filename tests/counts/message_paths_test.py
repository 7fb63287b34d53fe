#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions that a small message or collective takes, and compares them with the
record beside.

usage: message_paths_test.py SOURCE_FOLDER BUILD_FOLDER [--write]

Builds message_paths.cpp as a release of its own in BUILD_FOLDER, whatever the build that runs this
test is, and has valgrind count each path. Fails when one takes over 5 % more than the record says.
--write makes the record anew: then say in the commit why. With another compiler than the record's
the counts mean nothing: status 77.
"""
import os
import re
import shutil
import subprocess
import sys

RECORD = "tests/counts/message_paths.txt"
MARGIN = 0.05
# What is counted: (name in the record, run of message_paths, function).
PATHS = [
    ("shm send", "shm", "counted_engine_send"),
    ("shm receive of a waiting message", "shm", "counted_engine_recv"),
    ("shm isend", "shm_windows", "counted_engine_isend"),
    ("shm irecv", "shm_windows", "counted_engine_irecv"),
    ("shm progress and match", "shm_windows", "counted_engine_progress"),
    ("shm wait and release", "shm_windows", "counted_engine_wait"),
    ("shm progress and match behind 100", "shm_windows_behind_100", "counted_engine_progress"),
    ("cells: give to one", "cells_broadcast", "counted_give_cell"),
    ("cells: take from one", "cells_broadcast", "counted_take_cell"),
    ("cells: take and sum", "cells_reduce", "counted_take_cell"),
    ("core send to self", "self_in_core", "counted_engine_send"),
    ("core receive from self", "self_in_core", "counted_engine_recv"),
    ("dlrt_send to self", "self", "counted_send"),
    ("dlrt_recv from self", "self", "counted_recv"),
    ("dlrt_isend to self", "self_windows", "counted_isend"),
    ("dlrt_irecv from self", "self_windows", "counted_irecv"),
    ("dlrt_waitall of sends, each", "self_windows", "counted_waitall"),
]


def compiler_of():
    done = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0].split(" ", 1)[1]


def read_record(path):
    """The compiler, and instructions by path."""
    compiler, counts = "", {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("# compiler: "):
                compiler = line[len("# compiler: "):].strip()
            elif not line.startswith("#"):
                name, count = line.rsplit(None, 1)
                counts[name] = float(count)
    return compiler, counts


def build_program(source, build):
    target = "tests/counts/message_paths"
    if not os.path.exists(os.path.join(build, "build.ninja")):
        subprocess.run(["meson", "setup", "--buildtype=release", build, source], check=True,
                       stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", build, "--quiet", target], check=True)
    return os.path.join(build, target)


def count(program, run, function):
    """Instructions per message that the function takes in that run, with all that it calls."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
               "--toggle-collect=" + function, program, run]
    # Alone: not as a rank of whatever job may have started this test, and with a plain malloc.
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("DLRT_", "PMI_", "MALLOC_"))}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not collected:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    return int(collected.group(1)) / int(done.stdout)


def write_record(path, counts):
    with open(path, "w", encoding="utf-8") as out:
        out.write("# Instructions per message of 8 bytes, release build. Made by\n"
                  "# message_paths_test.py --write; who changes it says in the commit why.\n"
                  f"# compiler: {compiler_of()}\n")
        for name, value in counts.items():
            out.write(f"{name:<36} {value:.1f}\n")


def compare(recorded, counted):
    """The complaints, one a line."""
    for name, value in counted.items():
        if name not in recorded:
            yield f"{name}: {value:.1f} instructions, not in the record"
            continue
        growth = value / recorded[name] - 1
        if growth > MARGIN:
            yield f"{name}: {value:.1f} instructions, {growth:.1%} more than recorded"
    for name in recorded.keys() - counted.keys():
        yield f"{name}: in the record, but not counted"


def main():
    source, build, *options = sys.argv[1:]
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed: it is listed in tools/packages.txt")
    record = os.path.join(source, RECORD)
    if "--write" not in options:
        compiler, recorded = read_record(record)
        if compiler != compiler_of():
            print(f"the record is for {compiler}, this is {compiler_of()}")
            sys.exit(77)
    program = build_program(source, build)
    counted = {name: count(program, run, function) for name, run, function in PATHS}
    if "--write" in options:
        write_record(record, counted)
        return
    for name, value in counted.items():
        print(f"{name:<36} {value:8.1f}  recorded {recorded.get(name, 0):8.1f}")
    complaints = list(compare(recorded, counted))
    if complaints:
        sys.exit("\n".join(complaints) + f"\nIf that is meant: {sys.argv[0]} {source} {build} "
                 "--write, and say in the commit why.")


if __name__ == "__main__":
    main()
