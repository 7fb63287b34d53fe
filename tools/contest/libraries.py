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
    baseline: str      # "installed" or "tuned"; of dlrt also "mpi.h": through its other surface
    dlperf: str
    launcher: tuple
    bound: tuple       # words that bind each rank to a core
    unbound: tuple

    @property
    def label(self):
        return self.name if self.baseline == "installed" else self.name + "+tuned"

    def command(self, entry):
        if self.baseline == "mpi.h" and entry.program != "dlperf":
            return None  # The same as without.
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


def build_with_mpi(compiler, folder, name, words=()):
    """dlperf over an MPI library; None, with a word to the user, when it isn't installed."""
    if shutil.which(compiler) is None:
        print(f"{name}: {compiler} is not installed; left out", file=sys.stderr)
        return None
    path = os.path.join(folder, "dlperf-" + name)
    sources = sorted(glob.glob(os.path.join(SOURCES, "*.c")))
    subprocess.run([compiler, "-O2", "-std=gnu11", "-D_GNU_SOURCE", "-DDLPERF_MPI",
                    "-Wno-stringop-overflow", *sources, *words, "-lpthread", "-o", path],
                   check=True)
    return path


def build_with_own_mpi(build, folder):
    """dlperf over dlrt's own mpi.h, as its mpicc would build it from an installation."""
    core = os.path.join(build, "runtime")
    surface = os.path.join(core, "mpi")
    return build_with_mpi("cc", folder, "dlrt-mpi", (
        "-I" + surface, "-L" + surface, "-Wl,-rpath," + surface, "-Wl,-rpath-link," + core,
        "-lmpi_abi"))


def find_libraries(build, folder):
    """dlrt first, through dlrt.h and mpi.h, then each peer as installed and as tuned."""
    dlperf = os.path.join(build, "tools", "dlperf", "dlperf")
    dlrun = os.path.join(build, "launcher", "dlrun")
    for path in (dlperf, dlrun):
        if not os.path.exists(path):
            sys.exit(f"{path} is missing; --build names a finished release build of dlrt")
    libraries = [Library("dlrt", "installed", dlperf, (dlrun,), (), ()),
                 Library("dlrt", "mpi.h", build_with_own_mpi(build, folder), (dlrun,), (), ())]
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
