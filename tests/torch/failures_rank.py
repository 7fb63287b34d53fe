# SPDX-License-Identifier: Apache-2.0
"""What each of two ranks of failures_test.py does wrong, and what it must be told."""
import sys
import threading
import time
import unittest
from datetime import timedelta

import torch
import torch.distributed as dist

import dlrt_torch

Op = dist.ReduceOp
RANK = 0


def seconds(count):
    return timedelta(seconds=count)


class Mismatches(unittest.TestCase):
    """Of each kind in a group of its own, which can be destroyed; the process lives on."""

    def disagree(self, mine, theirs, words):
        group = dist.new_group([0, 1], timeout=seconds(30))
        begin = time.monotonic()
        with self.assertRaises(RuntimeError) as caught:
            (mine if RANK == 0 else theirs)(group)
        text = str(caught.exception)
        for word in words:
            self.assertIn(word, text)
        # What comes later is told at once.
        again = time.monotonic()
        with self.assertRaisesRegex(RuntimeError, "of no more use since an earlier call failed"):
            dist.barrier(group)
        now = time.monotonic()
        self.assertLess(now - again, 5)
        self.assertLess(now - begin, 15)
        dist.destroy_process_group(group)
        return text

    def all_reduce(self, tensor, op=Op.SUM):
        return lambda group: dist.all_reduce(tensor.clone(), op, group)

    def test_lengths(self):
        text = self.disagree(self.all_reduce(torch.ones(100)), self.all_reduce(torch.ones(200)),
                             ["400 bytes", "800 bytes", "rank 0", "rank 1"])
        self.assertIn("all_reduce, collective 1 of group", text)

    def test_types(self):
        self.disagree(self.all_reduce(torch.ones(64)),
                      self.all_reduce(torch.ones(64, dtype=torch.double)), ["float", "double"])

    def test_types_of_equal_bytes(self):
        self.disagree(self.all_reduce(torch.ones(64)),
                      self.all_reduce(torch.ones(32, dtype=torch.double)), ["float", "double"])

    def test_calls(self):
        self.disagree(self.all_reduce(torch.ones(4)),
                      lambda group: dist.broadcast(torch.ones(4), 0, group), ["allreduce", "bcast"])

    def test_reductions(self):
        self.disagree(self.all_reduce(torch.ones(4), Op.SUM),
                      self.all_reduce(torch.ones(4), Op.MAX), ["sum", "max"])

    def test_shapes_of_a_gather(self):
        def gather(shape):
            return lambda group: dist.all_gather(
                [torch.zeros(shape) for _ in range(2)], torch.ones(shape), group)
        self.disagree(gather((3, 4)), gather(()), ["allgather"])

    def test_order(self):
        def first_broadcast(group):
            dist.broadcast(torch.ones(4), 1, group)
            dist.all_reduce(torch.ones(4), group=group)
            dist.barrier(group)

        def first_reduce(group):
            dist.all_reduce(torch.ones(4), group=group)
            dist.broadcast(torch.ones(4), 1, group)
            dist.barrier(group)
        self.disagree(first_broadcast, first_reduce, ["bcast", "allreduce"])

    def test_a_future_has_the_error(self):
        group = dist.new_group([0, 1], timeout=seconds(30))
        work = dist.all_reduce(torch.ones(10 + RANK), group=group, async_op=True)
        with self.assertRaisesRegex(Exception, "disagree|differ"):
            work.get_future().wait()
        self.assertTrue(work.is_completed())

        dist.destroy_process_group(group)


class Timeouts(unittest.TestCase):
    def late(self, call, words, limit_s=1):
        """Rank 0 calls; rank 1 comes when rank 0 has been told."""
        group = dist.new_group([0, 1], timeout=seconds(limit_s))
        store = dist.distributed_c10d._get_default_store()
        self.key = "told/" + self.id()
        if RANK == 0:
            begin = time.monotonic()
            with self.assertRaises(RuntimeError) as caught:
                call(group)
            taken = time.monotonic() - begin
            for word in words:
                self.assertIn(word, str(caught.exception))
            self.assertGreaterEqual(taken, 0.9 * limit_s)
            self.assertLess(taken, limit_s + 10)
            store.set(self.key, "1")
        else:
            store.wait([self.key], seconds(60))
        return group

    def test_of_a_collective(self):
        group = self.late(
            lambda group: dist.all_reduce(torch.ones(4), group=group),
            ["all_reduce, collective 1 of group", "timed out after 1000 ms", "allreduce",
             "rank 1 has not called it"])
        if RANK == 0:
            # At once: that rank 1 comes later would make two different operations of one.
            begin = time.monotonic()
            with self.assertRaisesRegex(RuntimeError, "of no more use .* timed out"):
                dist.barrier(group)
            self.assertLess(time.monotonic() - begin, 0.9)

    def test_of_a_future(self):
        def wait(group):
            dist.barrier(group, async_op=True).get_future().wait()
        self.late(wait, ["barrier", "rank 1 has not called it"])

    def test_not_in_a_group_whose_member_has_destroyed_it(self):
        group = dist.new_group([0, 1], timeout=seconds(30))
        if RANK == 1:
            dist.destroy_process_group(group)
            del group
        dist.barrier()
        if RANK == 0:
            begin = time.monotonic()
            with self.assertRaisesRegex(RuntimeError, "rank 1 has freed the communicator"):
                dist.barrier(group)
            self.assertLess(time.monotonic() - begin, 10)
        dist.barrier()

    def test_of_a_message_leaves_the_group_usable(self):
        group = self.late(lambda group: dist.recv(torch.zeros(1), 1, group, tag=4),
                          ["recv, peer rank 1, tag 4 of group", "timed out after 1000 ms"])
        if RANK == 1:
            dist.send(torch.full((1,), 3.0), 0, group, tag=4)
        else:
            found = torch.zeros(1)
            dist.recv(found, 1, group, tag=4)
            self.assertEqual(found.item(), 3.0)
        dist.barrier(group)

    def test_of_a_monitored_barrier(self):
        self.late(
            lambda group: dlrt_torch.monitored_barrier(group, seconds(1), wait_all_ranks=True),
            ["monitored_barrier of group", "rank(s) 1 did not come in time"])


class Misuse(unittest.TestCase):
    def test_init_twice(self):
        with self.assertRaisesRegex(RuntimeError, "twice"):
            dist.init_process_group("dlrt")

    def test_threads_use_groups_side_by_side(self):
        groups = [dist.new_group([0, 1]) for _ in range(4)]
        wrong = []

        def work(group, number):
            for i in range(50):
                tensor = torch.full((64,), float(number + i + RANK))
                dist.all_reduce(tensor, group=group)
                if tensor[0].item() != 2 * (number + i) + 1:
                    wrong.append((number, i))
        threads = [threading.Thread(target=work, args=(g, 10 * n)) for n, g in enumerate(groups)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


def main():
    global RANK
    dist.init_process_group("dlrt")
    RANK = dist.get_rank()
    outcome = unittest.main(exit=False, failfast=True).result
    # One operation that rank 1 never calls is in flight, and a receive that nobody answers.
    if RANK == 0:
        works = [dist.all_reduce(torch.ones(4), async_op=True), dist.irecv(torch.ones(1), 1)]
        dist.destroy_process_group()
        del works
    else:
        dist.destroy_process_group()
    return 0 if outcome.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
