# SPDX-License-Identifier: Apache-2.0
"""What each rank of operations_test.py does: every collective and message of torch.distributed.

Values are worked out from formulas over the ranks, beside torch's own arithmetic where that is the
definition (rounding of half and bfloat16).
"""
import functools
import operator
import sys
import unittest
import warnings

import torch
import torch.distributed as dist

import dlrt_torch

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
FLOATS = (torch.half, torch.bfloat16, torch.float, torch.double)
COMPLEX = (torch.complex64, torch.complex128)
ALL = INTEGERS + FLOATS + COMPLEX + (torch.bool,)
Op = dist.ReduceOp
RANK = SIZE = 0


def number(rank, dtype, shape=(2, 3)):
    """What a rank contributes: small whole numbers, 1 to 12, other ones on each rank."""
    count = 1
    for length in shape:
        count *= length
    line = torch.arange(count) % 4 + 4 * rank + 1
    if dtype == torch.bool:
        line = (torch.arange(count) + rank) % 2
    result = line.reshape(shape).to(dtype)
    return result * (1 + 1j) if dtype in COMPLEX else result


def all_numbers(dtype, shape=(2, 3)):
    return [number(rank, dtype, shape) for rank in range(SIZE)]


class OperationCase(unittest.TestCase):
    def check(self, found, expected, text=""):
        self.assertEqual(found.dtype, expected.dtype, text)
        self.assertEqual(found.tolist(), expected.tolist(), text)

    def check_raises(self, text, call, *arguments, **options):
        with self.assertRaises(RuntimeError) as caught:
            call(*arguments, **options)
        self.assertIn(text, str(caught.exception))


