# SPDX-License-Identifier: Apache-2.0
"""Ways to begin, to end, and to begin again. usage: starts_rank.py PART [WORDS]

Outside dlrun RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are set, as torchrun sets them.
"""
import os
import pathlib
import socket
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist

import dlrt_torch


def environment():
    return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])


def check_sum(extra=0):
    """All ranks and what all add."""
    rank, size = dist.get_rank(), dist.get_world_size()
    tensor = torch.full((3,), float(rank + extra))
    dist.all_reduce(tensor)
    expected = float(size * (size - 1) // 2 + size * extra)
    assert tensor.tolist() == [expected] * 3, (tensor, expected)


def once(**options):
    dist.init_process_group("dlrt", **options)
    check_sum()
    dist.destroy_process_group()


def resources():
    descriptors = len(os.listdir("/proc/self/fd"))
    return descriptors, len(os.listdir("/proc/self/task"))


def everyway(folder, port):
    """From torch's stores alone, in one process after the other way."""
    rank, size = environment()
    assert not dlrt_torch.is_under_dlrun()
    once()
    once(init_method="env://")
    for round_ in range(2):
        path = pathlib.Path(folder) / "meeting{}".format(round_)
        once(init_method="file://{}".format(path), rank=rank, world_size=size)
    url = "tcp://127.0.0.1:{}".format(os.environ["MASTER_PORT"])
    for extra in range(3):
        dist.init_process_group("dlrt", init_method=url, rank=rank, world_size=size)
        check_sum(extra)
        if extra == 1 and rank == 1:
            time.sleep(0.5)
        dist.destroy_process_group()
    # One store for several, under other prefixes, which torch's own barrier of init needs.
    served = dist.TCPStore("127.0.0.1", int(port), size, rank == 0)
    prefixes = iter(range(1000))

    def with_store():
        store = dist.PrefixStore("init{}".format(next(prefixes)), served)
        return {"store": store, "rank": rank, "world_size": size}
    for extra in range(3):
        dist.init_process_group("dlrt", **with_store())
        groups = [dist.new_group([0, 1]), dist.new_group([1])]
        check_sum(extra)
        del groups
        dist.destroy_process_group()
    # With operations that don't complete.
    dist.init_process_group("dlrt", **with_store())
    left = [dist.irecv(torch.ones(1), 1 - rank)]
    if rank == 0:
        left.append(dist.all_reduce(torch.ones(4), async_op=True))
    check_other_groups()
    dist.destroy_process_group()
    dist.init_process_group("dlrt", **with_store())
    check_sum()
    try:
        left[0].wait()
        raise AssertionError("a message of a destroyed group has come")
    except RuntimeError:
        pass
    dist.destroy_process_group()
    rounds(lambda: once(**with_store()))


def check_other_groups():
    """A group of its own, while others have what never completes."""
    group = dist.new_group([0, 1])
    tensor = torch.ones(2)
    dist.all_reduce(tensor, group=group)
    assert tensor.tolist() == [2.0, 2.0]


def rounds(begin_and_end, count=50):
    """Nothing grows."""
    for _ in range(3):
        begin_and_end()
    before = resources()
    begin = time.monotonic()
    for _ in range(count):
        begin_and_end()
    taken = time.monotonic() - begin
    after = resources()
    assert after[0] <= before[0] and after[1] <= before[1], (before, after)
    assert taken < 3 * count, taken


def job(*_):
    """Under dlrun, where nothing need be said."""
    assert dlrt_torch.is_under_dlrun()
    once()
    once(init_method="env://")
    once(init_method="dlrun://")
    once(init_method="dlrun://", rank=environment()[0], world_size=environment()[1])
    for options in ({"rank": 7}, {"world_size": 9}):
        try:
            once(init_method="dlrun://", **options)
            raise AssertionError("another rank than dlrun's")
        except ValueError as error:
            assert "this process has" in str(error), error
    rounds(once)
    # torch's own variables are enough for others too.
    dist.init_process_group("gloo")
    try:
        group = dist.new_group(backend="dlrt")
        tensor = torch.ones(1)
        dist.all_reduce(tensor, group=group)
        assert tensor.item() == dist.get_world_size()
    finally:
        dist.destroy_process_group()
    once()
    child()


def child():
    """A forked process isn't a rank, and ends without harm to its parent."""
    dist.init_process_group("dlrt")
    pid = os.fork()
    if pid == 0:
        try:
            dist.all_reduce(torch.ones(1))
        except RuntimeError as error:
            sys.exit(0 if "fork" in str(error) else 4)
        sys.exit(3)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, status
    check_sum()


def leaver(*_):
    """Rank 0 leaves after init; the others' barrier tells them."""
    dist.init_process_group("dlrt", timeout=timedelta(seconds=60))
    rank = dist.get_rank()
    check_sum()
    if rank == 0:
        return
    begin = time.monotonic()
    try:
        dist.barrier()
        raise AssertionError("a barrier without rank 0")
    except RuntimeError as error:
        assert "rank 0" in str(error), error
        print("told:", error, flush=True)
    assert time.monotonic() - begin < 10
    dist.destroy_process_group()


def absent(*_):
    """Only rank 0 comes."""
    rank, _ = environment()
    store = dist.TCPStore("127.0.0.1", int(os.environ["MASTER_PORT"]), 2, rank == 0)
    if rank == 0:
        begin = time.monotonic()
        try:
            dist.init_process_group(
                "dlrt", store=store, rank=0, world_size=2, timeout=timedelta(seconds=1))
            raise AssertionError("a group of which one is absent")
        except RuntimeError as error:
            assert "missing is rank 1" in str(error), error
        assert time.monotonic() - begin < 20
        store.set("over", "1")
    else:
        store.wait(["over"], timedelta(seconds=60))


def launched(*_):
    """By torchrun."""
    once()
    print("summed", environment(), flush=True)


def main():
    part = {"everyway": everyway, "job": job, "leaver": leaver, "absent": absent,
            "launched": launched}[sys.argv[1]]
    part(*sys.argv[2:])
    print("done", flush=True)


if __name__ == "__main__":
    main()
