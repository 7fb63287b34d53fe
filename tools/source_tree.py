# SPDX-License-Identifier: Apache-2.0
"""The files that the style checks look at, and C++ text without its comments and strings.

Standard library only; works in a clone and in an unpacked archive alike.
"""
import pathlib
import re

TOP_FOLDERS = ("runtime", "launcher", "collectives", "transports", "tests", "tools", "docs")
TOP_FILES = {
    "meson.build", "meson_options.txt", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md",
    "LICENSE", ".clang-format", ".clang-tidy", ".editorconfig", ".gitignore",
}
CXX_HEADERS = (".h", ".hpp", ".cuh")
CXX_SUFFIXES = CXX_HEADERS + (".c", ".cpp", ".cu")


def source_files(root):
    """Every file below the top folders, sorted, as (path from the root, pathlib.Path)."""
    for folder in TOP_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if "__pycache__" not in path.parts and path.is_file() and not path.is_symlink():
                yield path.relative_to(root).as_posix(), path


def cxx_files(root, suffixes=CXX_SUFFIXES):
    return [(name, path) for name, path in source_files(root) if path.suffix in suffixes]


TOKEN = re.compile(
    r"""//[^\n]*
      | /\*.*?\*/
      | R"(?P<raw>[^()\\\s]{0,16})\(.*?\)(?P=raw)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
    re.S | re.X,
)


def without_comments_and_strings(text, keep_strings=False):
    """The text with comments and the insides of literals blanked; lines keep their numbers."""

    def blank(match):
        token = match.group(0)
        if token.startswith(("//", "/*")):
            return re.sub(r"[^\n]", " ", token)
        if keep_strings:
            return token
        if token.startswith("R"):
            return '""' + re.sub(r"[^\n]", " ", token)[2:]
        return token[0] + " " * (len(token) - 2) + token[-1]

    return TOKEN.sub(blank, text)


def without_preprocessor(code):
    """Blanks directives with their continuation lines. REQUIRES: comments are gone."""
    return re.sub(
        r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*",
        lambda match: re.sub(r"[^\n]", " ", match.group(0)),
        code,
        flags=re.M,
    )
