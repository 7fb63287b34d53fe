# SPDX-License-Identifier: Apache-2.0
"""The least program: one all-reduce, and what is asked for on the command line.

usage: dlrun -np N python3 operation_rank.py [tcp] [leave]
"""
import os
import sys

import torch
import torch.distributed as dist

import backend

backend.start(by_port="tcp" in sys.argv)
value = torch.tensor([float(dist.get_rank() + 1)])
dist.all_reduce(value)
backend.say(f"{dist.get_rank()} sum {value.item():g}")
if "leave" in sys.argv:
    if dist.get_rank() == 1:
        # Says nothing to anybody, and its exit status is that of success.
        os._exit(0)
    dist.all_reduce(value)
    backend.say("a sum without rank 1")
dist.destroy_process_group()
