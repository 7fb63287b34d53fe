# SPDX-License-Identifier: Apache-2.0
"""What tests of training add to those of the backend: jobs that run many checks, and the backend by
name, so that the drivers can be tried on gloo as well (TORCH_TEST_BACKEND)."""
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from torch_case import PYTHON, TorchCase, free_port  # noqa: E402
from launcher_case import main  # noqa: E402

__all__ = ["BACKEND", "HERE", "SEED", "TOP", "TrainingCase", "free_port", "main"]

TOP = HERE.parents[2]
SEED = TOP.parent / "shared" / "seed"
BACKEND = os.environ.get("TORCH_TEST_BACKEND", "dlrt")
JOB_LIMIT_S = 240


class TrainingCase(TorchCase):
    def setUp(self):
        super().setUp()
        self.environment.update(
            TORCH_TEST_BACKEND=BACKEND, GLOO_SOCKET_IFNAME="lo", PYTHONWARNINGS="ignore")
        # Which makes Python write a line in two parts.
        self.environment.pop("PYTHONUNBUFFERED", None)

    def run_ranks(self, count, program, *words, limit_s=JOB_LIMIT_S, **added):
        self.environment.update(added)
        return self.run_job("-np", count, PYTHON, program, *words, limit_s=limit_s)

    def assert_checks_pass(self, ranks, program, *checks, **added):
        job = self.run_ranks(ranks, HERE / program, *checks, **added)
        self.assertEqual(job.returncode, 0, job.out + job.err)
        passed = [line.split()[1] for line in job.out.splitlines() if line.startswith("ok ")]
        if checks:
            self.assertEqual(passed, list(checks), job.out + job.err)
        self.assertNotEqual(passed, [], job.out + job.err)
        return job
