#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes of the tables of functions what libmpi_abi.so and its users need.

usage: generate.py header|prototypes|symbols|names|chapters OUTPUT TABLE... [TEMPLATE]

header: mpi.h, from its template; prototypes: what the chapters' files define, in namespace
dlrt::mpi; symbols: the exported functions, PMPI_x strong and MPI_x weak, that call those;
names: the exported names, one a line; chapters: how many functions of which chapter there are, for
dlinfo. The form of the tables is said in functions.txt.
"""
import pathlib
import re
import sys

# Of a parameter: its C type in the function, in the twin, and in ours; and how the first two are
# handed to the third.
COUNTED = {
    "n": ("int @", "MPI_Count @", "MPI_Count @", "@", "@"),
    "ns": ("const int @[]", "const MPI_Count @[]", "Numbers @", "Numbers(@)", "Numbers(@)"),
    "ds": ("const int @[]", "const MPI_Aint @[]", "Numbers @", "Numbers(@)", "Numbers(@)"),
    "n*": ("int *@", "MPI_Count *@", "NumberResult @", "NumberResult(@)", "NumberResult(@)"),
    "a": ("MPI_Aint @", "MPI_Count @", "MPI_Count @", "@", "@"),
    "a*": ("MPI_Aint *@", "MPI_Count *@", "MPI_Count *@", "@", "@"),
    "as": ("const MPI_Aint @[]", "const MPI_Count @[]", "Numbers @", "Numbers(@)", "Numbers(@)"),
    "u": ("int @", "MPI_Aint @", "MPI_Aint @", "@", "@"),
    "u*": ("int *@", "MPI_Aint *@", "NumberResult @", "NumberResult(@)", "NumberResult(@)"),
}
PLAIN = {"int", "char", "double", "void"}


def plain_type(kind):
    """The declaration of a parameter named @ whose type is the same in both forms."""
    if kind == "...":
        return "..."
    constant = kind.startswith("c.")
    name, stars, brackets = re.fullmatch(r"(?:c\.)?(\w+)(\**)((?:\[\d*\])*)", kind).groups()
    name = name if name in PLAIN else "MPI_" + name
    return f"{'const ' if constant else ''}{name} {stars}@{brackets}"


class Function:
    """`collective`: how ours is told which of the three forms was called; else empty."""

    def __init__(self, chapter, line, collective=""):
        words = line.split()
        self.chapter, self.name, self.result = chapter, words[0].rstrip("&"), "int"
        self.collective, self.is_told = collective, words[0].endswith("&")
        self.ours = self.name
        if words[1:2] == ["->"]:
            self.result = words[2] if words[2] in PLAIN else "MPI_" + words[2]
            words = words[2:]
        self.parameters = [tuple(word.split(":", 1)) for word in words[1:]]
        kinds = {kind.rstrip("^") for _, kind in self.parameters}
        self.has_twin = bool(kinds & COUNTED.keys()) or any("^" in k for _, k in self.parameters)

    def declared(self, form):
        """The parameters of a form: 0 the function, 1 its twin, 2 what we define."""
        said = []
        for name, kind in self.parameters:
            if kind.endswith("^"):
                said.append(f"MPI_{kind[:-1]}{'_c' if form == 1 else ''} *{name}")
                continue
            text = COUNTED[kind][form] if kind in COUNTED else plain_type(kind)
            if kind == "..." and form == 2:
                continue
            if form == 2 and self.collective and name in ("info", "request"):
                continue
            said.append(text.replace("@", name))
        if form == 2 and self.collective:
            said.insert(0, "const Entry& entry")
        if form == 2 and self.is_told:
            said.append("Width width")
        return ", ".join(said) or ("" if form == 2 else "void")

    def passed(self, form):
        said = [self.collective] if self.collective else []
        for name, kind in self.parameters:
            if kind == "..." or self.collective and name in ("info", "request"):
                continue
            said.append((COUNTED[kind][3 + form] if kind in COUNTED else "@").replace("@", name))
        if self.is_told:
            said.append(("Width::narrow", "Width::wide")[form])
        return ", ".join(said)

    def forms(self):
        yield self.name, 0
        if self.has_twin:
            yield self.name + "_c", 1


class Chapter:
    def __init__(self, line):
        self.name = line[1:line.index("]")]
        self.absence = line.split()[1:]  # Error class and who gets it.
        self.has_forms = self.absence == ["forms"]
        if self.has_forms:
            self.absence = []


def forms_of(chapter, line):
    """A collective in its three forms."""
    name, rest = line.split(" ", 1)
    lower = "I" + name[0].lower() + name[1:]
    yield Function(chapter, line, f"{{\"MPI_{name}\"}}")
    for made, form, more in (
        (lower, "nonblocking", " request:Request*"),
        (name + "_init", "persistent", " info:Info request:Request*"),
    ):
        entry = f"{{\"MPI_{made}\", Form::{form}, request}}"
        function = Function(chapter, f"{made} {rest}{more}", entry)
        function.ours = name
        yield function


def read(paths):
    functions, chapter = [], None
    for path in paths:
        text = pathlib.Path(path).read_text("utf-8")
        text = text[text.index("\n["):]
        for line in text.replace("\n    ", " ").splitlines():
            if line.startswith("["):
                chapter = Chapter(line)
            elif line and chapter.has_forms:
                functions.extend(forms_of(chapter, line))
            elif line:
                functions.append(Function(chapter, line))
    return functions


def prototypes_of_c(functions):
    for prefix in ("MPI_", "PMPI_"):
        for function in functions:
            for name, form in function.forms():
                yield f"{function.result} {prefix}{name}({function.declared(form)});"


def header(functions, template):
    text = pathlib.Path(template).read_text("utf-8")
    return text.replace("@FUNCTIONS@", "\n".join(prototypes_of_c(functions)))


def prototypes(functions):
    yield "#pragma once\n\n#include \"runtime/mpi/entry.hpp\""
    yield "#include \"runtime/mpi/numbers.hpp\"\n\nnamespace dlrt::mpi {\n"
    for function in functions:
        if not function.chapter.absence and function.ours == function.name:
            yield f"{function.result} MPI_{function.name}({function.declared(2)});"
    yield "\n}  // namespace dlrt::mpi"


def symbols(functions):
    yield "#include <mpi_functions.hpp>\n#include \"runtime/mpi/refusal.hpp\"\n"
    yield "#define DLRT_EXPORT __attribute__((visibility(\"default\")))"
    yield "#define DLRT_WEAK(name) __attribute__((visibility(\"default\"), weak, alias(name)))\n"
    yield "using dlrt::mpi::Entry;\nusing dlrt::mpi::Form;\nusing dlrt::mpi::NumberResult;"
    yield "using dlrt::mpi::Numbers;\nusing dlrt::mpi::Width;\n\nextern \"C\" {"
    for function in functions:
        for name, form in function.forms():
            declared = function.declared(form)
            if function.chapter.absence:
                error, way = function.chapter.absence
                unnamed = re.sub(r"\b(\w+)((?:\[\d*\])*)(?=,|$)", r"\2", declared)
                declared = "" if declared == "void" else unnamed
                body = f"dlrt::mpi::refuse(\"MPI_{name}\", {error}, dlrt::mpi::Refusal::by_{way})"
            else:
                body = f"MPI_{function.ours}({function.passed(form)})"
                body = "dlrt::mpi::" + body
            unread = " static_cast<void>(info);" if function.ours + "_init" == function.name else ""
            opening = f"DLRT_EXPORT {function.result} PMPI_{name}({declared})"
            yield f"{opening} {{{unread} return {body}; }}"
            yield f"DLRT_WEAK(\"PMPI_{name}\") {function.result} MPI_{name}({declared});"
    yield "}"


def names(functions):
    return sorted(p + name for f in functions for name, _ in f.forms() for p in ("MPI_", "PMPI_"))


def chapters(functions):
    """Lines {name, functions, is_there} of a C++ array."""
    counts = {}
    for function in functions:
        made = counts.setdefault(function.chapter.name, [0, not function.chapter.absence])
        made[0] += len(list(function.forms()))
    yield "#pragma once\n\nnamespace dlrt::info {\n"
    yield "struct MpiChapter {\n    const char* name;\n    int functions;\n    bool is_there;\n};"
    yield "inline constexpr MpiChapter mpi_chapters[] = {"
    for name, (count, is_there) in counts.items():
        yield f"    {{\"{name}\", {count}, {str(is_there).lower()}}},"
    yield "};\n\n}  // namespace dlrt::info"


def main():
    what, output, *tables = sys.argv[1:]
    template = tables.pop() if what == "header" else None
    functions = read(tables)
    makers = {
        "prototypes": prototypes, "symbols": symbols, "names": names, "chapters": chapters,
    }
    if what == "header":
        text = header(functions, template)
    else:
        text = "\n".join(makers[what](functions)) + "\n"
    pathlib.Path(output).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
