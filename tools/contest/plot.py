# SPDX-License-Identifier: Apache-2.0
"""Pictures of a test over sizes: values of every library with the machine's limit, and the ratio
of dlrt to the better peer below. SVG, by hand: two panels with logarithmic axes."""
import math
import os
from xml.sax.saxutils import escape

from table import COLUMNS, limit_of

WIDTH, PANEL, MARGIN = 760, 300, 70
COLOURS = {"as installed": "#c0392b", "tuned": "#e59866", "dlrt": "#c0392b",
           "dlrt+mpi.h": "#7d2a20",
           "openmpi": "#2c6fbb", "openmpi+tuned": "#8fb8e0",
           "mpich": "#3a8f4d", "mpich+tuned": "#9fd0aa", "limit": "#777777"}


def scale(low, high, start, length):
    low, high = math.log(low), math.log(high if high > low else low * 2)
    return lambda value: start + length * (math.log(value) - low) / ((high - low) or 1)


def size_text(size):
    for unit, step in (("Mi", 1 << 20), ("Ki", 1 << 10)):
        if size >= step and size % step == 0:
            return f"{size // step}{unit}"
    return str(size)


def panel(series, top, title, unit):
    """series: {label: [(size, value)]}. Returns SVG elements."""
    points = [point for line in series.values() for point in line]
    sizes = sorted({size for size, _ in points})
    values = [value for _, value in points]
    across = scale(sizes[0], sizes[-1], MARGIN, WIDTH - 2 * MARGIN - 90)
    up = scale(min(values), max(values) * 1.05, top + PANEL - 40, -(PANEL - 80))
    out = [f'<text x="{MARGIN}" y="{top + 24}" class="title">{escape(title)}</text>']
    for size in sizes[::max(1, len(sizes) // 10)]:
        out.append(f'<line x1="{across(size):.1f}" y1="{top + 40}" x2="{across(size):.1f}" '
                   f'y2="{top + PANEL - 40}" class="grid"/>')
        out.append(f'<text x="{across(size):.1f}" y="{top + PANEL - 22}" text-anchor="middle">'
                   f'{size_text(size)}</text>')
    step = 10 if max(values) / min(values) > 30 else 2
    mark = step ** math.ceil(math.log(min(values), step))
    while mark <= max(values) * 1.05:
        out.append(f'<line x1="{MARGIN}" y1="{up(mark):.1f}" x2="{WIDTH - MARGIN - 90}" '
                   f'y2="{up(mark):.1f}" class="grid"/>')
        out.append(f'<text x="{MARGIN - 6}" y="{up(mark) + 4:.1f}" text-anchor="end">'
                   f'{mark:g}</text>')
        mark *= step
    out.append(f'<text x="14" y="{top + 40}">{escape(unit)}</text>')
    for number, (label, line) in enumerate(series.items()):
        path = " ".join(f"{across(size):.1f},{up(value):.1f}" for size, value in sorted(line))
        dash = ' stroke-dasharray="5 4"' if label == "limit" else ""
        colour = COLOURS.get(label, "#000000")
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                   f'stroke-width="2"{dash}/>')
        y = top + 50 + 18 * number
        out.append(f'<line x1="{WIDTH - 150}" y1="{y - 4}" x2="{WIDTH - 125}" y2="{y - 4}" '
                   f'stroke="{colour}" stroke-width="2"{dash}/>')
        out.append(f'<text x="{WIDTH - 120}" y="{y}">{escape(label)}</text>')
    return out


def svg_of(samples, entry):
    """None for an entry that has no sizes to draw over."""
    keys = sorted(key for key in samples.values if key[0] == entry)
    if len({key[2] for key in keys}) < 3 or len({key[1] for key in keys}) != 1:
        return None
    unit = samples.units[keys[0]]
    series = {label: [(key[2], samples.best(key, label)) for key in keys
                      if samples.best(key, label)] for label in COLUMNS}
    limits = [(key[2], limit_of(samples, *key)) for key in keys]
    series["limit"] = [(size, limit) for size, limit in limits if limit]
    series = {label: line for label, line in series.items() if line}
    ratios = {}
    for label, peers in (("openmpi", ("openmpi", "mpich")),
                         ("openmpi+tuned", ("openmpi+tuned", "mpich+tuned"))):
        line = [(key[2], samples.ratio(key, peers)) for key in keys if samples.ratio(key, peers)]
        if line:
            ratios["as installed" if label == "openmpi" else "tuned"] = line
    body = panel(series, 0, entry, unit)
    if ratios:
        body += panel(ratios, PANEL, "dlrt to the better peer (below 1: ahead)", "ratio")
    height = PANEL * (2 if ratios else 1)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}">',
        "<style>text{font:12px sans-serif}.title{font:bold 15px sans-serif}"
        ".grid{stroke:#dddddd}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>', *body, "</svg>", ""])


def write_plots(samples, folder):
    """The files written, one for each entry that has sizes."""
    written = []
    for entry in dict.fromkeys(key[0] for key in samples.values):
        picture = None if entry == "limits" else svg_of(samples, entry)
        if picture is None:
            continue
        path = os.path.join(folder, entry.replace(" ", "_") + ".svg")
        with open(path, "w", encoding="utf-8") as file:
            file.write(picture)
        written.append(path)
    return written
