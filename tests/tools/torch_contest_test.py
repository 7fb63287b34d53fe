# SPDX-License-Identifier: Apache-2.0
"""The table of the comparison with gloo: ratios, targets, what is missing; from samples by hand."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "contest"))
import measure  # noqa: E402
import targets  # noqa: E402
import torch_contest  # noqa: E402

SMALL = ("torch all_reduce", "all_reduce", 1024)
SHARE = ("torch step", "communication", 0)
FREE = ("torch step", "step", 0)


def samples_of(rows):
    samples = measure.Samples()
    for key, label, unit, values in rows:
        for value in values:
            samples.add(key, label, value, unit)
    return samples


class Table(unittest.TestCase):
    def test_the_best_of_all_rounds_is_compared_and_the_worst_row_comes_first(self):
        samples = samples_of([
            (SMALL, "dlrt", "us", [30, 20, 25]), (SMALL, "gloo", "us", [500, 400]),
            (SMALL, "dlrt.h", "us", [4, 2]),
            (SHARE, "dlrt", "%", [15, 12]), (SHARE, "gloo", "%", [20]),
            (FREE, "dlrt", "ms", [7]), (FREE, "gloo", "ms", [8])])
        lines = torch_contest.text_of_torch(samples).splitlines()
        # 12 of 20 is above the half that is asked for; 20 of 400 is half of the tenth.
        self.assertRegex(lines[1], r"communication .* 12\.000 +20\.000 +- +0\.600 +0\.500  missed$")
        self.assertRegex(lines[2], r"all_reduce .* 20\.000 +400 +2\.000 +0\.050 +0\.100$")
        self.assertRegex(lines[3], r" 7\.000 +8\.000 +- +0\.875 +-$")
        self.assertEqual(lines[4], "torch layer: 18.000 us a call over dlrt.h; at most 15  missed")

    def test_a_backend_that_is_missing_leaves_gaps(self):
        lines = torch_contest.text_of_torch(
            samples_of([(SMALL, "gloo", "us", [400])])).splitlines()
        self.assertRegex(lines[1], r" - +400 +- +- +0\.100$")
        self.assertEqual(lines[2], "torch layer: - us a call over dlrt.h; at most 15")

    def test_every_target_is_of_an_entry_that_is_measured(self):
        names = {entry.name for entry in torch_contest.torch_entries()}
        for name, _, _ in targets.TORCH_TARGETS:
            self.assertIn(name, names)


if __name__ == "__main__":
    unittest.main()
