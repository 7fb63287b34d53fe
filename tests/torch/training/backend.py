# SPDX-License-Identifier: Apache-2.0
"""What all drivers of training share: the process group of the backend under test, and running
checks one after another in one job.

A driver is one rank, under dlrun. TORCH_TEST_BACKEND names the backend, dlrt unless it says
gloo, on which the drivers run too, so that a driver's own faults show.
"""
import datetime
import os
import sys

import torch
import torch.distributed as dist

BACKEND = os.environ.pop("TORCH_TEST_BACKEND", "dlrt")
LIMIT = datetime.timedelta(seconds=120)
if BACKEND == "dlrt":
    import dlrt_torch  # noqa: F401  (registers the backend)


def start(by_port=False):
    """By the default way, or through a port that the environment names."""
    torch.set_num_threads(1)
    if by_port:
        place = f"tcp://127.0.0.1:{os.environ['MASTER_PORT']}"
        dist.init_process_group(
            BACKEND, init_method=place, rank=int(os.environ["RANK"]),
            world_size=int(os.environ["WORLD_SIZE"]), timeout=LIMIT)
    else:
        dist.init_process_group(BACKEND, timeout=LIMIT)


def gloo_group():
    """All ranks once more, by the backend that results are compared with."""
    return dist.new_group(backend="gloo", timeout=LIMIT)


def is_first():
    return dist.get_rank() == 0


def say(text):
    """A line that no other rank's output can break."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def run_checks(checks):
    """Those whose names are given on the command line, or all. Each is told of by the first rank
    when every rank has come through it; what a check raises ends the job."""
    start()
    wanted = sys.argv[1:] or [check.__name__ for check in checks]
    for check in checks:
        if check.__name__ not in wanted:
            continue
        torch.manual_seed(1)
        check()
        dist.barrier()
        if is_first():
            say(f"ok {check.__name__}")
    dist.destroy_process_group()


def assert_equal(first, second, what):
    """The same bits."""
    first, second = list(first), list(second)
    assert len(first) == len(second), f"{what}: {len(first)} tensors and {len(second)}"
    for index, (one, other) in enumerate(zip(first, second)):
        if not torch.equal(one, other):
            furthest = (one.double() - other.double()).abs().max().item()
            raise AssertionError(f"{what}: tensor {index} differs by up to {furthest:g}")


def assert_near(first, second, what, tolerance=1e-5):
    """Equal but for rounding: the largest difference, of the size of the largest value."""
    for index, (one, other) in enumerate(zip(list(first), list(second), strict=True)):
        furthest = (one.double() - other.double()).abs().max().item()
        largest = max(other.double().abs().max().item(), 1e-3)
        if not furthest <= tolerance * largest:
            raise AssertionError(
                f"{what}: tensor {index} differs by {furthest:g}, its largest is {largest:g}")


def assert_equal_on_all_ranks(tensors, what):
    for tensor in tensors:
        copies = [torch.empty_like(tensor) for _ in range(dist.get_world_size())]
        dist.all_gather(copies, tensor.contiguous())
        assert_equal(copies, [tensor] * len(copies), what)
