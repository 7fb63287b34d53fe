# SPDX-License-Identifier: Apache-2.0
"""What collectives and torch are to reach: ratios of dlrt to the better peer, by test, ranks and
size.

One row of TARGETS holds for a range of sizes; the two ratios are those to the peers as installed
and to the tuned ones. Rows of a job of other ranks or sizes have no target.
"""
from dataclasses import dataclass

from entries import entries


@dataclass(frozen=True)
class Target:
    tests: tuple
    ranks: int
    least_bytes: int
    most_bytes: int
    installed: float
    tuned: float


KIB, MIB = 1 << 10, 1 << 20
OTHERS = ("broadcast", "all_gather", "all_to_all", "reduce_scatter", "reduce")
TARGETS = (
    Target(("all_reduce",), 2, 8, 4 * KIB, 0.5, 0.7),
    Target(("all_reduce",), 2, 16 * KIB, MIB, 0.35, 0.7),
    Target(("all_reduce",), 2, 4 * MIB, 4 * MIB, 0.5, 0.95),
    Target(OTHERS, 2, 4, MIB, 0.9, 1.0),
    Target(("all_reduce",), 8, 8, 8, 0.5, 0.5),
    Target(("all_reduce",), 32, 8, 8, 0.35, 0.35),
    # A barrier has no size: its rows have the number of ranks there.
    Target(("barrier",), 8, 8, 8, 0.5, 0.5),
    Target(("barrier",), 32, 32, 32, 0.35, 0.35),
)


def target_of(key):
    """Of a row (entry, test, size); None where nothing is asked."""
    name, test, size = key
    ranks = next((entry.ranks for entry in entries() if entry.name == name), None)
    for target in TARGETS:
        if (test in target.tests and ranks == target.ranks
                and target.least_bytes <= size <= target.most_bytes):
            return target
    return None


# Of torch.distributed on dlrt to gloo: (entry, test, size) -> ratio.
TORCH_TARGETS = {
    ("torch all_reduce", "all_reduce", KIB): 0.1,
    ("torch all_reduce", "all_reduce", MIB): 0.3,
    ("torch all_reduce", "all_reduce", 25 * MIB): 0.5,
    ("torch all_reduce x 8", "all_reduce", KIB): 0.05,
    ("torch all_reduce x 8", "all_reduce", MIB): 0.2,
    ("torch step", "communication", 0): 0.5,
    ("torch start", "start", 4): 0.5,
}
TORCH_LAYER_US = 15


def torch_target_of(key):
    return TORCH_TARGETS.get(key)
