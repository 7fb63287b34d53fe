# SPDX-License-Identifier: Apache-2.0
"""What is measured: each entry is one command line per library and round.

Peers are run as their users start them (`installed`) and as an expert would (`tuned`): malloc keeps
its memory, and waiting ranks yield where ranks share a cpu. No entry treats dlrt differently.
"""
from dataclasses import dataclass, field

TUNED_MALLOC = {
    "MALLOC_MMAP_THRESHOLD_": "33554432",
    "MALLOC_TRIM_THRESHOLD_": "2147483647",
    "MALLOC_TOP_PAD_": "67108864",
}
TUNED_YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1"}


@dataclass(frozen=True)
class Entry:
    """`words` are dlperf's; a start entry is timed from outside instead."""
    name: str
    ranks: int
    words: tuple = ()
    program: str = "dlperf"          # or "true": a program that knows no library
    shares_cpus: bool = False        # no binding, and yielding is what an expert sets
    one_cpu: bool = False            # all ranks on one cpu
    peer_limit_s: float = 60         # a peer that takes longer is left out, and that is said
    peer_rounds: int = 0             # so many at most; 0: as many as dlrt
    is_timed_outside: bool = False
    tags: frozenset = field(default_factory=frozenset)


def entries():
    quick, full = frozenset({"quick"}), frozenset()
    small, large = ("--sizes", "8:4194304"), ("--sizes", "1:4194304")
    found = [
        Entry("latency", 2, ("latency", *small), tags=quick),
        Entry("latency rotated", 2, ("--rotate", "latency", "--sizes", "4096:4194304")),
        # What is one byte beyond a power of two, where protocols change, and very long (case F05).
        Entry(EDGES, 2, ("--batches", "3", "--one-more", "latency", "--sizes", "1:268435456"),
              peer_rounds=2),
        Entry("bandwidth", 2, ("bandwidth", *large), tags=quick),
        Entry("both ways", 2, ("both_ways", *large)),
        Entry("rate", 2, ("rate",), tags=quick),
        Entry("pairs", 8, ("rate",), shares_cpus=True, peer_rounds=2),
        Entry("matching", 2, ("matching",), tags=quick),
        Entry("threads", 2, ("threads",), peer_rounds=2),
        Entry("one cpu", 2, ("--batches", "1", "latency", "--sizes", "8:8"), shares_cpus=True,
              one_cpu=True, peer_limit_s=150, peer_rounds=1, tags=full),
        Entry("ring", 16, ("--batches", "2", "ring"), shares_cpus=True, peer_rounds=2, tags=quick),
        Entry("waiting", 16, ("--wait", "5", "waiting"), shares_cpus=True, peer_rounds=1),
    ]
    for ranks in (16, 64):
        found.append(Entry(f"true x {ranks}", ranks, program="true", shares_cpus=True,
                           is_timed_outside=True, tags=quick if ranks == 16 else full,
                           peer_rounds=0 if ranks == 16 else 2))
        found.append(Entry(f"memory x {ranks}", ranks, ("memory",), shares_cpus=True,
                           peer_rounds=1, tags=quick if ranks == 16 else full))
    for ranks in (2, 16, 64, 128):
        found.append(Entry(f"join x {ranks}", ranks, ("start",), shares_cpus=True,
                           is_timed_outside=True, tags=quick if ranks < 64 else full,
                           peer_rounds=0 if ranks == 2 else 2))
    return found + collective_entries()


def collective_entries():
    quick, full = frozenset({"quick"}), frozenset()
    all_sizes = ("--validate", "--sizes", "4:4194304")
    found = [Entry(name, 2, (name, *all_sizes), tags=quick if name == "all_reduce" else full)
             for name in COLLECTIVES]
    found.append(Entry("all_reduce rotated", 2, ("--rotate", "all_reduce", *all_sizes)))
    # Several kinds in one job: a few sizes of each.
    found.append(Entry("collectives", 2, (
        "--validate", "--sizes", "4:1048576", "--step", "64", "--batches", "3",
        "broadcast", "reduce", "reduce_scatter", "all_gather", "all_to_all"), tags=quick))
    found.append(Entry("barrier", 2, ("barrier", "begun_barrier"), tags=quick))
    # Peers need milliseconds for a message here, 30 ms and more for a call.
    for ranks in (8, 32):
        few = {"shares_cpus": True, "peer_rounds": 1, "peer_limit_s": 90}
        found.append(Entry(f"barrier x {ranks}", ranks, (
            "--batches", "1", "--validate", "--sizes", "8:8", "barrier", "all_reduce"),
            tags=quick if ranks == 8 else full, **few))
        sizes = "4:4096" if ranks == 8 else "64:64"
        for name in (*COLLECTIVES, "begun_barrier"):
            found.append(Entry(f"{name} x {ranks}", ranks, (
                "--batches", "1", "--validate", "--sizes", sizes, "--step", "32", name), **few))
    return found


EDGES = "edges"
COLLECTIVES = (
    "all_reduce", "broadcast", "reduce", "reduce_scatter", "all_gather", "all_to_all", "gather",
    "scatter", "scan", "exclusive_scan", "all_gatherv", "all_to_allv", "begun_all_reduce")
HIGHER_IS_BETTER = {"MB/s", "M/s"}
