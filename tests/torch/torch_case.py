# SPDX-License-Identifier: Apache-2.0
"""What the tests of dlrt_torch share: jobs of Python ranks under dlrun and without it.

PYTHON is the interpreter that has torch, PACKAGE the folder that dlrt_torch is in.
"""
import os
import pathlib
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "jobs/launcher"))
from launcher_case import LauncherCase  # noqa: E402

PYTHON = os.environ["PYTHON"]
HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 150


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class TorchCase(LauncherCase):
    def setUp(self):
        super().setUp()
        for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
            self.environment.pop(name, None)
        self.environment["PYTHONPATH"] = os.environ["PACKAGE"]
        # One thread for each rank's arithmetic: the host is shared.
        self.environment["OMP_NUM_THREADS"] = "1"

    def run_ranks(self, count, program, *words, limit_s=LIMIT_S):
        return self.run_job("-np", count, PYTHON, HERE / program, *words, limit_s=limit_s)

    def outside_of_jobs(self, **variables):
        environment = dict(self.environment, **variables)
        # A setting of dlrun that ranks don't know.
        del environment["DLRT_TEST_CPU_POOL"]
        return environment

    def run_alone(self, *words, limit_s=LIMIT_S, **variables):
        """Without dlrun; all processes must have gone at the end."""
        environment = self.outside_of_jobs(**variables)
        begin = time.monotonic()
        try:
            job = subprocess.run(
                [PYTHON, *map(str, words)], env=environment, timeout=limit_s,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        except subprocess.TimeoutExpired as late:
            self.fail(f"{words} did not end within {limit_s} s: {late.stdout} {late.stderr}")
        job.seconds = time.monotonic() - begin
        return job

    def run_plain(self, count, *words, limit_s=LIMIT_S, **variables):
        """So many processes side by side, with torch's variables; list of (status, out, err)."""
        port = str(free_port())
        processes = []
        for rank in range(count):
            environment = self.outside_of_jobs(
                RANK=str(rank), WORLD_SIZE=str(count), LOCAL_RANK=str(rank),
                MASTER_ADDR="127.0.0.1", MASTER_PORT=port, **variables)
            processes.append(subprocess.Popen(
                [PYTHON, *map(str, words)], env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        end = time.monotonic() + limit_s
        results = []
        for process in processes:
            try:
                out, err = process.communicate(timeout=max(end - time.monotonic(), 1))
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                err += "\nkilled after the time limit"
            results.append((process.returncode, out, err))
        return results
