#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small convolutional net, data parallel, to tell in which corner of a noisy picture there
is a bright square. The pictures are made by the program.

usage: dlrun -np 4 python3 train_ddp.py [--epochs N] [--seed N] [--save FILE]

Nothing here is dlrt's but the import and one word: any program that uses torch.distributed runs
with them.
"""
import argparse

import dlrt_torch  # noqa: F401  (registers the backend)
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

PICTURES, UNSEEN, BATCH = 1200, 240, 60


def make_pictures(count, seed):
    """Of 12 x 12, with a square of 4 x 4 in one corner, brighter than the noise by half."""
    generator = torch.Generator().manual_seed(seed)
    pictures = torch.randn(count, 1, 12, 12, generator=generator)
    corners = torch.randint(0, 4, (count,), generator=generator)
    for picture, corner in zip(pictures, corners.tolist()):
        row, column = 8 * (corner // 2), 8 * (corner % 2)
        picture[0, row:row + 4, column:column + 4] += 1.5
    return TensorDataset(pictures, corners)


def make_net():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 36, 4))


def accuracy(net, data):
    """Each rank looks at its part; the parts' counts are added."""
    pictures, corners = data.tensors
    rank, size = dist.get_rank(), dist.get_world_size()
    with torch.no_grad():
        right = (net(pictures[rank::size]).argmax(1) == corners[rank::size]).sum()
    dist.all_reduce(right)
    return right.item() / len(pictures)


def train(options):
    torch.manual_seed(options.seed)
    data, unseen = make_pictures(PICTURES, options.seed), make_pictures(UNSEEN, options.seed + 1)
    net = DistributedDataParallel(make_net())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    sampler = DistributedSampler(data, seed=options.seed)
    # A step sees the same number of pictures for any number of ranks.
    loader = DataLoader(data, batch_size=BATCH // dist.get_world_size(), sampler=sampler)
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)
        losses = []
        for pictures, corners in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(pictures), corners)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        mean = torch.stack(losses).mean() / dist.get_world_size()
        dist.all_reduce(mean)
        part = accuracy(net.module, unseen)
        if dist.get_rank() == 0:
            print(f"epoch {epoch + 1}: loss {mean:.4f}, accuracy {100 * part:.1f} %")
    if options.save and dist.get_rank() == 0:
        torch.save(net.module.state_dict(), options.save)


def main():
    parser = argparse.ArgumentParser(description="Trains a small net, data parallel.")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", metavar="FILE", help="writes the net's weights")
    options = parser.parse_args()
    dist.init_process_group("dlrt")
    train(options)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
