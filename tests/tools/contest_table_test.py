# SPDX-License-Identifier: Apache-2.0
"""The table of the comparison: both surfaces of dlrt are held against the same targets."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "contest"))
import measure  # noqa: E402
from table import text_of  # noqa: E402


def table_of(through_mpi_us):
    """An all-reduce of 8 B, which is to take half of the peer's time or less."""
    samples = measure.Samples()
    key = ("all_reduce", "all_reduce", 8)
    values = {"dlrt": 4, "dlrt+mpi.h": through_mpi_us, "openmpi": 10, "openmpi+tuned": 10}
    for label, value in values.items():
        if value is not None:
            samples.add(key, label, value, "us")
    return text_of(samples).splitlines()


class Table(unittest.TestCase):
    def test_both_surfaces_reach_the_target(self):
        lines = table_of(5)
        self.assertNotIn("missed", lines[1])
        self.assertIn("Collectives through mpi.h: 1 of 1 rows with a target reach it.", lines)

    def test_only_one_does(self):
        lines = table_of(6)
        self.assertTrue(lines[1].endswith("  missed through mpi.h"))
        self.assertIn("Collectives through dlrt.h: 1 of 1 rows with a target reach it.", lines)
        self.assertIn("Collectives through mpi.h: 0 of 1 rows with a target reach it.", lines)

    def test_what_was_not_measured_has_no_score(self):
        self.assertFalse(any("through mpi.h" in line for line in table_of(None)))


if __name__ == "__main__":
    unittest.main()
