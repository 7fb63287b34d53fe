# SPDX-License-Identifier: Apache-2.0
"""A rank that runs what the seed's scripts define, as one process under dlrun instead of a child of
mp.spawn.

usage: dlrun -np 3 python3 seed_rank.py FOLDER primitives NAME:PORT...
       dlrun -np 2 python3 seed_rank.py FOLDER training EPOCHS SEED
"""
import functools
import hashlib
import importlib
import os
import sys

import torch


def run_primitives(words):
    """One after another in a process: each begins a process group and destroys it, at a port of its
    own, since torch's store of one may still be there when the next begins."""
    script = importlib.import_module("commu_funcs")
    original = script.setup
    for word in words:
        name, port = word.split(":")
        script.setup = functools.partial(original, port=int(port))
        try:
            script.run(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), name)
        except SystemExit as end:
            if end.code:
                raise


def run_training(epochs, seed):
    script = importlib.import_module("ddp_simple")
    wrapped = []

    def noted(module):
        wrapped.append(original(module))
        return wrapped[-1]

    original, script.DDP = script.DDP, noted
    torch.manual_seed(seed)
    script.train(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), epochs)
    numbers = b"".join(parameter.detach().numpy().tobytes()
                       for parameter in wrapped[0].parameters())
    digest = hashlib.sha256(numbers).hexdigest()
    sys.stdout.write(f"[Rank {os.environ['RANK']}] weights {digest}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    if sys.argv[2] == "primitives":
        run_primitives(sys.argv[3:])
    else:
        run_training(int(sys.argv[3]), int(sys.argv[4]))
