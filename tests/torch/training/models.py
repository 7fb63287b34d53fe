# SPDX-License-Identifier: Apache-2.0
"""The nets that tests train, and their data, made from seeds: every rank makes the same."""
import torch
from torch import nn
from torch.nn import functional

SAMPLES = 24


class ConvolutionalNet(nn.Module):
    """Two convolutions and two linear layers on pictures of 8 x 8."""

    def __init__(self, has_statistics=False):
        super().__init__()
        self.first = nn.Conv2d(1, 6, 3, padding=1)
        # Its mean and variance are buffers, which the first rank's go out from.
        self.norm = nn.BatchNorm2d(6) if has_statistics else nn.GroupNorm(2, 6)
        self.second = nn.Conv2d(6, 8, 3, padding=1)
        self.hidden = nn.Linear(8 * 2 * 2, 24)
        self.output = nn.Linear(24, 5)

    def forward(self, pictures):
        value = functional.max_pool2d(functional.relu(self.norm(self.first(pictures))), 2)
        value = functional.max_pool2d(functional.relu(self.second(value)), 2)
        return self.output(torch.tanh(self.hidden(value.flatten(1))))


class TransformerBlock(nn.Module):
    """An embedding, one block of attention and feed-forward, and a linear layer on the last
    token."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(17, 16)
        self.block = nn.TransformerEncoderLayer(
            16, nhead=4, dim_feedforward=32, dropout=0.0, batch_first=True)
        self.output = nn.Linear(16, 5)

    def forward(self, tokens):
        return self.output(self.block(self.embedding(tokens))[:, -1])


class NetWithUnusedPart(nn.Module):
    """Which of its two branches is used depends on the step."""

    def __init__(self):
        super().__init__()
        self.branches = nn.ModuleList([nn.Linear(6, 5), nn.Linear(6, 5)])
        self.step = 0

    def forward(self, values):
        self.step += 1
        return self.branches[self.step % 2](values)


def picture_batches(steps, samples=SAMPLES, seed=3):
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randn(samples, 1, 8, 8, generator=generator),
             torch.randint(0, 5, (samples,), generator=generator)) for _ in range(steps)]


def token_batches(steps, samples=SAMPLES, seed=5):
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randint(0, 17, (samples, 7), generator=generator),
             torch.randint(0, 5, (samples,), generator=generator)) for _ in range(steps)]


def value_batches(steps, samples=SAMPLES, seed=7):
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randn(samples, 6, generator=generator),
             torch.randint(0, 5, (samples,), generator=generator)) for _ in range(steps)]


def made(kind, *arguments, seed=11):
    """The same weights in every process."""
    torch.manual_seed(seed)
    return kind(*arguments)


def share_of(batch, rank, size):
    """A rank's part of a batch; parts are equally long, so that the mean of the ranks' mean losses
    is that of the whole batch."""
    length = len(batch[0]) // size
    return tuple(part[rank * length:(rank + 1) * length] for part in batch)


def train(net, optimizer, batches):
    """One step each; the last loss."""
    loss = None
    for inputs, labels in batches:
        optimizer.zero_grad()
        loss = functional.cross_entropy(net(inputs), labels)
        loss.backward()
        optimizer.step()
    return loss.item()
