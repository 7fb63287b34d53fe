# SPDX-License-Identifier: Apache-2.0
"""A rank of a training run and what belongs to it: ranks with unequal data, checkpoints, a loader
with workers, memory over many steps.

usage: dlrun -np N python3 run_rank.py [CHECK...]; STEPS=N for the check of memory
"""
import os
import tempfile

import torch
import torch.distributed as dist
from torch.distributed.algorithms.join import Join
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

import backend
from models import (
    ConvolutionalNet, TransformerBlock, made, picture_batches, share_of, token_batches, train,
)

STEPS_OF_MEMORY = int(os.environ.get("STEPS", "500"))
WARM_STEPS = 100
# The allocator's pools move by some hundred KiB; a tensor a step that is kept makes 10 MiB.
GROWTH_MAX_KIB = 4096


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9)


def parameters_of(net):
    return [parameter.detach() for parameter in net.parameters()]


def unequal_numbers_of_batches():
    """Rank r has 2 + 2 r batches. Whoever is through answers for the others."""
    def run(group):
        net = made(ConvolutionalNet)
        wrapped = DistributedDataParallel(net, process_group=group, bucket_cap_mb=4 / 1024)
        own = picture_batches(2 + 2 * dist.get_rank(), samples=4, seed=dist.get_rank())
        with wrapped.join():
            train(wrapped, sgd(net.parameters()), own)
        return parameters_of(net)

    ours = run(None)
    backend.assert_equal_on_all_ranks(ours, "unequal")
    theirs = run(backend.gloo_group())
    if dist.get_world_size() == 2:
        backend.assert_equal(ours, theirs, "unequal, against gloo")


def unequal_numbers_of_batches_with_shares():
    net = made(ConvolutionalNet)
    wrapped = DistributedDataParallel(net)
    optimizer = ZeroRedundancyOptimizer(net.parameters(), torch.optim.SGD, lr=0.1)
    own = picture_batches(3 + dist.get_rank(), samples=4, seed=dist.get_rank())
    with Join([wrapped, optimizer]):
        train(wrapped, optimizer, own)
    backend.assert_equal_on_all_ranks(parameters_of(net), "unequal with shares")


def resumed_from_a_checkpoint():
    """Three steps, a file by the first rank, three steps in other objects: as six in one go."""
    batches = [share_of(batch, dist.get_rank(), dist.get_world_size())
               for batch in token_batches(6)]
    straight = made(TransformerBlock)
    train(DistributedDataParallel(straight), sgd(straight.parameters()), batches)

    net = made(TransformerBlock)
    wrapped, optimizer = DistributedDataParallel(net), sgd(net.parameters())
    train(wrapped, optimizer, batches[:3])
    name = [tempfile.mkstemp(suffix=".pt")[1] if backend.is_first() else None]
    dist.broadcast_object_list(name, src=0)
    if backend.is_first():
        torch.save({"net": wrapped.state_dict(), "optimizer": optimizer.state_dict()}, name[0])
    dist.barrier()
    resumed = made(TransformerBlock, seed=99)
    wrapped, optimizer = DistributedDataParallel(resumed), sgd(resumed.parameters())
    saved = torch.load(name[0], map_location="cpu")
    wrapped.load_state_dict(saved["net"])
    optimizer.load_state_dict(saved["optimizer"])
    dist.barrier()
    if backend.is_first():
        os.unlink(name[0])
    train(wrapped, optimizer, batches[3:])
    backend.assert_equal(parameters_of(resumed), parameters_of(straight), "resumed")


class Pictures(Dataset):
    """Each made when a worker asks for it; says which process did, in the label's place."""

    def __init__(self):
        self.pictures = torch.randn(48, 1, 8, 8, generator=torch.Generator().manual_seed(2))

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        return self.pictures[index], index % 5, os.getpid()


def loader_with_forked_workers():
    def run(workers):
        data = Pictures()
        sampler = DistributedSampler(data, shuffle=True, seed=4)
        loader = DataLoader(data, batch_size=6, sampler=sampler, num_workers=workers)
        net = made(ConvolutionalNet)
        wrapped, optimizer = DistributedDataParallel(net), sgd(net.parameters())
        pids = set()
        for epoch in range(2):
            sampler.set_epoch(epoch)
            for pictures, labels, makers in loader:
                pids.update(makers.tolist())
                train(wrapped, optimizer, [(pictures, labels)])
        return parameters_of(net), pids

    by_workers, pids = run(2)
    assert len(pids) == 4 and os.getpid() not in pids, pids
    here, pids = run(0)
    assert pids == {os.getpid()}, pids
    backend.assert_equal(by_workers, here, "loaded by workers")


def forked_child_is_refused():
    """It gets an error, and what its parent does is not disturbed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            dist.all_reduce(torch.ones(3))
            text = "no error"
        except BaseException as error:  # noqa: B902  (whatever it is, the parent looks at it)
            text = f"{type(error).__name__}: {error}"
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    assert text.startswith("RuntimeError: ") and "fork" in text, text
    value = torch.ones(3)
    dist.all_reduce(value)
    assert value.tolist() == [dist.get_world_size()] * 3


def resident_kib():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


def memory_stays_flat():
    net = made(TransformerBlock)
    wrapped = DistributedDataParallel(net, bucket_cap_mb=4 / 1024)
    optimizer = sgd(net.parameters())
    batches = token_batches(4, samples=8)
    warm_kib = descriptors = 0
    for step in range(STEPS_OF_MEMORY):
        if step == WARM_STEPS:
            warm_kib, descriptors = resident_kib(), len(os.listdir("/proc/self/fd"))
        train(wrapped, optimizer, [batches[step % 4]])
        objects = [None] * dist.get_world_size()
        dist.all_gather_object(objects, step)
    growth_kib = resident_kib() - warm_kib
    assert growth_kib <= GROWTH_MAX_KIB, \
        f"{growth_kib} KiB more after {STEPS_OF_MEMORY} steps than after {WARM_STEPS}"
    assert len(os.listdir("/proc/self/fd")) <= descriptors + 1


if __name__ == "__main__":
    checks = [
        unequal_numbers_of_batches, unequal_numbers_of_batches_with_shares,
        resumed_from_a_checkpoint, loader_with_forked_workers, memory_stays_flat,
    ]
    if backend.BACKEND != "gloo":
        checks.append(forked_child_is_refused)
    backend.run_checks(checks)