class Movement(OperationCase):
    def test_broadcast(self):
        for dtype in ALL:
            for root in range(SIZE):
                tensor = number(RANK, dtype)
                dist.broadcast(tensor, root)
                self.check(tensor, number(root, dtype), dtype)

    def test_all_gather(self):
        for dtype in ALL:
            found = [torch.zeros(2, 3, dtype=dtype) for _ in range(SIZE)]
            dist.all_gather(found, number(RANK, dtype))
            for rank in range(SIZE):
                self.check(found[rank], number(rank, dtype), dtype)

    def test_all_gather_into_tensor(self):
        for dtype in (torch.float, torch.int64, torch.bool):
            found = torch.zeros(2 * SIZE, 3, dtype=dtype)
            dist.all_gather_into_tensor(found, number(RANK, dtype))
            self.check(found, torch.cat(all_numbers(dtype)))
            # The rank's own part of the output, as sharded training has it.
            found = torch.zeros(2 * SIZE, 3, dtype=dtype)
            own = found[2 * RANK:2 * RANK + 2]
            own.copy_(number(RANK, dtype))
            dist.all_gather_into_tensor(found, own)
            self.check(found, torch.cat(all_numbers(dtype)))

    def test_all_gather_coalesced(self):
        shapes = ((2, 3), (5,), (0,))
        found = [[torch.zeros(shape) for shape in shapes] for _ in range(SIZE)]
        dist.all_gather_coalesced(found, [number(RANK, torch.float, shape) for shape in shapes])
        for rank in range(SIZE):
            for i, shape in enumerate(shapes):
                self.check(found[rank][i], number(rank, torch.float, shape))

    def test_gather_and_scatter(self):
        for dtype in ALL:
            for root in range(SIZE):
                is_root = RANK == root
                parts = [torch.zeros(2, 3, dtype=dtype) for _ in range(SIZE)] if is_root else None
                dist.gather(number(RANK, dtype), parts, root)
                for rank in range(SIZE if is_root else 0):
                    self.check(parts[rank], number(rank, dtype), dtype)
                own = torch.zeros(2, 3, dtype=dtype)
                dist.scatter(own, all_numbers(dtype) if is_root else None, root)
                self.check(own, number(RANK, dtype), dtype)

    def test_all_to_all(self):
        for dtype in ALL:
            # Rank i sends a row of i + 1 elements to each, so that rows differ in length.
            sent = [number(RANK + to, dtype, (RANK + 1,)) for to in range(SIZE)]
            found = [torch.zeros(source + 1, dtype=dtype) for source in range(SIZE)]
            dist.all_to_all(found, sent)
            for source in range(SIZE):
                self.check(found[source], number(source + RANK, dtype, (source + 1,)), dtype)

    def test_all_to_all_single(self):
        rows = torch.arange(SIZE * 2).reshape(SIZE, 2) + 100 * RANK
        found = torch.zeros(SIZE, 2, dtype=torch.int64)
        dist.all_to_all_single(found, rows)
        expected = [[100 * source + 2 * RANK, 100 * source + 2 * RANK + 1]
                    for source in range(SIZE)]
        self.assertEqual(found.tolist(), expected)
        # Uneven: `to` + 1 rows for rank `to`.
        sizes = [to + 1 for to in range(SIZE)]
        sent = torch.full((sum(sizes), 2), RANK)
        found = torch.full((SIZE * (RANK + 1), 2), -1)
        dist.all_to_all_single(found, sent, [RANK + 1] * SIZE, sizes)
        expected = [[source] * 2 for source in range(SIZE) for _ in range(RANK + 1)]
        self.assertEqual(found.tolist(), expected)

    def test_strided_and_empty_tensors(self):
        whole = torch.zeros(4, 6)
        column = whole[:, 1]
        column.copy_(torch.arange(4.0) + RANK)
        dist.all_reduce(column)
        self.assertEqual(column.tolist(), [SIZE * i + sum(range(SIZE)) for i in range(4)])
        self.assertEqual(whole[:, 0].tolist() + whole[:, 2].tolist(), [0.0] * 8)
        turned = torch.arange(6.0).reshape(2, 3).t() if RANK == 0 else torch.zeros(3, 2)
        dist.broadcast(turned, 0)
        self.assertEqual(turned.tolist(), [[0, 3], [1, 4], [2, 5]])
        target = torch.zeros(3, 2).t()
        parts = [torch.zeros(3, 2).t() for _ in range(SIZE)]
        dist.all_gather(parts, target + RANK)
        self.assertEqual([part.sum().item() for part in parts], [6.0 * r for r in range(SIZE)])
        conjugate = torch.full((2,), 1 + 2j).conj()
        dist.broadcast(conjugate, 0)
        self.assertEqual(conjugate.tolist(), [1 - 2j] * 2)
        for call in (lambda t: dist.all_reduce(t), lambda t: dist.broadcast(t, 1),
                     lambda t: dist.all_gather([torch.zeros(0) for _ in range(SIZE)], t),
                     lambda t: dist.reduce(t, 0), lambda t: dist.all_to_all_single(t.clone(), t)):
            call(torch.zeros(0))

    def test_of_a_leaf_that_requires_its_gradient(self):
        leaf = torch.full((3,), float(RANK), requires_grad=True)
        with torch.no_grad():
            dist.broadcast(leaf, 1)
        self.assertEqual(leaf.tolist(), [1.0] * 3)
        self.assertTrue(leaf.is_leaf and leaf.requires_grad)


def reduced(op, numbers):
    functions = ((Op.SUM, operator.add), (Op.PRODUCT, operator.mul), (Op.MIN, torch.minimum),
                 (Op.MAX, torch.maximum), (Op.BAND, operator.and_), (Op.BOR, operator.or_),
                 (Op.BXOR, operator.xor))
    dtype = numbers[0].dtype
    # Halves are accumulated as float and rounded once.
    wide = [n.float() if dtype in (torch.half, torch.bfloat16) else n for n in numbers]
    if op == Op.AVG:
        total = functools.reduce(operator.add, wide)
        if dtype in COMPLEX:
            return torch.view_as_complex(torch.view_as_real(total) / SIZE)
        return (total / SIZE).to(dtype)
    for candidate, function in functions:
        if op == candidate:
            return functools.reduce(function, wide).to(dtype)
    raise AssertionError(op)


