# SPDX-License-Identifier: Apache-2.0
"""Case H05: one rank has fewer batches than the other."""
import multiprocessing

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import training_case
from forked_ranks import fork_ranks
from ranks import join, outcome, seconds

LIMIT_S = 2
BATCHES = (10, 9)
context = multiprocessing.get_context("fork")


def train(wrapped, number):
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    for step in range(number):
        optimizer.zero_grad()
        wrapped(torch.full((2, 4), float(step))).sum().backward()
        optimizer.step()
    return "no error"


def begin(rank, port):
    join(rank, 2, f"tcp://127.0.0.1:{port}", limit_s=LIMIT_S)
    torch.manual_seed(1)
    return DistributedDataParallel(torch.nn.Linear(4, 3))


def leave_the_loop(rank, port, is_over):
    """Rank 1 does something else until rank 0 has been told."""
    wrapped = begin(rank, port)
    if rank == 1:
        told = train(wrapped, BATCHES[1]), 0.0
        is_over.wait(60)
    else:
        told = outcome(train, wrapped, BATCHES[0])
        is_over.set()
    dist.destroy_process_group()
    return told


def go_on_to_a_barrier(rank, port):
    wrapped = begin(rank, port)
    told = outcome(train, wrapped, BATCHES[rank])
    if rank == 1:
        told = outcome(dist.barrier)
    dist.destroy_process_group()
    return told


def in_the_context(rank, port):
    wrapped = begin(rank, port)
    with wrapped.join():
        train(wrapped, BATCHES[rank])
    values = [parameter.detach().tolist() for parameter in wrapped.parameters()]
    dist.destroy_process_group()
    return values


def monitored(rank, port, is_over):
    join(rank, 2, f"tcp://127.0.0.1:{port}", limit_s=LIMIT_S)
    if rank == 1:
        is_over.wait(60)
        told = "", 0.0
    else:
        group = dist.distributed_c10d._get_default_group()
        told = outcome(group.monitored_barrier, seconds(LIMIT_S), True)
        is_over.set()
    dist.destroy_process_group()
    return told


class Uneven(training_case.TrainingCase):
    def answers(self, function, *arguments):
        answers = fork_ranks(2, function, training_case.free_port(), *arguments)
        for answer in answers:
            self.assertEqual((answer.status, answer.error), (0, None), answers)
        return [answer.value for answer in answers]

    def test_a_rank_that_does_not_come_is_named_when_the_limit_is_over(self):
        (text, took_s), other = self.answers(leave_the_loop, context.Event())
        self.assertEqual(other[0], "no error")
        for word in ("(?i)all.?reduce", r"\brank 1\b", r"\bcollective \d+ of group"):
            self.assertRegex(text, word)
        self.assertTrue(LIMIT_S * 0.9 < took_s < LIMIT_S + 20, took_s)

    def test_a_barrier_does_not_answer_a_reduction(self):
        for text, _ in self.answers(go_on_to_a_barrier):
            self.assertRegex(text, "(?i)all.?reduce")
            self.assertRegex(text, "(?i)barrier")

    def test_the_context_of_join_lets_both_finish_equal(self):
        first, second = self.answers(in_the_context)
        self.assertEqual(first, second)

    def test_a_monitored_barrier_names_who_is_absent(self):
        (text, took_s), _ = self.answers(monitored, context.Event())
        self.assertRegex(text, r"(?i)rank.*\b1\b")
        self.assertTrue(LIMIT_S * 0.9 < took_s < LIMIT_S + 20, took_s)


if __name__ == "__main__":
    training_case.main()
