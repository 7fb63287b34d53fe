# SPDX-License-Identifier: Apache-2.0
"""Every operation of torch.distributed on three ranks under dlrun: see operations_rank.py."""
import unittest

from torch_case import TorchCase


class OperationsCase(TorchCase):
    def test_all(self):
        job = self.run_ranks(3, "operations_rank.py")
        self.assertEqual(job.returncode, 0, job.out + job.err)
        self.assertEqual(job.err.count("OK"), 3, job.err)


if __name__ == "__main__":
    unittest.main()
