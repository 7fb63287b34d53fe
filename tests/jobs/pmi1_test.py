#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs with dlrt under MPICH's mpiexec, which speaks PMI-1.

usage: pmi1_test.py PMI1_RANK_PROGRAM
"""
import os
import shutil
import subprocess
import sys
import unittest

PROGRAM = ""
MPIEXEC = shutil.which("mpiexec.hydra") or shutil.which("mpiexec.mpich")


def run(*words):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("DLRT_")
    }
    return subprocess.run(
        [MPIEXEC, *words], capture_output=True, text=True, timeout=60, env=environment, check=False
    )


class UnderMpiexec(unittest.TestCase):
    def check_ring(self, size, *options):
        outcome = run(*options, "-n", str(size), PROGRAM, "ring", str(size))
        lines = sorted(outcome.stdout.split("\n"))
        expected = sorted(["", *(f"rank {rank} of {size} is right" for rank in range(size))])
        self.assertEqual((outcome.returncode, lines), (0, expected), outcome.stderr)

    def test_ranks_find_each_other(self):
        for size in (1, 2, 4, 7):
            with self.subTest(size=size):
                self.check_ring(size)

    def test_the_launcher_may_listen_on_a_port_instead(self):
        self.check_ring(3, "-pmi-port")

    def test_blocks_of_a_command_line_are_one_job(self):
        words = [PROGRAM, "ring", "3"]
        outcome = run("-n", "1", *words, ":", "-n", "2", *words)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)

    def test_an_abort_ends_all_with_its_status(self):
        # The text is not looked for: Hydra may drop what was written just before an abort.
        self.assertEqual(run("-n", "3", PROGRAM, "abort").returncode, 9)

    def test_a_death_ends_all(self):
        self.assertNotEqual(run("-n", "3", PROGRAM, "die").returncode, 0)


class WithoutALauncher(unittest.TestCase):
    def alone(self, **variables):
        environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("DLRT_", "PMI", "OMPI_", "SLURM_"))
        }
        environment.update(variables)
        return subprocess.run(
            [PROGRAM, "alone"], capture_output=True, text=True, timeout=30, env=environment,
            check=False,
        )

    def test_a_program_is_alone_and_quiet(self):
        outcome = self.alone()
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))

    def test_an_unknown_launcher_gets_one_line(self):
        for variables in (
            {"OMPI_COMM_WORLD_SIZE": "4"}, {"PMI_SIZE": "2"}, {"PMIX_RANK": "1"},
            {"SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "3"},
        ):
            with self.subTest(variables=variables):
                outcome = self.alone(**variables)
                self.assertEqual(outcome.returncode, 0, outcome.stderr)
                self.assertEqual(outcome.stderr.count("\n"), 1, outcome.stderr)
                self.assertIn(next(iter(variables)), outcome.stderr)

    def test_a_job_of_one_or_a_batch_script_smells_of_nothing(self):
        for variables in (
            {"OMPI_COMM_WORLD_SIZE": "1", "PMIX_RANK": "0"},
            {"SLURM_NTASKS": "8", "SLURM_PROCID": "0"},
        ):
            with self.subTest(variables=variables):
                self.assertEqual(self.alone(**variables).stderr, "")

    def test_a_launcher_that_is_not_there_is_an_error(self):
        outcome = self.alone(PMI_FD="77", PMI_RANK="0", PMI_SIZE="2")
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("PMI_FD=77", outcome.stderr)
        outcome = self.alone(PMI_FD="7", PMI_RANK="x", PMI_SIZE="2")
        self.assertIn("PMI_RANK", outcome.stderr)
        outcome = self.alone(PMI_PORT="nowhere", PMI_ID="0")
        self.assertIn("PMI_PORT", outcome.stderr)

    def test_left_overs_of_dlrun_are_an_error(self):
        outcome = self.alone(DLRT_JOBID="gone", DLRT_RANK="0", DLRT_SIZE="1", DLRT_DAEMON="gone")
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("unset the DLRT_ variables", outcome.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    if MPIEXEC is None:
        print("skipped: neither mpiexec.hydra nor mpiexec.mpich is installed")
        sys.exit(77)
    unittest.main()
