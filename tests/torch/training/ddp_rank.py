# SPDX-License-Identifier: Apache-2.0
"""A rank of DistributedDataParallel on generated data, against one process on the whole batch and
against gloo.

usage: dlrun -np N python3 ddp_rank.py [CHECK...]
"""
import torch
import torch.distributed as dist
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.distributed.optim import ZeroRedundancyOptimizer

import backend
from models import (
    ConvolutionalNet, NetWithUnusedPart, TransformerBlock, made, picture_batches, share_of,
    token_batches, train, value_batches,
)

STEPS = 5


def sgd(net):
    return torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)


def own_share(batches):
    return [share_of(batch, dist.get_rank(), dist.get_world_size()) for batch in batches]


def train_alone(net, batches, make_optimizer=sgd):
    train(net, make_optimizer(net), batches)
    return [parameter.detach() for parameter in net.parameters()]


def train_together(net, batches, group=None, make_optimizer=sgd, **options):
    """Data parallel, in buckets of 4 KiB unless something else is said, so that there are
    several."""
    options.setdefault("bucket_cap_mb", 4 / 1024)
    wrapped = DistributedDataParallel(net, process_group=group, **options)
    train(wrapped, make_optimizer(wrapped), own_share(batches))
    return [parameter.detach() for parameter in net.parameters()]


def assert_same_bits_as_gloo(parameters, train_by_gloo, what):
    """Where two numbers are added there is one order only; with more ranks it is the
    algorithm's."""
    others = train_by_gloo(backend.gloo_group())
    if dist.get_world_size() == 2:
        backend.assert_equal(parameters, others, what + ", against gloo")
    backend.assert_near(parameters, others, what + ", against gloo", 1e-4)


def compare_ways(kind, batches, what, **options):
    parameters = train_together(made(kind), batches, **options)
    backend.assert_equal_on_all_ranks(parameters, what)
    backend.assert_near(
        parameters, train_alone(made(kind), batches), what + ", against one process", 1e-4)
    assert_same_bits_as_gloo(
        parameters, lambda group: train_together(made(kind), batches, group, **options), what)


def convolutional_net():
    compare_ways(ConvolutionalNet, picture_batches(STEPS), "convolutional net")


def transformer_block():
    compare_ways(TransformerBlock, token_batches(STEPS), "transformer block")


def one_bucket_and_gradients_as_views():
    compare_ways(
        TransformerBlock, token_batches(STEPS), "one bucket", bucket_cap_mb=25,
        gradient_as_bucket_view=True)


def static_graph():
    compare_ways(ConvolutionalNet, picture_batches(STEPS), "static graph", static_graph=True)


def parts_that_a_step_leaves_unused():
    compare_ways(
        NetWithUnusedPart, value_batches(STEPS), "unused parts", find_unused_parameters=True)


def buffers_go_out_from_the_first_rank():
    """Statistics of a batch are those of the rank's share, so one process finds others."""
    batches = picture_batches(STEPS)

    def train_by(group):
        net = made(ConvolutionalNet, True)
        parameters = train_together(net, batches, group)
        # Forward sends out the buffers before it changes them.
        wrapped = DistributedDataParallel(net, process_group=group)
        return [*parameters, *(buffer.detach().clone() for buffer in wrapped.module.buffers())]

    ours = train_by(None)
    backend.assert_equal_on_all_ranks(ours, "buffers")
    assert_same_bits_as_gloo(ours, train_by, "net with statistics")


def doubles():
    def net():
        return made(ConvolutionalNet).double()

    batches = [(inputs.double(), labels) for inputs, labels in picture_batches(STEPS)]
    parameters = train_together(net(), batches)
    backend.assert_near(parameters, train_alone(net(), batches), "doubles", 1e-12)
    assert_same_bits_as_gloo(
        parameters, lambda group: train_together(net(), batches, group), "doubles")


def accumulation_without_synchronisation():
    """Two micro-batches, the first in no_sync, make the step of the whole."""
    batches = picture_batches(STEPS)
    net = made(ConvolutionalNet)
    wrapped = DistributedDataParallel(net)
    optimizer = sgd(net)
    for inputs, labels in own_share(batches):
        optimizer.zero_grad()
        half = len(inputs) // 2
        with wrapped.no_sync():
            (functional.cross_entropy(wrapped(inputs[:half]), labels[:half]) / 2).backward()
        (functional.cross_entropy(wrapped(inputs[half:]), labels[half:]) / 2).backward()
        optimizer.step()
    parameters = [parameter.detach() for parameter in net.parameters()]
    backend.assert_equal_on_all_ranks(parameters, "accumulation")
    backend.assert_near(
        parameters, train_alone(made(ConvolutionalNet), batches), "accumulation", 1e-4)


