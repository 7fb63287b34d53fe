# SPDX-License-Identifier: Apache-2.0
"""The pictures of the comparison: times, this machine's limit and ratios; from samples by hand."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "contest"))
import measure  # noqa: E402
import plot  # noqa: E402
from table import LIMITS  # noqa: E402

SIZES = (8, 64, 512)


def samples_of(sizes, limits):
    samples = measure.Samples()
    for size in sizes:
        for label, value in (("dlrt", 2), ("openmpi", 4), ("openmpi+tuned", 8)):
            samples.add(("all_reduce", "all_reduce", size), label, value * size, "us")
        for limit in limits:
            samples.add(("limits", limit, size), "machine", size, "us")
    return samples


class Picture(unittest.TestCase):
    def test_times_limit_and_ratios(self):
        picture = plot.svg_of(samples_of(SIZES, LIMITS["all_reduce"]), "all_reduce")
        for label in ("dlrt", "openmpi", "openmpi+tuned", "limit", "as installed", "tuned"):
            self.assertIn(f">{label}</text>", picture)
        # Nobody has run MPICH.
        self.assertNotIn(">mpich</text>", picture)

    def test_without_a_limit(self):
        self.assertNotIn(">limit</text>", plot.svg_of(samples_of(SIZES, ()), "all_reduce"))

    def test_too_few_sizes_make_no_picture(self):
        self.assertIsNone(plot.svg_of(samples_of(SIZES[:2], ()), "all_reduce"))


if __name__ == "__main__":
    unittest.main()
