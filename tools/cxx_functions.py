# SPDX-License-Identifier: Apache-2.0
"""Finds the functions in C and C++ text: name, first line, length, number of parameters.

Not a parser: it follows braces and judges what stands before each. Good enough for code in the
format of .clang-format, and needs no compiler.
"""
import bisect
import re
from typing import NamedTuple


class Function(NamedTuple):
    name: str
    line: int
    lines: int  # 1 for a declaration on one line
    parameters: int


OPENING, CLOSING = "([{", ")]}"
TYPE_HEAD = re.compile(r"\s*(?:typedef\s+)?(?:class|struct|union|enum)\b[^()=]*$")
NAMESPACE_HEAD = re.compile(r'\s*(?:inline\s+)?namespace\b[^()=]*$|\s*extern\s*"\s*"\s*$')
NOT_A_FUNCTION = re.compile(r"^(?:static_assert|alignas|decltype|if|for|while|switch|return)$")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def without_decoration(head):
    """Blanks template headers, attributes and requires-clauses in brackets."""
    head = re.sub(r"\[\[.*?\]\]", blank, head, flags=re.S)
    head = re.sub(r"\b(?:alignas|__attribute__|noexcept|explicit)\s*\((?:[^()]|\([^()]*\))*\)",
                  blank, head)
    head = re.sub(r"\b(?:public|private|protected)\s*:", blank, head)
    while True:
        start = re.search(r"\btemplate\s*<", head)
        if not start:
            return head
        depth, index = 0, start.end() - 1
        for index in range(start.end() - 1, len(head)):
            depth += {"<": 1, ">": -1}.get(head[index], 0)
            if depth == 0:
                break
        piece = head[start.start():index + 1]
        head = head[:start.start()] + re.sub(r"[^\n]", " ", piece) + head[index + 1:]


def parameter_count(inside):
    """Commas outside of all brackets, plus one; template brackets count as brackets."""
    inside = inside.replace("->", "  ").replace("<=", "  ").replace(">=", "  ")
    depth, commas = 0, 0
    for character in inside:
        if character in OPENING + "<":
            depth += 1
        elif character in CLOSING + ">":
            depth -= 1
        elif character == "," and depth == 0:
            commas += 1
    return commas + 1 if inside.strip() not in ("", "void") else 0


def signature(head):
    """(name, parameters) when the text before a { or ; declares a function, else None."""
    head = without_decoration(head)
    head = re.sub(r"\boperator\s*\(\s*\)", "operator__", head)
    head = re.sub(r"\boperator\s*(?:[^\s\w(]+|\w+)", "operator_", head)
    match = re.search(r"([A-Za-z_~][\w:~]*)\s*\(", head)
    if not match or NOT_A_FUNCTION.match(match.group(1)):
        return None
    if re.search(r"=(?!=)", head[:match.start()]):
        return None
    depth = 0
    for index in range(match.end() - 1, len(head)):
        depth += {"(": 1, ")": -1}.get(head[index], 0)
        if depth == 0:
            return match.group(1), parameter_count(head[match.end():index])
    return None


def functions(code):
    """Functions in code whose comments, strings and directives are blanked."""
    line_starts = [0] + [match.end() for match in re.finditer("\n", code)]

    def line_of(index):
        return bisect.bisect_right(line_starts, index)

    scopes = []  # of the open braces: "outer" (namespace or type), "function" or "other"
    found, begin, start = [], 0, None
    for match in re.finditer(r"[{};]", code):
        index, inside = match.start(), scopes and scopes[-1] != "outer"
        head = code[begin:index]
        first = begin + len(head) - len(head.lstrip())
        if match.group(0) == "{":
            if inside:
                scopes.append("other")
            elif TYPE_HEAD.match(without_decoration(head)) or NAMESPACE_HEAD.match(head):
                scopes.append("outer")
            else:
                start = signature(head)
                scopes.append("function" if start else "other")
                start = (start, first) if start else None
        elif match.group(0) == ";":
            declared = None if inside else signature(head)
            if declared and not re.match(r"\s*(?:return|using|typedef)\b", head):
                found.append(Function(declared[0], line_of(first), 1, declared[1]))
        elif scopes:
            if scopes.pop() == "function" and start:
                (name, parameters), first = start
                lines = line_of(index) - line_of(first) + 1
                found.append(Function(name, line_of(first), lines, parameters))
        if not inside or match.group(0) != "{" or not scopes:
            begin = index + 1
    return found