def hooked(hook, state_of=lambda group: group):
    def run(group):
        net = made(ConvolutionalNet)
        wrapped = DistributedDataParallel(net, process_group=group)
        wrapped.register_comm_hook(state_of(group), hook)
        train(wrapped, sgd(net), own_share(picture_batches(STEPS)))
        return [parameter.detach() for parameter in net.parameters()]
    return run


def gradients_compressed_to_half():
    run = hooked(default_hooks.fp16_compress_hook)
    parameters = run(None)
    backend.assert_equal_on_all_ranks(parameters, "half")
    alone = train_alone(made(ConvolutionalNet), picture_batches(STEPS))
    backend.assert_near(parameters, alone, "half, against one process", 2e-2)
    if dist.get_world_size() == 2:
        assert_same_bits_as_gloo(parameters, run, "half")


def bfloat16_hook(group, bucket):
    """Under its own name torch asks for NCCL."""
    return default_hooks.bf16_compress_hook(group, bucket)


def gradients_compressed_to_bfloat16():
    """Which gloo does not add."""
    parameters = hooked(bfloat16_hook)(None)
    backend.assert_equal_on_all_ranks(parameters, "bfloat16")
    alone = train_alone(made(ConvolutionalNet), picture_batches(STEPS))
    backend.assert_near(parameters, alone, "bfloat16, against one process", 1e-1)


def gradients_compressed_to_low_rank():
    """A hook that begins further reductions in the continuation of one."""
    def state_of(group):
        return powerSGD_hook.PowerSGDState(
            process_group=group, matrix_approximation_rank=2, start_powerSGD_iter=2, random_seed=1)

    run = hooked(powerSGD_hook.powerSGD_hook, state_of)
    parameters = run(None)
    backend.assert_equal_on_all_ranks(parameters, "low rank")
    assert_same_bits_as_gloo(parameters, run, "low rank")


def optimizer_state_in_shares():
    """ZeRO: every rank steps its share of the parameters and sends it to the others."""
    batches = token_batches(STEPS)

    def in_shares(net):
        return ZeroRedundancyOptimizer(net.parameters(), torch.optim.Adam, lr=0.01)

    def whole(net):
        return torch.optim.Adam(net.parameters(), lr=0.01)

    parameters = train_together(made(TransformerBlock), batches, make_optimizer=in_shares)
    backend.assert_equal_on_all_ranks(parameters, "state in shares")
    backend.assert_equal(
        parameters, train_together(made(TransformerBlock), batches, make_optimizer=whole),
        "state in shares, against the whole")


def consolidated_state():
    """A checkpoint of all shares comes together on one rank, as bytes of any length."""
    net = made(TransformerBlock)
    optimizer = ZeroRedundancyOptimizer(net.parameters(), torch.optim.Adam, lr=0.01)
    train(DistributedDataParallel(net), optimizer, own_share(token_batches(2)))
    optimizer.consolidate_state_dict(to=0)
    if backend.is_first():
        state = optimizer.state_dict()["state"]
        assert len(state) == len(list(net.parameters())), len(state)
        assert all(entry["exp_avg"].abs().sum() > 0 for entry in state.values())


def groups_of_half_the_ranks():
    """Each half trains for itself on other data."""
    rank, size = dist.get_rank(), dist.get_world_size()
    if size < 4:
        return
    halves = [dist.new_group(range(size // 2)), dist.new_group(range(size // 2, size))]
    half = 0 if rank < size // 2 else 1
    batches = picture_batches(STEPS, seed=20 + half)
    net = made(ConvolutionalNet)
    wrapped = DistributedDataParallel(net, process_group=halves[half])
    share = [share_of(batch, rank % (size // 2), size // 2) for batch in batches]
    train(wrapped, sgd(net), share)
    backend.assert_near(
        [parameter.detach() for parameter in net.parameters()],
        train_alone(made(ConvolutionalNet), batches), "half of the ranks", 1e-4)


if __name__ == "__main__":
    checks = [
        convolutional_net, transformer_block, one_bucket_and_gradients_as_views, static_graph,
        parts_that_a_step_leaves_unused, buffers_go_out_from_the_first_rank, doubles,
        accumulation_without_synchronisation, gradients_compressed_to_half,
        gradients_compressed_to_low_rank, optimizer_state_in_shares, consolidated_state,
        groups_of_half_the_ranks,
    ]
    if backend.BACKEND != "gloo":
        checks.append(gradients_compressed_to_bfloat16)
    backend.run_checks(checks)
