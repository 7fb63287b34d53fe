# SPDX-License-Identifier: Apache-2.0
"""Ways to start: under dlrun, from torch's stores, by torchrun, by spawn. See starts_rank.py."""
import tempfile
import unittest

from torch_case import HERE, TorchCase, free_port

RANK = HERE / "starts_rank.py"


class StartsCase(TorchCase):
    def assert_done(self, results):
        for status, out, err in results:
            self.assertEqual((status, out.splitlines()[-1:]), (0, ["done"]), out + err)

    def test_under_dlrun(self):
        job = self.run_ranks(2, "starts_rank.py", "job")
        self.assertEqual(job.returncode, 0, job.out + job.err)
        self.assertEqual(job.out.count("done"), 2, job.out)
        self.assertNotIn("without finalizing", job.err)

    def test_by_torchs_own_ways(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assert_done(self.run_plain(2, RANK, "everyway", folder, free_port()))

    def test_a_rank_leaves(self):
        job = self.run_ranks(2, "starts_rank.py", "leaver")
        # What becomes of it is the program's affair: both have ended well.
        self.assertEqual(job.returncode, 0, job.out + job.err)
        self.assertIn("told: barrier", job.out)

    def test_a_rank_is_absent(self):
        self.assert_done(self.run_plain(2, RANK, "absent"))

    def test_by_torchrun(self):
        # Without redirects Debian's torchrun fails by itself: Python 3.11 lists no flag of 0.
        with tempfile.TemporaryDirectory() as logs:
            job = self.run_alone(
                "-m", "torch.distributed.run", "--nproc_per_node", 2, "--master_port", free_port(),
                "--redirects", 1, "--tee", 1, "--log_dir", logs, RANK, "launched")
        self.assertEqual(job.returncode, 0, job.stdout + job.stderr)
        self.assertEqual(job.stdout.count("done"), 2, job.stdout)

    def test_by_spawn_also_within_a_job(self):
        job = self.run_ranks(1, "spawned_rank.py", free_port())
        self.assertEqual((job.returncode, job.out), (0, "spawned\n"), job.err)


if __name__ == "__main__":
    unittest.main()
