# SPDX-License-Identifier: Apache-2.0
"""The table for people: worst ratio first, both baselines, the machine's limit beside, and what is
to be reached."""
from edges import edge_lines
from entries import EDGES
from targets import target_of

LIMITS = {
    "latency": ("limit_ring_plain", "limit_ring_streaming", "limit_line_hop",
                "limit_cross_memory"),
    # On memory that both ranks share, which that of most programs isn't.
    "all_reduce": ("limit_all_reduce",),
}
MPI_H = "dlrt+mpi.h"
COLUMNS = ("dlrt", MPI_H, "openmpi", "openmpi+tuned", "mpich", "mpich+tuned")
INSTALLED, TUNED = ("openmpi", "mpich"), ("openmpi+tuned", "mpich+tuned")


def limit_of(samples, entry, test, size):
    """The best that this machine can do for such a message, where that has been measured."""
    if " x " in entry:
        return None  # Of more than two ranks.
    found = [samples.best(("limits", name, size), "machine")
             for name in LIMITS.get(test, ()) if ("limits", name, size) in samples.values]
    return min((value for value in found if value), default=None)


def rows_of(samples):
    """(key, unit, values by column, ratio as installed, ratio as tuned, limit), worst first."""
    rows = []
    for key in list(samples.values):
        if key[0] in ("limits", EDGES):
            continue
        values = {label: samples.best(key, label) for label in COLUMNS
                  if label in samples.values[key]}
        rows.append((key, samples.units[key], values,
                     samples.ratio(key, INSTALLED), samples.ratio(key, TUNED),
                     limit_of(samples, *key)))
    return sorted(rows, key=lambda row: -max(row[3] or 0, row[4] or 0))


def number(value):
    if value is None:
        return "-"
    return f"{value:.3f}" if value < 100 else f"{value:.0f}"


def name_of(key):
    """The entry's, or the test's where a job runs several."""
    entry, test, _ = key
    if test in entry.split():
        return entry
    ranks = entry.split(" x ")[1:]
    return " x ".join([test, *ranks])


def verdict_of(target, installed, tuned):
    """None where there is nothing to compare."""
    if target is None or (installed is None and tuned is None):
        return None
    is_met = (installed or 0) <= target.installed and (tuned or 0) <= target.tuned
    return "met" if is_met else "missed"


class Score:
    """How many of the rows with a target reach it."""

    def __init__(self):
        self.met = self.asked = 0

    def count(self, verdict):
        self.asked += verdict is not None
        self.met += verdict == "met"
        return verdict

    def line(self, surface):
        text = f"Collectives through {surface}: {self.met} of {self.asked} rows with a target"
        return [f"{text} reach it."] if self.asked else []


def text_of(samples):
    lines = [f"{'entry':<22} {'size':>9} {'unit':>5}"
             + "".join(f"{label:>14}" for label in COLUMNS)
             + f"{'limit':>10}{'installed':>11}{'target':>8}{'tuned':>8}{'target':>8}"]
    plain, through_mpi = Score(), Score()
    for key, unit, values, installed, tuned, limit in rows_of(samples):
        target = target_of(key)
        verdict = plain.count(verdict_of(target, installed, tuned))
        other = through_mpi.count(verdict_of(target, samples.ratio(key, INSTALLED, own=MPI_H),
                                             samples.ratio(key, TUNED, own=MPI_H)))
        lines.append(f"{name_of(key):<22} {key[2]:>9} {unit:>5}"
                     + "".join(f"{number(values.get(label)):>14}" for label in COLUMNS)
                     + f"{number(limit):>10}"
                     + f"{number(installed):>11}{number(target and target.installed):>8}"
                     + f"{number(tuned):>8}{number(target and target.tuned):>8}"
                     + ("  missed" if verdict == "missed" else "")
                     + ("  missed through mpi.h" if other == "missed" else ""))
    lines.append("")
    lines += plain.line("dlrt.h") + through_mpi.line("mpi.h")
    lines += edge_lines(samples, COLUMNS)
    lines.append("Ratios are dlrt to the better peer, best of all rounds; below 1 dlrt is ahead.")
    limits = [(key, samples.best(key, "machine"), samples.units[key])
              for key in samples.values if key[0] == "limits"]
    if limits:
        lines.append("This machine: " + ", ".join(
            f"{key[1].removeprefix('limit_')} {key[2]} B {number(value)} {unit}"
            for key, value, unit in limits if key[1] in (
                "limit_line_hop", "limit_yield", "limit_futex", "limit_eventfd", "limit_memcpy")))
    return "\n".join(lines)