class Reductions(OperationCase):
    cases = (
        [(op, dtype) for op in (Op.SUM, Op.PRODUCT, Op.MIN, Op.MAX) for dtype in INTEGERS + FLOATS]
        + [(op, dtype) for op in (Op.BAND, Op.BOR, Op.BXOR) for dtype in INTEGERS]
        + [(Op.AVG, dtype) for dtype in FLOATS + COMPLEX] + [(Op.SUM, dtype) for dtype in COMPLEX])

    def test_all_reduce(self):
        for op, dtype in self.cases:
            tensor = number(RANK, dtype)
            dist.all_reduce(tensor, op)
            self.check(tensor, reduced(op, all_numbers(dtype)), (op, dtype))

    def test_reduce(self):
        for op, dtype in self.cases:
            root = len(str(dtype)) % SIZE
            tensor = number(RANK, dtype)
            dist.reduce(tensor, root, op)
            expected = reduced(op, all_numbers(dtype)) if RANK == root else number(RANK, dtype)
            self.check(tensor, expected, (op, dtype))

    def test_reduce_scatter(self):
        for op, dtype in self.cases:
            if dtype in COMPLEX:
                continue
            found = torch.zeros(2, 3, dtype=dtype)
            dist.reduce_scatter(found, [number(RANK + to, dtype) for to in range(SIZE)], op)
            expected = reduced(op, [number(rank + RANK, dtype) for rank in range(SIZE)])
            self.check(found, expected, (op, dtype))
            found = torch.zeros(2, 3, dtype=dtype)
            source = torch.cat([number(RANK + to, dtype) for to in range(SIZE)])
            dist.reduce_scatter_tensor(found, source, op)
            self.check(found, expected, (op, dtype))

    def test_reduce_scatter_of_uneven_parts(self):
        found = torch.zeros(RANK + 1)
        dist.reduce_scatter(found, [torch.full((to + 1,), float(RANK)) for to in range(SIZE)])
        self.assertEqual(found.tolist(), [float(sum(range(SIZE)))] * (RANK + 1))

    def test_bools_are_truth_values(self):
        for op, function in ((Op.SUM, any), (Op.MAX, any), (Op.BOR, any), (Op.PRODUCT, all),
                             (Op.MIN, all), (Op.BAND, all), (Op.BXOR, lambda v: sum(v) % 2 == 1)):
            tensor = number(RANK, torch.bool)
            dist.all_reduce(tensor, op)
            columns = zip(*(n.flatten().tolist() for n in all_numbers(torch.bool)))
            self.assertEqual(tensor.flatten().tolist(), [function(c) for c in columns], op)

    def test_all_reduce_coalesced(self):
        shapes = ((2, 3), (1,), (0,), (7,))
        tensors = [number(RANK, torch.float, shape) for shape in shapes]
        dist.all_reduce_coalesced(tensors)
        for tensor, shape in zip(tensors, shapes):
            self.check(tensor, reduced(Op.SUM, all_numbers(torch.float, shape)))

    def test_what_is_not_defined_is_said(self):
        self.check_raises("AVG is not defined for Int", dist.all_reduce,
                          torch.ones(2, dtype=torch.int32), Op.AVG)
        self.check_raises("BAND is not defined for Float", dist.all_reduce, torch.ones(2), Op.BAND)
        self.check_raises("AVG is not defined for Bool", dist.reduce,
                          torch.ones(2, dtype=torch.bool), 0, Op.AVG)
        # The only way past torch's own checks for a device that this host need not have.
        self.check_raises("on device meta; this build of dlrt moves tensors on the CPU only",
                          dist.all_gather_into_tensor, torch.zeros(2 * SIZE, device="meta"),
                          torch.ones(2, device="meta"))
        self.check_raises("not dense", dist.broadcast, torch.ones(2, 2).to_sparse(), 0)
        self.check_raises("of Float and of Double", dist.all_gather_into_tensor,
                          torch.zeros(2 * SIZE, dtype=torch.double), torch.ones(2))
        self.check_raises("elements where", dist.all_gather_into_tensor, torch.zeros(5),
                          torch.ones(2))
        dist.barrier()


