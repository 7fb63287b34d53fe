# SPDX-License-Identifier: Apache-2.0
"""A rank that starts from torch's variables alone, on whichever host. usage: hosts_rank.py"""
import torch
import torch.distributed as dist

import dlrt_torch  # noqa: F401  pylint: disable=unused-import

dist.init_process_group("dlrt")
size = dist.get_world_size()
for group in (None, dist.new_group(list(range(size)))):
    tensor = torch.full((1 << 18,), float(dist.get_rank() + 1))
    dist.all_reduce(tensor, group=group)
    expected = float(size * (size + 1) // 2)
    assert tensor.tolist() == [expected] * len(tensor), tensor
dist.destroy_process_group()
print("done", flush=True)
