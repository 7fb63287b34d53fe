#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a file includes a part of dlrt, or a third party, that its own part may not use.

usage: check_layers.py ROOT

The tables below are the one place where the dependency rule is written.
"""
import pathlib
import re
import sys

from source_tree import cxx_files, without_comments_and_strings

# Which other parts each part may include, besides itself. tests and tools may use everything.
MAY_USE = {
    "runtime/base": set(),
    "runtime/device": {"runtime/base"},
    "runtime/wireup": {"runtime/base"},
    "runtime/connect": {"runtime/base"},
    "transports": {"runtime/base", "runtime/device", "runtime/connect"},
    "collectives": {"runtime/base"},
    "runtime": {
        "runtime/base", "runtime/device", "runtime/wireup", "runtime/connect", "transports",
        "collectives",
    },
    # The surfaces: they see the core and the public headers, the core never sees them.
    "runtime/include": set(),
    "runtime/api": {
        "runtime", "runtime/base", "runtime/device", "runtime/wireup", "runtime/include",
        "transports", "collectives",
    },
    "runtime/mpi": {
        "runtime", "runtime/base", "runtime/device", "runtime/wireup", "runtime/include",
        "transports", "collectives",
    },
    "runtime/torch": {"runtime/include"},
    "launcher": {"runtime/base", "runtime/wireup", "runtime/connect"},
}

# Who may include what comes from outside: (pattern of the header, prefixes of paths, reason).
FENCES = (
    (r"boost/asio|boost/asio\.hpp", ("launcher/event_loop.cpp",),
     "Asio stands in launcher/event_loop.cpp only, which includes <utility> before it"),
    (r"boost/", ("launcher/",), "Boost stands in launcher/ only"),
    (r"CLI/", ("launcher/", "tools/"), "CLI11 stands in the programs only"),
    (r"hwloc\.h|hwloc/", ("launcher/topology_hwloc.cpp",),
     "hwloc stands in launcher/topology_hwloc.cpp only"),
    (r"rdma/", ("transports/ofi/",), "libfabric stands in transports/ofi only"),
    (r"cuda|nccl|cub/|thrust/", ("runtime/device/", "transports/cuda_ipc/", "*.cu", "*.cuh"),
     "CUDA stands in runtime/device, transports/cuda_ipc and *.cu only"),
    (r"nlohmann/", ("launcher/", "tools/", "tests/", "runtime/base/table_reader."),
     "JSON stands in the programs and in readers of tables, not in hot modules"),
    (r"openssl/", ("launcher/", "tests/"), "OpenSSL stands in launcher/ only"),
    (r"catch2/", ("tests/",), "Catch2 stands in tests/ only"),
    (r"spdlog/", (), "text is made with fmt"),
    (r"(?:mpi|pmix?2?)\.h$", ("tools/dlperf/", "tests/", "runtime/mpi/"),
     "other runtimes are only measured beside us"),
    (r"torch/|c10/", ("runtime/torch/", "tests/"), "torch stands in runtime/torch only"),
)

# What a pure part may not touch: no I/O, no clock, no threads.
PURE = {
    "collectives": r"(?:unistd|fcntl|poll|pthread|time|stdio|sys/.*|linux/.*)\.h"
                   r"|chrono|thread|mutex|atomic|condition_variable|filesystem|fstream|iostream"
                   r"|ctime|cstdio",
    "runtime/wireup": r"sys/socket\.h|netinet/.*|poll\.h|sys/epoll\.h|iostream|thread|mutex",
}

# The one file pair there that is neither message nor map: the socket that both ends use.
NOT_PURE = ("runtime/wireup/control_socket.",)

# The public headers stand alone.
PUBLIC_HEADERS = re.compile(r"runtime/include/[^/]+$")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def part_of(path):
    """The longest part that the path lies in; None for tests, tools and what is outside."""
    return max((p for p in MAY_USE if path.startswith(p + "/")), key=len, default=None)


def is_inside(path, places):
    return any(
        path.endswith(place[1:]) if place.startswith("*") else path.startswith(place)
        for place in places
    )


def outside_problem(mine, path, header):
    for pattern, places, reason in FENCES:
        if re.match(pattern, header) and not is_inside(path, places):
            return f"<{header}>: {reason}"
    if mine in PURE and re.fullmatch(PURE[mine], header) and not is_inside(path, NOT_PURE):
        return f"<{header}>: {mine} does no I/O and knows no clock or thread"
    if PUBLIC_HEADERS.match(path) and re.match(r"fmt/", header):
        return f"<{header}>: a public header needs nothing but the standard library"
    return None


def problem(root, path, quote, header):
    mine = part_of(path)
    if (root / "runtime/include" / header).is_file():
        header = "runtime/include/" + header
    elif quote == "<" or not (root / header).is_file():
        if quote == '"' and mine is not None:
            return f'"{header}" is not a path from the root'
        return outside_problem(mine, path, header)
    theirs = part_of(header)
    if mine is None:
        return None
    if theirs is None:
        return f"{mine} may not use {header}: it is a test or a tool"
    if theirs != mine and theirs not in MAY_USE[mine]:
        return f"{mine} may not use {header} of {theirs}"
    return None


def problems(root):
    for path, file in cxx_files(root):
        text = without_comments_and_strings(file.read_text("utf-8"), keep_strings=True)
        for match in INCLUDE.finditer(text):
            found = problem(root, path, match.group(1), match.group(2))
            if found:
                line = text.count("\n", 0, match.start()) + 1
                yield f"{path}:{line}: {found}"


def main():
    found = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "layers: every include is allowed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
