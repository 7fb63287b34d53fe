# SPDX-License-Identifier: Apache-2.0
"""What forked ranks of the cases do to come together, by torch's store alone."""
import datetime
import os
import sys
import time

import torch
import torch.distributed as dist

BACKEND = os.environ.get("TORCH_TEST_BACKEND", "dlrt")
sys.path.insert(0, os.environ["PACKAGE"])
if BACKEND == "dlrt":
    import dlrt_torch  # noqa: F401  (registers the backend)


def seconds(number):
    return datetime.timedelta(seconds=number)


def join(rank, size, place, limit_s=30):
    """`place` is a URL, or a store."""
    torch.set_num_threads(1)
    where = {"init_method": place} if isinstance(place, str) else {"store": place}
    dist.init_process_group(
        BACKEND, rank=rank, world_size=size, timeout=seconds(limit_s), **where)


def outcome(function, *arguments, **named):
    """What it returned or how it raised, and how long that took."""
    begin = time.monotonic()
    try:
        text = function(*arguments, **named)
    except Exception as error:  # noqa: B902  (the case judges it)
        text = f"{type(error).__name__}: {error}"
    return text, time.monotonic() - begin


def total_of(value, length=1):
    """The sum over ranks, by one all-reduce."""
    tensor = torch.full((length,), float(value))
    dist.all_reduce(tensor)
    return tensor[0].item()


def work_refused(function, *arguments, **named):
    """For operations that must fail, now or in wait()."""
    work = function(*arguments, async_op=True, **named)
    work.wait()
    return "no error"
