# SPDX-License-Identifier: Apache-2.0
"""ci_summary.py counts what Meson reports, and lets no skip and no missing run pass unseen."""
import json
import subprocess
import sys
import unittest

from planted_tree import TOOLS, PlantedTree


class CiSummary(PlantedTree):
    def summary(self, runs, allowed=""):
        """(status, lines printed) over {label: [(test, result)] or None for no log}."""
        self.plant("allowed_skips.txt", allowed)
        arguments = []
        for label, tests in runs.items():
            if tests is not None:
                entries = [{"name": f"dlrt:unit / {n}", "result": r, "x": 1} for n, r in tests]
                self.plant(label + ".json", "".join(json.dumps(e) + "\n" for e in entries))
            arguments.append(f"{label}={self.root / label}.json")
        done = subprocess.run(
            [sys.executable, str(TOOLS / "ci_summary.py"), str(self.root / "allowed_skips.txt"),
             *arguments], capture_output=True, text=True, check=False,
        )
        return done.returncode, (done.stdout + done.stderr).splitlines()

    def test_all_runs_are_added_up(self):
        status, lines = self.summary({"a": [("x", "OK"), ("y", "OK")], "b": [("x", "OK")]})
        self.assertEqual((status, lines[-1]), (0, "3 passed, 0 failed, 0 skipped"))

    def test_every_other_result_is_a_failure(self):
        for result in ("FAIL", "TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS"):
            with self.subTest(result=result):
                status, lines = self.summary({"a": [("x", result), ("y", "OK")]})
                self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))
                self.assertIn(f"failed: a: x: {result}", lines)

    def test_a_skip_needs_a_line_on_the_list(self):
        runs = {"a": [("x", "SKIP"), ("y", "OK")]}
        status, lines = self.summary(runs, "# names\nx\tneeds a device\n")
        self.assertEqual((status, lines[-1]), (0, "1 passed, 0 failed, 1 skipped"))
        self.assertIn("skipped: a: x: needs a device", lines)
        status, lines = self.summary(runs, "xy\tneeds a device\n")
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_a_line_of_the_list_needs_a_reason(self):
        status, lines = self.summary({"a": [("x", "OK")]}, "x\n")
        self.assertEqual(status, 1)
        self.assertIn("allowed_skips.txt:1: must be", lines[-1])

    def test_a_run_without_tests_is_a_failure(self):
        for tests in (None, []):
            with self.subTest(tests=tests):
                status, lines = self.summary({"a": [("x", "OK")], "b": tests})
                self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_nothing_passed_is_no_success(self):
        self.assertEqual(self.summary({"a": [("x", "SKIP")]}, "x\tno device\n")[0], 1)


if __name__ == "__main__":
    unittest.main()