class Messages(OperationCase):
    def test_in_a_ring(self):
        right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
        for dtype in ALL:
            found = torch.zeros(2, 3, dtype=dtype)
            sending = dist.isend(number(RANK, dtype), right, tag=5)
            dist.recv(found, left, tag=5)
            sending.wait()
            self.check(found, number(left, dtype), dtype)

    def test_tags_choose(self):
        if RANK == 0:
            works = [dist.isend(torch.full((2,), float(tag)), 1, tag=tag) for tag in (1, 2, 3)]
            for work in works:
                work.wait()
        elif RANK == 1:
            for tag in (3, 1, 2):
                found = torch.zeros(2)
                self.assertEqual(dist.recv(found, 0, tag=tag), 0)
                self.assertEqual(found.tolist(), [tag, tag])

    def test_from_anybody(self):
        if RANK == 0:
            sources = []
            for _ in range(SIZE - 1):
                found = torch.zeros(1)
                source = dist.recv(found)
                self.assertEqual(found.item(), 10.0 * source)
                sources.append(source)
            self.assertEqual(sorted(sources), list(range(1, SIZE)))
        else:
            dist.send(torch.full((1,), 10.0 * RANK), 0)

    def test_batches_need_no_order(self):
        others = [rank for rank in range(SIZE) if rank != RANK]
        large = 1 << 18
        found = {rank: torch.zeros(large) for rank in others}
        batch = [dist.P2POp(dist.isend, torch.full((large,), float(RANK)), to) for to in others]
        batch += [dist.P2POp(dist.irecv, found[source], source) for source in others]
        for work in dist.batch_isend_irecv(batch):
            work.wait()
        for source in others:
            self.assertTrue(bool((found[source] == source).all()))

    def test_another_length_is_said(self):
        if RANK == 0:
            dist.send(torch.zeros(3), 1)
            dist.send(torch.zeros(5), 1)
        elif RANK == 1:
            self.check_raises("has 12 bytes, the tensor 16", dist.recv, torch.zeros(4), 0)
            self.check_raises("20 bytes", dist.recv, torch.zeros(4), 0)

    def test_objects(self):
        found = [None] * SIZE
        dist.all_gather_object(found, {"rank": RANK, "text": "x" * RANK})
        self.assertEqual(found, [{"rank": r, "text": "x" * r} for r in range(SIZE)])
        objects = ["a", {"b": 2}] if RANK == 1 else [None, None]
        dist.broadcast_object_list(objects, 1)
        self.assertEqual(objects, ["a", {"b": 2}])
        gathered = [None] * SIZE if RANK == 0 else None
        dist.gather_object(RANK * 7, gathered, 0)
        if RANK == 0:
            self.assertEqual(gathered, [7 * r for r in range(SIZE)])
        own = [None]
        dist.scatter_object_list(own, [str(r) for r in range(SIZE)] if RANK == 0 else [None], 0)
        self.assertEqual(own, [str(RANK)])


