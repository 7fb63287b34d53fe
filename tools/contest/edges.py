# SPDX-License-Identifier: Apache-2.0
"""Case F05: time must not jump where protocols change, nor bandwidth fall for long messages."""
from entries import EDGES

LONG_BYTES = 4 << 20


def edge_lines(samples, labels):
    """For each library its worst step from S to S + 1 bytes, and the least bandwidth from 4 MiB on
    as a share of its best, or of what memcpy reaches beyond all caches where that is less."""
    lines = []
    memcpy_rate = samples.best(("limits", "limit_memcpy", 64 << 20), "machine")
    for label in labels:
        times = {key[2]: samples.best(key, label) for key in list(samples.values)
                 if key[0] == EDGES and samples.values[key][label]}
        steps = {size: times[size + 1] / times[size] for size in times if size + 1 in times}
        if not steps:
            continue
        worst = max(steps, key=steps.get)
        rates = {size: size / time for size, time in times.items()}
        kept = min((rates[size] for size in rates if size >= LONG_BYTES), default=None)
        text = f"{label}: x {steps[worst]:.2f} from {worst} B to {worst + 1} B"
        if kept is not None:
            reachable = min(max(rates.values()), memcpy_rate or max(rates.values()))
            text += f"; from 4 MiB on at least {kept / reachable:.0%}"
        slower = [size for size in times if is_slower_than_tcp(samples, size, times[size])]
        text += f"; slower than loopback TCP at {slower} B" if slower else ""
        lines.append(text)
    if not lines:
        return []
    return ["One byte more (at most x 1.50), and the rate of long messages against the best and "
            "memcpy (at least 70%):",
            *(f"  {line}" for line in lines)]


def is_slower_than_tcp(samples, size, time_us):
    tcp_us = samples.best(("limits", "limit_tcp", size), "machine")
    return tcp_us is not None and time_us > tcp_us
