# SPDX-License-Identifier: Apache-2.0
"""Case H02: the store's port is taken, its owner leaves early, ranks or keys come late or never.

usage: store_test.py [--all]: with a rank that is 20 s late
"""
import os
import pathlib
import shutil
import socket
import sys
import tempfile
import time

import torch.distributed as dist

import training_case
from forked_ranks import fork_ranks
from ranks import join, outcome, seconds, total_of

SIZE = 4
LATE_S = 2


def leave_early(rank, port):
    join(rank, SIZE, f"tcp://127.0.0.1:{port}")
    total_of(rank)
    if rank == 0:
        # Without destroying anything, as a program that ends.
        os._exit(0)
    time.sleep(2)
    told = outcome(dist.barrier)
    dist.destroy_process_group()
    return told


def wait_for_keys(rank, port):
    join(rank, SIZE, f"tcp://127.0.0.1:{port}")
    begin = time.monotonic()
    store = dist.distributed_c10d._get_default_store()
    if rank:
        time.sleep(rank)
        store.set(f"key {rank}", str(rank))
        took = 0
    else:
        time.sleep(2)
        store.wait([f"key {other}" for other in range(1, SIZE)], seconds(5))
        took = time.monotonic() - begin
    dist.barrier()
    dist.destroy_process_group()
    return took


def come_late(rank, port, late_s):
    if rank == 0:
        time.sleep(late_s)
    join(rank, SIZE, f"tcp://127.0.0.1:{port}", limit_s=60)
    total = total_of(rank)
    dist.destroy_process_group()
    return total


def miss_one(rank, path):
    """By a file, since torch's store over TCP waits for all ranks itself."""
    if rank == 3:
        return None, 0
    return outcome(join, rank, SIZE, f"file://{path}", limit_s=2)


class Store(training_case.TrainingCase):
    def assert_all_ended(self, answers, gone=()):
        for rank, answer in enumerate(answers):
            self.assertEqual(answer.status, 0, (rank, answers))
            if rank not in gone:
                self.assertIsNone(answer.error, (rank, answers))

    def run_with_port_taken(self, *words):
        with socket.socket() as foreign:
            # Never answers whoever connects.
            foreign.bind(("127.0.0.1", 0))
            foreign.listen(8)
            return self.run_ranks(
                2, training_case.HERE / "operation_rank.py", *words, MASTER_ADDR="127.0.0.1",
                MASTER_PORT=str(foreign.getsockname()[1]), limit_s=120)

    def test_a_port_that_is_taken_is_said_and_the_job_ends(self):
        """The other rank would wait for ever in torch's store; dlrun ends it."""
        job = self.run_with_port_taken("tcp")
        self.assertNotEqual(job.returncode, 0, job.out)
        self.assertRegex(job.err, "(?i)address already in use")

    def test_a_job_needs_no_port(self):
        job = self.run_with_port_taken()
        self.assertEqual(job.returncode, 0, job.err)
        self.assertEqual(sorted(job.out.split()), ["0", "1", "3", "3", "sum", "sum"])

    def test_whoever_needs_a_rank_that_left_is_told(self):
        answers = fork_ranks(SIZE, leave_early, training_case.free_port())
        self.assert_all_ended(answers, gone=(0,))
        for answer in answers[1:]:
            text, took_s = answer.value
            self.assertIn("rank 0", text)
            self.assertLess(took_s, 5)

    def test_a_wait_for_keys_that_come_later_returns_with_the_last(self):
        answers = fork_ranks(SIZE, wait_for_keys, training_case.free_port())
        self.assert_all_ended(answers)
        self.assertTrue(2.9 < answers[0].value < 4.9, answers)

    def test_the_owner_of_the_store_may_come_last(self):
        late_s = 20 if IS_FULL else LATE_S
        answers = fork_ranks(SIZE, come_late, training_case.free_port(), late_s)
        self.assert_all_ended(answers)
        self.assertEqual([answer.value for answer in answers], [6, 6, 6, 6])

    def test_a_rank_that_never_comes_is_named_when_the_limit_is_over(self):
        # A temporary folder that cleans itself up would do so at the end of a forked rank, too.
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        answers = fork_ranks(SIZE, miss_one, pathlib.Path(folder) / "store")
        self.assert_all_ended(answers)
        for answer in answers[:3]:
            text, took_s = answer.value
            self.assertRegex(text, r"rank 3\b|ranks? .*\b3\b")
            self.assertTrue(1.5 < took_s < 15, answers)


if __name__ == "__main__":
    IS_FULL = "--all" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--all"]
    training_case.main()
