# SPDX-License-Identifier: Apache-2.0
"""What users do wrong with a process group, and what they are told."""
import multiprocessing
import os

import torch
import torch.distributed as dist

import training_case
from forked_ranks import fork_ranks
from ranks import join, outcome

LIMIT_S = 2
context = multiprocessing.get_context("fork")


def on_other_devices(rank, port):
    """Torch itself refuses what the backend is not registered for."""
    join(rank, 2, f"tcp://127.0.0.1:{port}")
    told = [outcome(lambda: dist.all_reduce(torch.ones(3, device="meta")))[0]]
    if not torch.cuda.is_available():
        told.append(outcome(lambda: dist.all_reduce(torch.ones(3, device="cuda")))[0])
    value = torch.ones(3)
    dist.all_reduce(value)
    dist.destroy_process_group()
    return told, value.tolist()


def twice(rank, port):
    join(rank, 2, f"tcp://127.0.0.1:{port}")
    told = outcome(join, rank, 2, f"tcp://127.0.0.1:{port}")[0]
    value = torch.ones(3)
    dist.all_reduce(value)
    dist.destroy_process_group()
    return told, value.tolist(), outcome(dist.all_reduce, value)[0]


def destroy_while_pending(rank, port):
    """Rank 1 never makes the call."""
    join(rank, 2, f"tcp://127.0.0.1:{port}", limit_s=LIMIT_S)
    if rank == 1:
        dist.destroy_process_group()
        return "", 0.0
    work = dist.all_reduce(torch.ones(1 << 12), async_op=True)
    dist.destroy_process_group()
    return outcome(lambda: work.wait() and "no error")


def leave(rank, port, meeting):
    join(rank, 3, f"tcp://127.0.0.1:{port}", limit_s=LIMIT_S)
    dist.all_reduce(torch.ones(3))
    if rank == 2:
        os._exit(0)
    told = outcome(lambda: dist.all_reduce(torch.ones(3)))
    # Else one could be told of the other, which has left because rank 2 had.
    meeting.wait(60)
    dist.destroy_process_group()
    return told


def outside(rank, port):
    join(rank, 2, f"tcp://127.0.0.1:{port}", limit_s=LIMIT_S)
    value = torch.ones(3)
    told = [
        outcome(dist.broadcast, value, src=2)[0],
        outcome(dist.send, value, dst=2)[0],
        outcome(dist.all_gather, [torch.ones(3)], value)[0],
        outcome(dist.all_gather, [torch.ones(3), torch.ones(4)], value)[0],
        outcome(dist.all_to_all_single, torch.ones(3), torch.ones(3))[0],
        outcome(dist.all_reduce, torch.ones(3).to_sparse())[0],
    ]
    told = [text or "no error" for text in told]
    dist.barrier()
    dist.destroy_process_group()
    return told


class BadInput(training_case.TrainingCase):
    def answers(self, size, function, *arguments, gone=()):
        answers = fork_ranks(size, function, training_case.free_port(), *arguments)
        for rank, answer in enumerate(answers):
            if rank not in gone:
                self.assertEqual((answer.status, answer.error), (0, None), answers)
        return [answer.value for answer in answers]

    def test_tensors_of_other_devices_are_refused_and_nothing_is_spoilt(self):
        for told, value in self.answers(2, on_other_devices):
            self.assertRegex(told[0], "Error: .*(?i:meta)")
            if len(told) > 1:
                self.assertRegex(told[1], "(?i)cuda")
            self.assertEqual(value, [2, 2, 2])

    def test_a_second_start_is_refused_and_the_first_lives_on(self):
        for told, value, after in self.answers(2, twice):
            self.assertIn("twice", told)
            self.assertEqual(value, [2, 2, 2])
            self.assertRegex(after, "(?i)not been initialized")

    def test_work_that_is_pending_when_the_group_goes_ends_with_an_error(self):
        (text, took_s), _ = self.answers(2, destroy_while_pending)
        self.assertIn("Error: ", text)
        self.assertLess(took_s, LIMIT_S + 20)

    def test_a_rank_that_exits_is_named_to_those_who_need_it(self):
        for text, took_s in self.answers(3, leave, context.Barrier(2), gone=(2,))[:2]:
            self.assertIn("rank 2", text)
            self.assertLess(took_s, LIMIT_S + 20)

    def test_a_job_whose_rank_exits_early_ends(self):
        job = self.run_ranks(2, training_case.HERE / "operation_rank.py", "leave", limit_s=120)
        self.assertNotEqual(job.returncode, 0, job.out)
        self.assertIn("rank 1", job.err)
        self.assertNotIn("without", job.out)

    def test_arguments_that_cannot_be_are_named(self):
        for told in self.answers(2, outside):
            for text in told:
                self.assertRegex(text, "(Error|Exception): .*", told)


if __name__ == "__main__":
    training_case.main()
