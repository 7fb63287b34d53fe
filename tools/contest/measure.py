# SPDX-License-Identifier: Apache-2.0
"""Interleaved rounds: in each, every library runs every entry once, so that whatever disturbs the
machine disturbs all. Samples are kept raw; what counts is the best of each."""
import json
import subprocess
import sys
import time
from collections import defaultdict

from entries import HIGHER_IS_BETTER

SETTLED = 0.03


class Samples:
    """(entry, test, size) -> label -> values in the order of rounds, and the unit of each row."""

    def __init__(self):
        self.values = defaultdict(lambda: defaultdict(list))
        self.units = {}

    def add(self, key, label, value, unit):
        self.values[key][label].append(value)
        self.units[key] = unit

    def best(self, key, label, last=None):
        if key not in self.values:
            return None
        values = self.values[key][label][:last]
        if not values:
            return None
        return max(values) if self.units[key] in HIGHER_IS_BETTER else min(values)

    def ratio(self, key, labels, last=None, own="dlrt"):
        """Of dlrt to the best of these peers; below 1 dlrt is ahead, whatever the unit."""
        ours = self.best(key, own, last)
        theirs = [value for value in (self.best(key, label, last) for label in labels) if value]
        if ours is None or not theirs:
            return None
        if self.units[key] in HIGHER_IS_BETTER:
            return max(theirs) / ours if ours else None
        return ours / min(theirs)

    def as_json(self):
        return [{"entry": entry, "test": test, "size": size, "unit": self.units[key],
                 "samples": self.values[key]}
                for key in self.values for entry, test, size in [key]]


def run_once(library, entry, samples):
    """Whether it came to its end."""
    command = library.command(entry)
    limit_s = entry.peer_limit_s if library.name != "dlrt" else max(60, entry.peer_limit_s)
    begin = time.monotonic()
    try:
        done = subprocess.run(command, env=library.environment(entry), capture_output=True,
                              text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        print(f"{entry.name}: {library.label} took over {limit_s:.0f} s; left out",
              file=sys.stderr)
        return False
    spent_ms = (time.monotonic() - begin) * 1e3
    if done.returncode != 0:
        print(f"{entry.name}: {library.label}: status {done.returncode}: "
              f"{done.stderr.strip()[-300:]}", file=sys.stderr)
        return False
    if entry.is_timed_outside:
        samples.add((entry.name, entry.name, entry.ranks), library.label, spent_ms, "ms")
        return True
    for line in done.stdout.splitlines():
        result = json.loads(line)
        samples.add((entry.name, result["test"], result["size"]), library.label,
                    result["value"], result["unit"])
    return True


def measure(entries, libraries, rounds_least, rounds_most, deadline):
    """Until every ratio has settled (its value moved by less than 3 % in the last two rounds), at
    least and at most so many rounds, and no longer than the deadline."""
    samples = Samples()
    dropped = set()
    peers = [library.label for library in libraries if library.name != "dlrt"]
    for number in range(1, rounds_most + 1):
        for entry in entries:
            for library in libraries:
                is_peer = library.name != "dlrt"
                if (entry.name, library.label) in dropped or library.command(entry) is None:
                    continue
                if is_peer and entry.peer_rounds and number > entry.peer_rounds:
                    continue
                if time.monotonic() > deadline:
                    print("the time is over; what has been measured is shown", file=sys.stderr)
                    return samples
                if not run_once(library, entry, samples):
                    dropped.add((entry.name, library.label))
        print(f"round {number} of at most {rounds_most}", file=sys.stderr)
        if number >= rounds_least and has_settled(samples, peers, number):
            break
    return samples


def has_settled(samples, peers, number):
    for key in samples.values:
        now = samples.ratio(key, peers)
        before = samples.ratio(key, peers, number - 2)
        if now and before and abs(now / before - 1) > SETTLED:
            return False
    return True


def measure_limits(dlperf, samples):
    """This machine's own, the best of two runs. On a busy machine some are missing."""
    for _ in range(2):
        try:
            text = subprocess.run([dlperf, "--json", "limits"], capture_output=True, text=True,
                                  timeout=120, check=False).stdout
        except subprocess.TimeoutExpired as late:
            print("dlperf limits took over 120 s: is the machine busy?", file=sys.stderr)
            text = (late.stdout or b"").decode()
        for line in text.splitlines():
            result = json.loads(line)
            samples.add(("limits", result["test"], result["size"]), "machine", result["value"],
                        result["unit"])
