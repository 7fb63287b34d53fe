#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums up test runs of Meson: prints what failed and was skipped, then the line that CI reads.

usage: ci_summary.py ALLOWED_SKIPS LABEL=TESTLOG_JSON...

The last line is "N passed, N failed, N skipped" over all runs. A skipped test that is not in
ALLOWED_SKIPS (lines: name, tab, reason) counts as failed, and so does a run without a log.
Status 0 when nothing failed and something passed.
"""
import json
import pathlib
import sys

PASSED = {"OK", "EXPECTEDFAIL"}
SKIPPED = {"SKIP"}


def read_allowed_skips(path):
    """{test name: reason}; ends the program with one line for a line of another form."""
    allowed = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        name, tab, reason = line.partition("\t")
        if not tab or not name or not reason.strip():
            sys.exit(f"{path}:{number}: must be a test's name, a tab and the reason")
        allowed[name] = reason
    return allowed


def results(path):
    """(test name without its suites, result) of each line of a testlog.json."""
    for line in path.read_text("utf-8").splitlines():
        if line.strip():
            entry = json.loads(line)
            yield entry["name"].rpartition(" / ")[2], entry["result"]


def summary(allowed, logs):
    """(passed, failed, skipped, lines to print) of [(label, path)]."""
    passed, failed, skipped, lines = 0, 0, 0, []
    for label, path in logs:
        if not path.is_file() or not path.read_text("utf-8").strip():
            failed += 1
            lines.append(f"failed: {label}: ran no test: it did not build, or none was chosen")
            continue
        for name, result in results(path):
            if result in PASSED:
                passed += 1
            elif result in SKIPPED and name in allowed:
                skipped += 1
                lines.append(f"skipped: {label}: {name}: {allowed[name]}")
            elif result in SKIPPED:
                failed += 1
                lines.append(f"failed: {label}: {name}: skipped, but not on the list of skips")
            else:
                failed += 1
                lines.append(f"failed: {label}: {name}: {result}")
    return passed, failed, skipped, lines


def main():
    allowed = read_allowed_skips(pathlib.Path(sys.argv[1]))
    logs = []
    for argument in sys.argv[2:]:
        label, _, path = argument.partition("=")
        logs.append((label, pathlib.Path(path)))
    passed, failed, skipped, lines = summary(allowed, logs)
    print("\n".join(sorted(set(lines))))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
