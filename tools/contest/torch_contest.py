# SPDX-License-Identifier: Apache-2.0
"""dlrt beside gloo, under torch.distributed: one program (torch_step.py), one launcher, interleaved
rounds. A third column has what dlrt.h itself takes, so that the layer between can be seen.

What is not there is named and left out: torch, a torch without gloo, a build without dlrt_torch.
"""
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass

from entries import Entry
from libraries import TOP
from measure import measure
from table import number
from targets import TORCH_LAYER_US, torch_target_of

STEP = os.path.join(TOP, "tools", "contest", "torch_step.py")
LAYER = "torch layer"
COLUMNS = ("dlrt", "gloo", "dlrt.h")


def torch_entries():
    kib, mib = 1 << 10, 1 << 20
    many = {"shares_cpus": True, "peer_limit_s": 120}
    return [
        Entry("torch all_reduce", 2, ("all_reduce", str(kib), str(mib), str(25 * mib)),
              program="torch", peer_limit_s=120),
        Entry("torch all_reduce x 8", 8, ("all_reduce", str(kib), str(mib)), program="torch",
              **many),
        Entry("torch step", 2, ("step",), program="torch", peer_limit_s=120),
        Entry("torch start", 4, ("start",), program="torch", **many),
    ]


@dataclass(frozen=True)
class TorchLibrary:
    """A backend; or dlrt.h, of which only the all-reduce of two ranks is asked."""
    name: str
    build: str

    @property
    def label(self):
        return self.name

    def command(self, entry):
        launcher = (os.path.join(self.build, "launcher", "dlrun"), "-np", str(entry.ranks))
        if self.name != "dlrt.h":
            return [*launcher, sys.executable, STEP, self.name, *entry.words]
        if entry.name != "torch all_reduce":
            return None
        dlperf = os.path.join(self.build, "tools", "dlperf", "dlperf")
        return [*launcher, dlperf, "--json", "all_reduce", "--sizes", "1024:1024"]

    def environment(self, entry):
        del entry
        paths = [package_folder(self.build), os.environ.get("PYTHONPATH", "")]
        return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path),
                "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}


def package_folder(build):
    return os.path.join(build, "runtime", "torch")


def has_module(test, build):
    done = subprocess.run(
        [sys.executable, "-c", test], capture_output=True, check=False,
        env=TorchLibrary("dlrt", build).environment(None))
    return done.returncode == 0


def find_torch_libraries(build):
    for path in (os.path.join(build, "launcher", "dlrun"),
                 os.path.join(build, "tools", "dlperf", "dlperf")):
        if not os.path.exists(path):
            sys.exit(f"{path} is missing; --build names a finished release build of dlrt")
    tests = {
        "dlrt": ("import dlrt_torch", f"the package dlrt_torch is not in {build}"),
        "gloo": ("import torch.distributed as d; assert d.is_gloo_available()",
                 "this torch has no gloo"),
    }
    found = []
    if not has_module("import torch", build):
        print(f"torch: {sys.executable} has no torch (package python3-torch); left out",
              file=sys.stderr)
        tests = {}
    for name, (test, what) in tests.items():
        if has_module(test, build):
            found.append(TorchLibrary(name, build))
        else:
            print(f"{name}: {what}; left out", file=sys.stderr)
    return [*found, TorchLibrary("dlrt.h", build)]


def layer_us(samples):
    """What torch and the backend add to a call of 1 KiB, best against best."""
    key = ("torch all_reduce", "all_reduce", 1024)
    ours, bare = samples.best(key, "dlrt"), samples.best(key, "dlrt.h")
    return ours - bare if ours and bare else None


def verdict(value, target):
    if value is None or target is None:
        return ""
    return "" if value <= target else "  missed"


def text_of_torch(samples):
    rows = []
    for key in list(samples.values):
        ratio, target = samples.ratio(key, ("gloo",)), torch_target_of(key)
        values = [samples.best(key, label) for label in COLUMNS]
        line = (f"{key[0]:<22} {key[1]:<15} {key[2]:>9} {samples.units[key]:>5}"
                + "".join(f"{number(value):>12}" for value in values)
                + f"{number(ratio):>9}{number(target):>8}{verdict(ratio, target)}")
        # Worst first: furthest above the target, then what has none.
        rows.append((ratio / target if ratio and target else 0, line))
    lines = [f"{'entry':<22} {'test':<15} {'size':>9} {'unit':>5}"
             + "".join(f"{label:>12}" for label in COLUMNS) + f"{'ratio':>9}{'target':>8}"]
    lines += [line for _, line in sorted(rows, key=lambda row: -row[0])]
    layer = layer_us(samples)
    lines.append(f"{LAYER}: {number(layer)} us a call over dlrt.h; at most {TORCH_LAYER_US}"
                 + verdict(layer, TORCH_LAYER_US))
    lines.append("Ratios are dlrt to gloo, best of all rounds; below 1 dlrt is ahead.")
    return "\n".join(lines)


def compare_torch(build, rounds, out):
    libraries = find_torch_libraries(build)
    least, most = (rounds, rounds) if rounds else (5, 8)
    samples = measure(torch_entries(), libraries, least, most, time.monotonic() + 1800)
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "torch-samples.json"), "w", encoding="utf-8") as file:
        json.dump(samples.as_json(), file, indent=1)
    text = text_of_torch(samples)
    with open(os.path.join(out, "torch-table.txt"), "w", encoding="utf-8") as file:
        file.write(text + "\n")
    print(text)
    print(f"{out}: torch-samples.json and torch-table.txt", file=sys.stderr)