class Works(OperationCase):
    def test_asynchronous_work(self):
        tensors = [torch.full((1 << 10,), float(RANK + i)) for i in range(8)]
        works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
        for i, work in reversed(list(enumerate(works))):
            self.assertTrue(work.wait())
            self.assertTrue(work.is_completed())
            expected = sum(rank + i for rank in range(SIZE))
            self.assertEqual(tensors[i][-1].item(), expected)

    def test_looking_completes(self):
        work = dist.barrier(async_op=True)
        while not work.is_completed():
            pass
        self.assertTrue(work.wait())

    def test_futures(self):
        tensor = torch.full((4,), float(RANK))
        future = dist.all_reduce(tensor, async_op=True).get_future()
        doubled = future.then(lambda done: done.value()[0] * 2)
        self.assertEqual(doubled.wait().tolist(), [2.0 * sum(range(SIZE))] * 4)
        self.assertTrue(future.done())
        self.assertEqual(future.value()[0].tolist(), tensor.tolist())

    def test_a_future_whose_work_was_dropped(self):
        future = dist.all_reduce(torch.ones(3), async_op=True).get_future()
        self.assertEqual(future.wait()[0].tolist(), [float(SIZE)] * 3)
        # Nobody waits for these; what they do is done all the same.
        column = torch.ones(4, 3)[:, 1]
        dist.all_reduce(column, async_op=True)
        for _ in range(3):
            dist.barrier()
        last = dist.all_reduce(torch.ones(1), async_op=True)
        last.get_future().wait()
        self.assertEqual(column.tolist(), [float(SIZE)] * 4)

    def test_wait_has_a_limit(self):
        from datetime import timedelta
        if RANK == 0:
            found = torch.zeros(1)
            work = dist.irecv(found, 1, tag=77)
            with self.assertRaisesRegex(RuntimeError, "not complete after a wait of 50 ms"):
                work.wait(timedelta(milliseconds=50))
            dist.send(torch.zeros(1), 1, tag=78)
            work.wait()
            self.assertEqual(found.item(), 5.0)
        elif RANK == 1:
            dist.recv(torch.zeros(1), 0, tag=78)
            dist.send(torch.full((1,), 5.0), 0, tag=77)

    def test_sequence_numbers(self):
        group = dist.group.WORLD
        group._set_sequence_number_for_group()
        before = group._get_sequence_number_for_group()
        dist.all_reduce(torch.ones(1))
        dist.barrier()
        self.assertEqual(group._get_sequence_number_for_group(), before + 2)


class Groups(OperationCase):
    def test_groups_overlap_and_keep_apart(self):
        groups = {members: dist.new_group(list(members))
                  for members in ((0, 1), (1, 2), (0, 2), (0, 1, 2))}
        for members, group in groups.items():
            if RANK not in members:
                continue
            tensor = torch.full((2,), float(RANK))
            dist.all_reduce(tensor, group=group)
            self.assertEqual(tensor.tolist(), [float(sum(members))] * 2)
            dist.broadcast(tensor, members[-1], group=group)
            self.assertEqual(dist.get_rank(group), members.index(RANK))
        # The same tag in two groups and the world.
        if RANK < 2:
            other = 1 - RANK
            for value, group in ((1.0, groups[(0, 1)]), (2.0, None), (3.0, groups[(0, 1, 2)])):
                dist.isend(torch.full((1,), value + RANK), other, group=group, tag=9)
            for value, group in ((3.0, groups[(0, 1, 2)]), (1.0, groups[(0, 1)]), (2.0, None)):
                found = torch.zeros(1)
                dist.recv(found, other, group=group, tag=9)
                self.assertEqual(found.item(), value + other)
        for members, group in groups.items():
            if RANK in members:
                dist.destroy_process_group(group)
        dist.barrier()

    def test_monitored_barrier_passes(self):
        for _ in range(3):
            dlrt_torch.monitored_barrier()

    def test_of_one_rank(self):
        groups = [dist.new_group([rank]) for rank in range(SIZE)]
        tensor = torch.full((2,), float(RANK))
        dist.all_reduce(tensor, group=groups[RANK])
        dist.barrier(group=groups[RANK])
        self.assertEqual(tensor.tolist(), [float(RANK)] * 2)


def main():
    global RANK, SIZE
    # Of the coalesced forms, which torch means to drop.
    warnings.simplefilter("ignore", UserWarning)
    dist.init_process_group("dlrt")
    RANK, SIZE = dist.get_rank(), dist.get_world_size()
    # Each rank stops at its first failure: the others would wait for it.
    outcome = unittest.main(exit=False, failfast=True, warnings="ignore").result
    if outcome.wasSuccessful():
        dist.destroy_process_group()
    return 0 if outcome.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
