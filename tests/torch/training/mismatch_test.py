# SPDX-License-Identifier: Apache-2.0
"""Case H07: ranks that call different things are told, both of them, and live on."""
import torch
import torch.distributed as dist

import training_case
from forked_ranks import fork_ranks
from ranks import join, outcome

LIMIT_S = 8


def different_lengths(rank):
    dist.all_reduce(torch.ones(100 + 100 * rank))


def different_types(rank):
    dist.all_reduce(torch.ones(64, dtype=(torch.float32, torch.float64)[rank]))


def equal_bytes(rank):
    dist.all_reduce(torch.ones(64 >> rank, dtype=(torch.float32, torch.float64)[rank]))


def different_operations(rank):
    value = torch.ones(16)
    if rank:
        dist.broadcast(value, src=0)
    else:
        dist.all_reduce(value)


def a_table_and_a_scalar(rank):
    own = torch.tensor(1.0) if rank else torch.ones(3, 4)
    dist.all_gather([torch.empty_like(own) for _ in range(2)], own)


def different_reductions(rank):
    dist.all_reduce(torch.ones(8), op=(dist.ReduceOp.SUM, dist.ReduceOp.MAX)[rank])


def different_roots(rank):
    dist.broadcast(torch.ones(8), src=rank)


def different_order(rank):
    calls = [lambda: dist.all_reduce(torch.ones(8)), lambda: dist.broadcast(torch.ones(8), src=0)]
    for call in calls if rank else reversed(calls):
        call()


def different_lengths_begun(rank):
    """Work that runs while the caller does something else tells it in wait()."""
    dist.all_reduce(torch.ones(1 << 14 + rank), async_op=True).wait()


def run(rank, function, port):
    join(rank, 2, f"tcp://127.0.0.1:{port}", limit_s=LIMIT_S)
    # A call that is right comes before.
    dist.all_reduce(torch.ones(4))
    told = outcome(lambda: function(rank) or "no error")
    after = outcome(lambda: dist.barrier() or "no error")
    dist.destroy_process_group()
    # The process lives, and another group is a new one.
    return told, after


def run_and_begin_again(rank, function, ports):
    told, after = run(rank, function, ports[0])
    join(rank, 2, f"tcp://127.0.0.1:{ports[1]}")
    value = torch.ones(4)
    dist.all_reduce(value)
    dist.destroy_process_group()
    return told, after, value.tolist()


class Mismatch(training_case.TrainingCase):
    def check(self, function, *words):
        ports = (training_case.free_port(), training_case.free_port())
        answers = fork_ranks(2, run_and_begin_again, function, ports)
        texts = []
        for answer in answers:
            self.assertEqual((answer.status, answer.error), (0, None), answers)
            (text, took_s), (after, later_s), again = answer.value
            # Who calls nothing that needs the other learns it with the next call.
            texts.append(text if "Error: " in text else after)
            self.assertIn("Error: ", texts[-1], answers)
            self.assertIn("Error: ", after, answers)
            self.assertLess(took_s, LIMIT_S, text)
            self.assertLess(later_s, LIMIT_S, after)
            self.assertEqual(again, [2] * 4)
        # Both calls stand in what the one that finds it says; the other says who has found it.
        for word in words:
            self.assertRegex("\n".join(texts), word)
        for text in texts:
            self.assertRegex(text, r"\brank [01]\b")

    def test_different_lengths(self):
        self.check(different_lengths, "(?i)all.?reduce", r"\b100\b|\b400\b", r"\b200\b|\b800\b")

    def test_different_types(self):
        self.check(different_types, "(?i)all.?reduce", "(?i)float", "(?i)double|float64")

    def test_different_types_of_equal_bytes(self):
        self.check(equal_bytes, "(?i)all.?reduce")

    def test_different_operations(self):
        self.check(different_operations, "(?i)all.?reduce", "(?i)broadcast|bcast")

    def test_a_table_and_a_scalar(self):
        self.check(a_table_and_a_scalar, "(?i)all.?gather", r"\b12\b|\b48\b")

    def test_different_reductions(self):
        self.check(different_reductions, "(?i)all.?reduce", "(?i)sum", "(?i)max")

    def test_different_roots(self):
        self.check(different_roots, "(?i)broadcast|bcast", "root 0", "root 1")

    def test_different_order(self):
        self.check(different_order, "(?i)all.?reduce", "(?i)broadcast|bcast")

    def test_different_lengths_of_work_that_has_begun(self):
        self.check(different_lengths_begun, "(?i)all.?reduce")


if __name__ == "__main__":
    training_case.main()
