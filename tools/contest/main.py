# SPDX-License-Identifier: Apache-2.0
"""Measures dlrt (through dlrt.h and through mpi.h), Open MPI and MPICH side by side, in
interleaved rounds, beside this machine's own limits: one source (tools/dlperf), one machine, one
run.

Prints the table, worst row first, and writes raw samples (JSON), the table and pictures (SVG) into
a folder. Two baselines: each peer as installed, and tuned by an expert (malloc keeps its memory,
waiting ranks yield where they share a cpu). A peer that is not installed is named and left out.
"""
import argparse
import json
import os
import sys
import tempfile
import time

from libraries import TOP, find_libraries
from measure import measure, measure_limits
from plot import write_plots
from entries import entries
from table import text_of
from torch_contest import compare_torch


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="tools/compare", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("full", "quick", "torch"), default="full",
                        help="quick: the main rows in under 5 minutes; torch: torch.distributed "
                             "beside gloo")
    parser.add_argument("--build", default=os.path.join(TOP, "build-quickstart"),
                        help="a release build of dlrt (default: that of tools/quickstart)")
    parser.add_argument("--rounds", type=int, help="exactly so many (default: until settled)")
    parser.add_argument("--only", help="entries, by name, separated by commas")
    parser.add_argument("--out", default="compare-results", help="folder for the results")
    parser.add_argument("--list", action="store_true", help="show the entries and their commands")
    arguments = parser.parse_args()
    if arguments.what == "torch" and (arguments.only or arguments.list):
        parser.error("--only and --list go with full and quick")
    if arguments.rounds is not None and arguments.rounds < 1:
        parser.error("--rounds: valid are numbers from 1 on")
    chosen = [entry for entry in entries()
              if arguments.what == "full" or "quick" in entry.tags]
    if arguments.only:
        wanted = [name.strip() for name in arguments.only.split(",")]
        known = [entry.name for entry in entries()]
        for name in wanted:
            if name not in known:
                parser.error(f"--only: there is no entry '{name}'; valid: {', '.join(known)}")
        chosen = [entry for entry in entries() if entry.name in wanted]
    return arguments, chosen


def main():
    arguments, chosen = parse_arguments()
    arguments.build = os.path.abspath(arguments.build)
    if arguments.what == "torch":
        compare_torch(arguments.build, arguments.rounds, arguments.out)
        return
    quick = arguments.what == "quick"
    deadline = time.monotonic() + (225 if quick else 3600)
    with tempfile.TemporaryDirectory() as folder:
        libraries = find_libraries(arguments.build, folder)
        if arguments.list:
            for entry in chosen:
                for library in libraries:
                    command = library.command(entry)
                    if command is not None:
                        print(f"{entry.name}: {library.label}: {' '.join(command)}")
            return
        least, most = (3, 5) if quick else (4, 12)
        if arguments.rounds:
            least = most = arguments.rounds
        samples = measure(chosen, libraries, least, most, deadline)
        measure_limits(libraries[0].dlperf, samples)
    os.makedirs(arguments.out, exist_ok=True)
    with open(os.path.join(arguments.out, "samples.json"), "w", encoding="utf-8") as file:
        json.dump(samples.as_json(), file, indent=1)
    text = text_of(samples)
    with open(os.path.join(arguments.out, "table.txt"), "w", encoding="utf-8") as file:
        file.write(text + "\n")
    pictures = write_plots(samples, arguments.out)
    print(text)
    print(f"{arguments.out}: samples.json, table.txt and {len(pictures)} pictures",
          file=sys.stderr)


if __name__ == "__main__":
    main()
