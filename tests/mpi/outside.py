#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs into an empty folder and builds a program against mpi.h from there: by mpicc and mpicxx,
by pkg-config, and by CMake's FindMPI; runs it by mpiexec.

usage: outside.py MESON BUILD_FOLDER SOURCE
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CMAKE_PROJECT = """cmake_minimum_required(VERSION 3.18)
project(outside C)
find_package(MPI REQUIRED)
add_executable(program {source})
target_link_libraries(program MPI::MPI_C)
"""


def run(command, expected=0, **options):
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        timeout=200, **options,
    )
    if done.returncode != expected:
        words = " ".join(map(str, command))
        sys.exit(f"{words}: status {done.returncode}, not {expected}\n{done.stdout}")
    return done.stdout


def installed_file(folder, name):
    found = sorted(path for path in folder.rglob(name))
    if len(found) != 1:
        sys.exit(f"{name} is installed {len(found)} times: {found}")
    return found[0]


def check_run(mpiexec, program, environment):
    said = run([mpiexec, "-n", "2", program], env=environment)
    if said != "sum 1\n":
        sys.exit(f"{program} said: {said}")


def check_wrappers(folder, source, environment):
    for name, options in (("mpicc", ["-std=c99"]), ("mpicxx", ["-x", "c++"])):
        wrapper = installed_file(folder, name)
        asked = run([wrapper, "-show", "x.c"], env=environment).split()
        shown = run([wrapper, "-showme:compile"], env=environment).split()
        linked = run([wrapper, "-showme:link"], env=environment).split()
        for word in (*shown, *linked):
            if word not in asked:
                sys.exit(f"{name} -show says {asked}, without {word}")
        if "-lmpi_abi" in run([wrapper, "-show", "-c", "x.c"], env=environment):
            sys.exit(f"{name} -show -c links")
        if not (wrapper.parent / (name + "_abi")).is_symlink():
            sys.exit(f"{name}_abi is missing")
        run([wrapper, *options, "-Wall", "-Werror", source, "-o", f"by_{name}"], env=environment)
        check_run(installed_file(folder, "mpiexec"), f"./by_{name}", environment)


def check_cmake(folder, source, environment):
    if shutil.which("cmake") is None:
        return
    project = pathlib.Path("project")
    project.mkdir()
    (project / "CMakeLists.txt").write_text(CMAKE_PROJECT.format(source=source), "utf-8")
    bin_folder = installed_file(folder, "mpicc").parent
    path = {**environment, "PATH": f"{bin_folder}:{environment['PATH']}"}
    run(["cmake", "-S", project, "-B", "made"], env=path)
    run(["cmake", "--build", "made"], env=path)
    check_run(installed_file(folder, "mpiexec"), "made/program", environment)


def main():
    meson, build, source = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "installed"
        outside = pathlib.Path(scratch) / "outside"
        outside.mkdir()
        run([meson, "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", str(folder)])
        os.chdir(outside)
        environment = {
            "PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"),
            "PKG_CONFIG_PATH": str(installed_file(folder, "mpi_abi.pc").parent),
        }
        check_wrappers(folder, source, environment)
        flags = run(["pkg-config", "--cflags", "--libs", "mpi_abi"], env=environment).split()
        run(["cc", source, *flags, "-o", "by_pkg_config"], env=environment)
        check_cmake(folder, source, environment)
        mpiexec = installed_file(folder, "mpiexec")
        run([mpiexec, "-n", "1", "sleep", "60"], expected=124,
            env={**environment, "MPIEXEC_TIMEOUT": "1"})
        run([mpiexec, "-n", "2", "./by_mpicc", "3"], expected=3, env=environment)
    print("built by mpicc, mpicxx, pkg-config and CMake, run by mpiexec")


if __name__ == "__main__":
    main()
