#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants a length bug into a copy of one file and fails when the fuzz target does not find it.

usage: planted_bug.py ROOT CORPUS FILE LINE SOURCE... -- COMPILER...

LINE is the check that is taken out of FILE (a path from the root); it must stand there once. The
copy lies before the root on the include path, or takes the place of FILE among the sources.
"""
import pathlib
import subprocess
import sys
import tempfile

SECONDS_MAX = 60


def main():
    root, corpus = pathlib.Path(sys.argv[1]), sys.argv[2]
    name, line = sys.argv[3], sys.argv[4]
    sources, compiler = sys.argv[5:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
    with tempfile.TemporaryDirectory() as folder:
        overlay = pathlib.Path(folder)
        text = (root / name).read_text("utf-8")
        if text.count(line) != 1:
            sys.exit(f"{name} must hold this once, to be taken out: {line}")
        copy = overlay / name
        copy.parent.mkdir(parents=True)
        copy.write_text(text.replace(line, ""), "utf-8")
        original = (root / name).resolve()
        inputs = [str(copy) if pathlib.Path(s).resolve() == original else s for s in sources]
        if name.endswith(".cpp") and str(copy) not in inputs:
            sys.exit(f"{name} is none of the sources")
        program = str(overlay / "planted")
        subprocess.run(
            [*compiler, "-I" + folder, "-I" + str(root), *inputs, "-lfmt", "-o", program],
            check=True,
        )
        done = subprocess.run(
            [program, f"-max_total_time={SECONDS_MAX}", "-rss_limit_mb=1024", corpus],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )
    finding = [line for line in done.stdout.splitlines() if line.startswith("SUMMARY:")]
    if done.returncode == 0 or not finding:
        print(done.stdout[-1500:])
        sys.exit(f"nothing found within {SECONDS_MAX} s although a length is not checked")
    print(finding[0])


if __name__ == "__main__":
    main()
