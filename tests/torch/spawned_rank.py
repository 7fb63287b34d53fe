# SPDX-License-Identifier: Apache-2.0
"""Ranks made by torch.multiprocessing.spawn, as tutorials do. usage: spawned_rank.py PORT"""
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import dlrt_torch  # noqa: F401


def run(rank, size, port):
    dist.init_process_group(
        "dlrt", init_method="tcp://127.0.0.1:{}".format(port), rank=rank, world_size=size)
    tensor = torch.full((2,), float(rank + 1))
    dist.all_reduce(tensor)
    assert tensor.tolist() == [3.0, 3.0], tensor
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(run, args=(2, int(sys.argv[1])), nprocs=2, join=True)
    print("spawned")
