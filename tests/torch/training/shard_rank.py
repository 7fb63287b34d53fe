# SPDX-License-Identifier: Apache-2.0
"""A rank that holds a shard of every layer's parameters, by the calls that FullyShardedDataParallel
makes: all-gather of a flat parameter before a layer is used, in forward and again in backward,
reduce-scatter of its gradient, an all-reduce for the norm of all gradients, a broadcast at the
start, and with groups of ranks (hybrid sharding) an all-reduce of the shards among them.

The class itself can't be imported with every torch that the backend is for; that of Debian 12 is
one.

usage: dlrun -np N python3 shard_rank.py [CHECK...]
"""
import torch
import torch.utils.checkpoint
import torch.distributed as dist
from torch.nn import functional

import backend
from models import TransformerBlock, made, share_of, token_batches

STEPS, RATE, NORM_MAX = 4, 0.2, 0.5


class Gathered(torch.autograd.Function):
    """The whole flat parameter out of its shards; backward adds the ranks' gradients, and each
    keeps its shard's."""

    @staticmethod
    def forward(context, shard, unit):
        context.unit = unit
        return unit.gather(shard)

    @staticmethod
    def backward(context, gradient):
        return context.unit.scatter(gradient), None


class ShardedUnit:
    """One layer's parameters: flattened, padded to equal shards, and this rank's of them."""

    def __init__(self, layer, group, replicas, dtype):
        self.layer, self.group, self.replicas, self.dtype = layer, group, replicas, dtype
        self.size = dist.get_world_size(group)
        self.names = [name for name, _ in layer.named_parameters()]
        parameters = [parameter.detach() for _, parameter in layer.named_parameters()]
        self.shapes = [parameter.shape for parameter in parameters]
        flat = torch.cat([parameter.flatten() for parameter in parameters])
        self.length = -(-flat.numel() // self.size)
        padded = functional.pad(flat, (0, self.length * self.size - flat.numel()))
        self.whole_length = flat.numel()
        rank = dist.get_rank(group)
        self.shard = padded[rank * self.length:(rank + 1) * self.length].clone()
        self.shard.requires_grad_()

    def gather(self, shard):
        low = shard.detach().to(self.dtype)
        whole = torch.empty(self.length * self.size, dtype=self.dtype)
        dist._all_gather_base(whole, low, group=self.group, async_op=True).wait()
        return whole

    def scatter(self, gradient):
        share = torch.empty(self.length, dtype=self.dtype)
        gradient = gradient.contiguous() / dist.get_world_size()
        work = dist._reduce_scatter_base(share, gradient, group=self.group, async_op=True)
        work.wait()
        if self.replicas is not None:
            dist.all_reduce(share, group=self.replicas)
        return share.to(self.shard.dtype)

    def __call__(self, *inputs):
        def use(shard, *inputs):
            whole = Gathered.apply(shard, self)[:self.whole_length].to(torch.float32)
            parts = whole.split([shape.numel() for shape in self.shapes])
            named = {name: part.view(shape)
                     for name, part, shape in zip(self.names, parts, self.shapes)}
            return torch.nn.utils.stateless.functional_call(self.layer, named, inputs)
        # As resharding after forward: backward gathers the parameters a second time.
        return torch.utils.checkpoint.checkpoint(use, self.shard, *inputs, use_reentrant=False)

    def whole(self):
        return self.gather(self.shard)[:self.whole_length].to(torch.float32)


def layers_of(net):
    return [net.embedding, net.block, net.output]


def clipped(squares, gradients):
    factor = min(1.0, NORM_MAX / (squares.sqrt().item() + 1e-6))
    return [gradient * factor for gradient in gradients]


def run_sharded(group=None, replicas=None, dtype=torch.float32):
    """All ranks begin with the first one's weights."""
    net = made(TransformerBlock, seed=11 + dist.get_rank())
    for parameter in net.parameters():
        dist.broadcast(parameter.detach(), src=0)
    units = [ShardedUnit(layer, group, replicas, dtype) for layer in layers_of(net)]
    for batch in token_batches(STEPS):
        inputs, labels = share_of(batch, dist.get_rank(), dist.get_world_size())
        value = units[1](units[0](inputs))
        loss = functional.cross_entropy(units[2](value[:, -1]), labels)
        for unit in units:
            unit.shard.grad = None
        loss.backward()
        squares = sum(unit.shard.grad.square().sum() for unit in units)
        dist.all_reduce(squares, group=group)
        for unit, gradient in zip(units, clipped(squares, [unit.shard.grad for unit in units])):
            unit.shard.data -= RATE * gradient
    return [unit.whole() for unit in units]


def run_alone():
    net = made(TransformerBlock)
    for inputs, labels in token_batches(STEPS):
        net.zero_grad()
        functional.cross_entropy(net(inputs), labels).backward()
        parameters = list(net.parameters())
        squares = sum(parameter.grad.square().sum() for parameter in parameters)
        gradients = clipped(squares, [parameter.grad for parameter in parameters])
        for parameter, gradient in zip(parameters, gradients):
            parameter.data -= RATE * gradient
    return [torch.cat([parameter.detach().flatten() for parameter in layer.parameters()])
            for layer in layers_of(net)]


def full_shards():
    together = run_sharded()
    backend.assert_equal_on_all_ranks(together, "full shards")
    backend.assert_near(together, run_alone(), "full shards", 1e-4)


def shards_gathered_as_bfloat16():
    together = run_sharded(dtype=torch.bfloat16)
    backend.assert_equal_on_all_ranks(together, "bfloat16 shards")
    backend.assert_near(together, run_alone(), "bfloat16 shards", 5e-2)


def shards_within_groups():
    """Hybrid: ranks 0 and 1 hold a whole, 2 and 3 another; equal shards are reduced across."""
    size = dist.get_world_size()
    if size != 4:
        return
    groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    replicas = [dist.new_group([0, 2]), dist.new_group([1, 3])]
    rank = dist.get_rank()
    together = run_sharded(groups[rank // 2], replicas[rank % 2])
    backend.assert_equal_on_all_ranks(together, "hybrid shards")
    backend.assert_near(together, run_alone(), "hybrid shards", 1e-4)


if __name__ == "__main__":
    backend.run_checks([full_shards, shards_gathered_as_bfloat16, shards_within_groups])
