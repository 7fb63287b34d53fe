# SPDX-License-Identifier: Apache-2.0
"""DLRT_ALGO and DLRT_EXPLAIN, on ranks that do an all-reduce of 8 bytes.
usage: collective_settings_test.py DLPERF"""
import sys
import unittest

from launcher_case import LauncherCase

DLPERF = sys.argv[1]


class CollectiveSettings(LauncherCase):
    def all_reduce(self, **settings):
        self.environment.update(settings)
        return self.run_job("-np", 4, DLPERF, "--validate", "--batches", 1, "--sizes", "8:8",
                            "all_reduce")

    def explanations(self, job):
        """Of all-reduces of 8 bytes; dlperf does others for itself."""
        self.assertEqual(job.returncode, 0, job.err)
        return [line.split("explain: ")[1] for line in job.err.splitlines()
                if "explain: allreduce of 8 bytes" in line]

    def test_it_is_said_once_which_algorithm_is_used_and_why(self):
        lines = self.explanations(self.all_reduce(DLRT_EXPLAIN="1"))
        self.assertEqual(lines, ["allreduce of 8 bytes on 4 ranks: recursive_doubling, "
                                 "the usual one for this size"])

    def test_nothing_is_said_unasked(self):
        self.assertEqual(self.explanations(self.all_reduce()), [])

    def test_another_can_be_named_and_carries_the_same_data(self):
        lines = self.explanations(self.all_reduce(DLRT_EXPLAIN="1", DLRT_ALGO="allreduce:ring"))
        self.assertEqual(lines, ["allreduce of 8 bytes on 4 ranks: ring, DLRT_ALGO names it"])

    def test_the_usual_one_can_be_excluded(self):
        lines = self.explanations(
            self.all_reduce(DLRT_EXPLAIN="1", DLRT_ALGO="allreduce:^recursive_doubling@-1k"))
        self.assertEqual(len(lines), 1, lines)
        self.assertNotIn("recursive_doubling", lines[0])
        self.assertIn("DLRT_ALGO excludes the usual one", lines[0])

    def test_what_is_wrong_fails_init_and_says_what_is_valid(self):
        for value, part in (("allreduce:rinng", "allreduce has no algorithm 'rinng'; valid: "),
                            ("x:ring", "there is no collective 'x'; valid: barrier"),
                            ("allreduce:ring@5-4", "'5-4' is no range of sizes")):
            with self.subTest(value=value):
                job = self.all_reduce(DLRT_ALGO=value)
                self.assertEqual(job.returncode, 1, job.err)
                self.assertIn(f"DLRT_ALGO={value}: {part}", job.err)

    def test_an_empty_list_starts_nothing(self):
        job = self.all_reduce(DLRT_ALGO="")
        self.assertEqual(job.returncode, 125)
        self.assertIn("DLRT_ALGO=: empty; valid is COLLECTIVE:", job.err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
