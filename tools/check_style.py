#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a file breaks a rule of CONTRIBUTING.md that a program can see.

usage: check_style.py ROOT
"""
import pathlib
import re
import sys

from cxx_functions import functions
from source_tree import (
    CXX_SUFFIXES, TOP_FILES, TOP_FOLDERS, source_files, without_comments_and_strings,
    without_preprocessor,
)

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
LINE_COLUMNS_MAX = 100
PARAMETERS_MAX = 6

# Their shape is the field's: dlrt_sendrecv has the arguments that everybody knows.
PUBLIC_FUNCTION = re.compile(r"(?:PMI_)?\w*\bdlrt_\w+$|\bMPI_\w+$")

TEXT_SUFFIXES = CXX_SUFFIXES + (".py", ".sh", ".md", ".build", ".map", ".txt", "")
SPDX = "SPDX-License-Identifier: Apache-2.0"
SPDX_SUFFIXES = CXX_SUFFIXES + (".py", ".sh")

# Where another language or a recorded datum sets the form.
NOT_OURS = re.compile(r"tests/(?:fuzz/corpus|topologies|data)/|docs/.*\.(?:svg|png)$")
# The checkers and their tests must be able to name what they forbid.
NAMES_WHAT_IT_FORBIDS = ("tools/check_style.py", "tests/style/check_style_test.py")

URL_HOSTS = ("www.apache.org", "doi.org", "www.w3.org")

EVERYWHERE = (
    (r"\b(?:TODO|FIXME|XXX|HACK)\b", "unfinished work is an issue, not a remark"),
    (r"(?i)\bfor now\b", "say what holds, not what held when it was written"),
    (r"(?<![\w.}])/(?:work|root|home)/\w", "a path of one machine"),
    (r"(?i)\bcopyright\b", "the licence stands in LICENSE; files carry the SPDX line"),
)
IN_CXX = (
    (r"\bgoto\b", "no goto: return early, or let a destructor clean up"),
    (r"\batomic_thread_fence\b", "put the order on the access; ThreadSanitizer can't see fences"),
    (r"\busing\s+namespace\s+std\b", "name std:: where it is used"),
    (r"\bstd::endl\b", "'\\n'; flushing is a decision of its own"),
    (r"#\s*if\s+0\b", "code that is off is deleted"),
    (r"\bNULL\b(?=.*;)", "nullptr"),
)
COMMENTED_OUT = re.compile(r"^\s*//(?!/).*(?:\)|\w|\]) *;\s*$|^\s*//\s*[}{]\s*$")
ATOMIC_CALL = re.compile(
    r"(?:\.|->)(load|store|exchange|fetch_\w+|compare_exchange_\w+|test_and_set)\s*\("
)
ORDER = re.compile(r"memory_order|\border\b|_order\b")


def matching_bracket(text, opening):
    depth = 0
    for index in range(opening, len(text)):
        if text[index] in "([{":
            depth += 1
        elif text[index] in ")]}":
            depth -= 1
            if depth == 0:
                return index
    return len(text)


def line_problems(name, lines):
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_COLUMNS_MAX and not name.endswith(".md"):
            yield number, f"{len(line)} columns; at most {LINE_COLUMNS_MAX}"
        if "\t" in line and name != "tests/allowed_skips.txt":
            yield number, "a tab"
        if line != line.rstrip():
            yield number, "blanks at the end of the line"
        if name in NAMES_WHAT_IT_FORBIDS:
            continue
        for pattern, why in EVERYWHERE:
            if re.search(pattern, line):
                yield number, f"'{re.search(pattern, line).group(0)}': {why}"
        for host in re.findall(r"https?://([\w.-]+)", line):
            if host not in URL_HOSTS:
                yield number, f"an address of {host}; name the document instead"


def first_lines_problems(name, lines):
    suffix = pathlib.PurePath(name).suffix
    is_script = bool(lines) and lines[0].startswith("#!")
    if suffix not in SPDX_SUFFIXES and not is_script:
        return
    spdx_at = 1 if is_script else 0
    if len(lines) <= spdx_at or SPDX not in lines[spdx_at]:
        yield spdx_at + 1, f"must be the comment '{SPDX}'"
    if suffix in (".h", ".hpp"):
        following = lines[1].strip() if len(lines) > 1 else ""
        if not re.match(r"///\s*\w|/\*", following):
            yield 2, "a header begins by saying what it is for (/// after the SPDX line)"


def atomic_problems(code):
    for match in ATOMIC_CALL.finditer(code):
        arguments = code[match.end():matching_bracket(code, match.end() - 1)]
        if not ORDER.search(arguments):
            line = code.count("\n", 0, match.start()) + 1
            yield line, f"{match.group(1)}() of an atomic without its memory order"


def cxx_problems(name, text):
    code = without_comments_and_strings(text)
    for number, line in enumerate(text.splitlines(), 1):
        if COMMENTED_OUT.search(line):
            yield number, "looks like code that is commented out"
    is_c = name.endswith((".c", ".h"))
    for number, line in enumerate(code.splitlines(), 1):
        for pattern, why in IN_CXX:
            found = re.search(pattern, line)
            if found and not (is_c and found.group(0) == "NULL"):
                yield number, f"'{found.group(0)}': {why}"
    if not name.startswith("tests/"):
        yield from atomic_problems(code)
    for function in functions(without_preprocessor(code)):
        if function.lines > FUNCTION_LINES_MAX:
            yield function.line, (
                f"{function.name} has {function.lines} lines; at most {FUNCTION_LINES_MAX}"
            )
        if function.parameters > PARAMETERS_MAX and not PUBLIC_FUNCTION.search(function.name):
            yield function.line, (
                f"{function.name} has {function.parameters} parameters; at most {PARAMETERS_MAX}"
            )


def file_problems(name, text):
    lines = text.split("\n")
    if text and not text.endswith("\n"):
        yield len(lines), "no line end at the end of the file"
    elif text.endswith("\n\n"):
        yield len(lines) - 1, "an empty line at the end of the file"
    lines = text.splitlines()
    if len(lines) > FILE_LINES_MAX:
        yield len(lines), f"{len(lines)} lines; at most {FILE_LINES_MAX}: split it by noun"
    yield from first_lines_problems(name, lines)
    yield from line_problems(name, lines)
    if name.endswith(CXX_SUFFIXES):
        yield from cxx_problems(name, text)


def unbuilt_files(root):
    """Sources that nothing builds: neither named by a meson.build or a script called run anywhere,
    nor their stem by one at or above their folder."""
    build_text = {
        path.parent: path.read_text("utf-8")
        for name, path in [("meson.build", root / "meson.build"), *source_files(root)]
        if path.name in ("meson.build", "run")
    }
    everything = "\n".join(build_text.values())
    for name, path in source_files(root):
        if path.suffix not in (".c", ".cpp", ".cu"):
            continue
        stems = (re.sub(r"_(?:test|fuzz|job)$", "", path.stem), path.stem)
        above = "\n".join(build_text.get(folder, "") for folder in path.parents)
        stem = "|".join(re.escape(s) for s in stems)
        if not re.search(rf"['\"/]{re.escape(path.name)}['\"]", everything) and not re.search(
            rf"['\"](?:{stem})['\"]", above
        ):
            yield f"{name}:1: no meson.build names it, so nobody builds it"


def problems(root):
    for entry in sorted(root.iterdir()):
        known = TOP_FILES if entry.is_file() else set(TOP_FOLDERS) | {".ci", ".git"}
        if entry.name not in known | {".git"} and not entry.name.startswith("build"):
            yield f"{entry.name}:1: not one of the entries that stand at the top"
    for name, path in source_files(root):
        if NOT_OURS.search(name) or path.suffix not in TEXT_SUFFIXES:
            continue
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            yield f"{name}:1: not UTF-8"
            continue
        for line, what in file_problems(name, text):
            yield f"{name}:{line}: {what}"
    yield from unbuilt_files(root)


def main():
    found = list(problems(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(found) if found else "style: nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
