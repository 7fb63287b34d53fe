# SPDX-License-Identifier: Apache-2.0
"""Case H03: destroy and initialise again in the same processes.

usage: again_test.py [--all]: 50 rounds instead of 10
"""
import multiprocessing
import os
import socket
import sys
import time

import torch
import torch.distributed as dist

import training_case
from forked_ranks import fork_ranks
from ranks import join, total_of

ROUNDS = 10
context = multiprocessing.get_context("fork")


def counts():
    """Descriptors and threads."""
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


def rounds(rank, port, number, meeting, between=None):
    """Sum of r + k in each; the longest round in seconds, and descriptors and threads after the
    second round and the last. The ranks meet between rounds, because the store of the last one may
    still listen at the port when a fast rank looks for the next."""
    sums, longest, after_second = [], 0.0, None
    for k in range(number):
        meeting.wait()
        begin = time.monotonic()
        join(rank, 2, f"tcp://127.0.0.1:{port}")
        sums.append(total_of(rank + k))
        if between is not None:
            between(rank)
        dist.destroy_process_group()
        longest = max(longest, time.monotonic() - begin)
        if k == 1:
            after_second = counts()
    return sums, longest, after_second, counts()


def with_more_groups(rank):
    for _ in range(2):
        value = torch.ones(2)
        dist.all_reduce(value, group=dist.new_group([0, 1]))
        assert value.tolist() == [2, 2]


def slower_by_a_second(rank):
    time.sleep(rank)


def with_unfinished_work(rank):
    """Of which nobody knows the end when the group goes."""
    work = dist.all_reduce(torch.ones(1 << 16), async_op=True)
    if rank == 1:
        time.sleep(0.2)
    kept.append(work)


kept = []


def one_store(rank, port, number):
    store = dist.TCPStore("127.0.0.1", port, 2, rank == 0)
    sums = []
    for k in range(number):
        join(rank, 2, dist.PrefixStore(f"round {k}", store))
        sums.append(total_of(rank + k))
        dist.destroy_process_group()
    # The owner leaves last.
    if rank:
        store.set("done", "1")
    else:
        store.wait(["done"])
    return sums


class Again(training_case.TrainingCase):
    def check(self, number=3, between=None, longest_s=30):
        port = training_case.free_port()
        answers = fork_ranks(
            2, rounds, port, number, context.Barrier(2), between, limit_s=200)
        for answer in answers:
            self.assertEqual((answer.status, answer.error), (0, None), answers)
            self.assertEqual(answer.value[0], [1 + 2 * k for k in range(number)])
            self.assertLess(answer.value[1], longest_s)
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
        return [answer.value for answer in answers]

    def test_sums_are_right_each_time(self):
        self.check()

    def test_groups_that_are_alive_end_with_the_first(self):
        self.check(between=with_more_groups)

    def test_a_slow_rank_delays_nobody(self):
        self.check(between=slower_by_a_second)

    def test_work_that_is_unfinished_ends(self):
        self.check(between=with_unfinished_work)

    def test_one_store_serves_several_rounds(self):
        answers = fork_ranks(2, one_store, training_case.free_port(), 3)
        for answer in answers:
            self.assertEqual(
                (answer.value, answer.error, answer.status), ([1, 3, 5], None, 0), answers)

    def test_many_rounds_leave_nothing_behind(self):
        for _, _, early, late in self.check(50 if IS_FULL else ROUNDS, longest_s=30):
            self.assertLessEqual(late[0], early[0])
            self.assertLessEqual(late[1], early[1])


if __name__ == "__main__":
    IS_FULL = "--all" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--all"]
    training_case.main()
