#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One rank of a measurement of torch.distributed, the same for each backend. The first rank prints
a line of JSON for each result.

usage: dlrun -np N python3 torch_step.py BACKEND all_reduce SIZE_BYTES...
       dlrun -np N python3 torch_step.py BACKEND step|start
"""
import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist

BATCHES = 5
BATCH_S = 0.15


def say(test, size, value, unit):
    if int(os.environ["RANK"]) == 0:
        print(json.dumps({"test": test, "size": size, "value": value, "unit": unit}), flush=True)


def slowest(value):
    tensor = torch.tensor([value], dtype=torch.float64)
    dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
    return tensor.item()


def spent_s(call, count):
    dist.barrier()
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return slowest(time.perf_counter() - begin)


def measure_all_reduce(sizes):
    """The best batch's mean of a call, of the rank that takes longest."""
    for size in sizes:
        tensor = torch.zeros(size // 4)

        def call(tensor=tensor):
            dist.all_reduce(tensor)

        # All ranks find the same count, since all have the slowest's time.
        warm_s = spent_s(call, 5) / 5
        count = max(3, min(2000, int(BATCH_S / warm_s)))
        best_s = min(spent_s(call, count) / count for _ in range(BATCHES))
        say("all_reduce", size, best_s * 1e6, "us")


class Net(torch.nn.Module):
    """A million parameters: 4 MiB of gradients in several buckets."""

    def __init__(self):
        super().__init__()
        width = 512
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(256, width), torch.nn.ReLU(), torch.nn.Linear(width, width),
            torch.nn.ReLU(), torch.nn.Linear(width, width), torch.nn.ReLU(),
            torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, 256))

    def forward(self, values):
        return self.layers(values)


def measure_step():
    """Steps with and without the exchange of gradients take turns; what the medians differ by is
    communication, less what backward hides of it."""
    torch.manual_seed(1)
    net = torch.nn.parallel.DistributedDataParallel(Net(), bucket_cap_mb=1)
    values = torch.randn(16, 256)

    def step_s():
        begin = time.perf_counter()
        net(values).square().mean().backward()
        return time.perf_counter() - begin

    together, alone = [], []
    for number in range(34):
        net.zero_grad(set_to_none=False)
        dist.barrier()
        with_exchange_s = step_s()
        net.zero_grad(set_to_none=False)
        dist.barrier()
        with net.no_sync():
            without_s = step_s()
        # The first ones make buckets and warm up.
        if number >= 4:
            together.append(with_exchange_s)
            alone.append(without_s)
    step, rest = slowest(statistics.median(together)), slowest(statistics.median(alone))
    say("step", 0, step * 1e3, "ms")
    say("step alone", 0, rest * 1e3, "ms")
    say("communication", 0, max(100 * (step - rest) / step, 0.1), "%")


def measure_start(backend):
    """From a store that is there already. The first time in a process, and the best of the others,
    with a barrier, so that whoever connects only then is counted too."""
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    store = dist.TCPStore(
        os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), size, rank == 0)
    times = []
    for number in range(4):
        own = dist.PrefixStore(f"round {number}", store)
        store.add(f"here {number}", 1)
        while store.add(f"here {number}", 0) < size:
            time.sleep(0.002)
        begin = time.perf_counter()
        dist.init_process_group(backend, store=own, rank=rank, world_size=size)
        dist.barrier()
        dist.destroy_process_group()
        times.append(time.perf_counter() - begin)
    store.set(f"times {rank}", json.dumps(times))
    if rank == 0:
        times = [json.loads(store.get(f"times {other}")) for other in range(size)]
        slowest_of = [max(values) for values in zip(*times)]
        say("start", size, slowest_of[0] * 1e3, "ms")
        say("start again", size, min(slowest_of[1:]) * 1e3, "ms")
        store.set("over", "1")
    else:
        store.wait(["over"])
    # The owner of the store leaves last.
    store.add("gone", 1)
    while rank == 0 and store.add("gone", 0) < size:
        time.sleep(0.002)


def main():
    backend, test, *words = sys.argv[1:]
    if backend == "dlrt":
        import dlrt_torch  # noqa: F401  (registers the backend)
    torch.set_num_threads(1)
    if test == "start":
        measure_start(backend)
        return
    dist.init_process_group(backend)
    if test == "all_reduce":
        measure_all_reduce([int(word) for word in words])
    else:
        measure_step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
