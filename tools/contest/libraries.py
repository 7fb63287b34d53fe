# SPDX-License-Identifier: Apache-2.0
"""The libraries that take part: dlrt as built, and the peers that are installed."""
import glob
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

from entries import TUNED_MALLOC, TUNED_YIELD

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = os.path.join(TOP, "tools", "dlperf")


@dataclass(frozen=True)
class Library:
    name: str
    baseline: str      # "installed" or "tuned"
    dlperf: str
    launcher: tuple
    bound: tuple       # words that bind each rank to a core
    unbound: tuple

    @property
    def label(self):
        return self.name if self.baseline == "installed" else self.name + "+tuned"

    def command(self, entry):
        program = [self.dlperf, "--json", *entry.words] if entry.program == "dlperf" else ["true"]
        words = [*self.launcher, "-np", str(entry.ranks),
                 *(self.unbound if entry.shares_cpus else self.bound), *program]
        return ["taskset", "-c", first_cpu(), *words] if entry.one_cpu else words

    def environment(self, entry):
        added = {}
        if self.baseline == "tuned":
            added.update(TUNED_MALLOC)
            if entry.shares_cpus and self.name == "openmpi":
                added.update(TUNED_YIELD)
        return {**os.environ, **added}


def first_cpu():
    return str(min(os.sched_getaffinity(0)))


def build_with_mpi(compiler, folder, name):
    """dlperf over an MPI library; None, with a word to the user, when it isn't installed."""
    if shutil.which(compiler) is None:
        print(f"{name}: {compiler} is not installed; left out", file=sys.stderr)
        return None
    path = os.path.join(folder, "dlperf-" + name)
    sources = sorted(glob.glob(os.path.join(SOURCES, "*.c")))
    subprocess.run([compiler, "-O2", "-std=gnu11", "-D_GNU_SOURCE", "-DDLPERF_MPI",
                    "-Wno-stringop-overflow", *sources, "-lpthread", "-o", path], check=True)
    return path


def find_libraries(build, folder):
    """dlrt first, then each peer as installed and as tuned."""
    dlperf = os.path.join(build, "tools", "dlperf", "dlperf")
    dlrun = os.path.join(build, "launcher", "dlrun")
    for path in (dlperf, dlrun):
        if not os.path.exists(path):
            sys.exit(f"{path} is missing; --build names a finished release build of dlrt")
    libraries = [Library("dlrt", "installed", dlperf, (dlrun,), (), ())]
    peers = {
        "openmpi": ("mpicc.openmpi", ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"),
                    ("--bind-to", "core"), ("--bind-to", "none")),
        "mpich": ("mpicc.mpich", ("mpiexec.mpich",), ("-bind-to", "core"), ("-bind-to", "none")),
    }
    for name, (compiler, launcher, bound, unbound) in peers.items():
        path = build_with_mpi(compiler, folder, name)
        for baseline in ("installed", "tuned") if path else ():
            libraries.append(Library(name, baseline, path, launcher, bound, unbound))
    return libraries
