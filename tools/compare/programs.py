# SPDX-License-Identifier: Apache-2.0
"""One source compiled for every message passing library that is here; how each starts its ranks."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))


def build_programs(build, folder, source):
    """{library: path}; a library that isn't installed is named and left out."""
    common = ["-O2", "-std=gnu99", "-I" + HERE, os.path.join(HERE, source)]
    mpi = ['-DMESSAGING_HEADER="messaging_mpi.h"', "-Wno-stringop-overflow"]
    library = os.path.join(build, "runtime")
    recipes = {
        "dlrt": ["cc", '-DMESSAGING_HEADER="messaging_dlrt.h"', *common,
                 "-I" + os.path.join(TOP, "runtime", "include"), "-L" + library, "-ldlrt",
                 "-Wl,-rpath," + library],
        "openmpi": ["mpicc.openmpi", *mpi, *common],
        "mpich": ["mpicc.mpich", *mpi, *common],
    }
    programs = {}
    for name, recipe in recipes.items():
        if shutil.which(recipe[0]) is None:
            print(f"{name}: {recipe[0]} is not installed; left out", file=sys.stderr)
            continue
        path = os.path.join(folder, f"{name}-{os.path.splitext(source)[0]}")
        subprocess.run([*recipe, "-o", path], check=True)
        programs[name] = path
    return programs


def launch_words(name, build, rank_count):
    """The start of a command line that runs so many unbound ranks on this host."""
    return {
        "dlrt": [os.path.join(build, "launcher", "dlrun"), "-np", str(rank_count)],
        "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to",
                    "none", "-np", str(rank_count)],
        "mpich": ["mpiexec.mpich", "-np", str(rank_count)],
    }[name]
