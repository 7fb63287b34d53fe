# SPDX-License-Identifier: Apache-2.0
"""What ranks do wrong, and ranks that leave: see failures_rank.py and leaving_rank.py."""
import unittest

from torch_case import TorchCase


class FailuresCase(TorchCase):
    def test_everybody_is_told(self):
        job = self.run_ranks(2, "failures_rank.py")
        self.assertEqual(job.returncode, 0, job.out + job.err)
        self.assertEqual(job.err.count("OK"), 2, job.err)


if __name__ == "__main__":
    unittest.main()
