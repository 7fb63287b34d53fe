#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the collectives of torch.distributed do: each rank says what it has before and after.

usage: dlrun -np 3 python3 collectives.py [OPERATION...]
"""
import sys

import dlrt_torch  # noqa: F401  (registers the backend)
import torch
import torch.distributed as dist


def own(length=4):
    """Everywhere rank + 1."""
    return torch.full((length,), dist.get_rank() + 1.0)


def rooms(length=4):
    return [torch.zeros(length) for _ in range(dist.get_world_size())]


def broadcast():
    tensor = own()
    dist.broadcast(tensor, src=0)
    return own(), tensor


def reduce():
    tensor = own()
    dist.reduce(tensor, dst=0)
    return own(), tensor if dist.get_rank() == 0 else None


def all_reduce():
    tensor = own()
    dist.all_reduce(tensor)
    return own(), tensor


def gather():
    parts = rooms() if dist.get_rank() == 0 else None
    dist.gather(own(), parts, dst=0)
    return own(), parts


def all_gather():
    parts = rooms()
    dist.all_gather(parts, own())
    return own(), parts


def scatter():
    parts = None
    if dist.get_rank() == 0:
        parts = [torch.full((4,), 10.0 * rank) for rank in range(dist.get_world_size())]
    tensor = torch.zeros(4)
    dist.scatter(tensor, parts, src=0)
    return parts, tensor


def reduce_scatter():
    parts = [own(2) * 10 ** rank for rank in range(dist.get_world_size())]
    tensor = torch.zeros(2)
    dist.reduce_scatter(tensor, parts)
    return parts, tensor


def barrier():
    dist.barrier()
    return "here", "everybody was here"


OPERATIONS = [broadcast, reduce, all_reduce, gather, all_gather, scatter, reduce_scatter, barrier]


def shown(value):
    """Numbers without the word tensor."""
    if isinstance(value, list):
        return "[" + ", ".join(shown(part) for part in value) + "]"
    if isinstance(value, torch.Tensor):
        return "[" + ", ".join(f"{number:g}" for number in value.tolist()) + "]"
    return "nothing" if value is None else value


def main():
    wanted = sys.argv[1:] or [operation.__name__ for operation in OPERATIONS]
    known = {operation.__name__: operation for operation in OPERATIONS}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"collectives.py: there is no {unknown[0]}; valid: {', '.join(known)}")
    dist.init_process_group("dlrt")
    for name in wanted:
        before, after = known[name]()
        print(f"{name}: rank {dist.get_rank()}: {shown(before)} -> {shown(after)}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
