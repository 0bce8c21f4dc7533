#!/usr/bin/env python3
"""Draws what comm-report's JSON says, before and after, as an SVG.

    braid-opt prog.mlir --comm-report="format=json output=report.json passes=..." -o /dev/null
    timeline.py report.json "title before" "title after" > timeline.svg
"""
import json
import sys
from html import escape

WIDTH, LEFT, ROW, GAP = 900, 120, 30, 8
COMPUTE, HIDDEN, EXPOSED, STALL, INK = "#4c78a8", "#8cb369", "#e07a5f", "#f2d5cc", "#333333"


def box(x, y, width, color, text=""):
    """A bar; its text where it fits."""
    result = f'<rect x="{x:.1f}" y="{y}" width="{max(width, 0.6):.1f}" height="{ROW}" fill="{color}"/>'
    if text and width > 8 * len(text) + 6:
        result += (f'<text x="{x + width / 2:.1f}" y="{y + 20}" fill="white" '
                   f'text-anchor="middle">{escape(text)}</text>')
    return result


def draw(function, title, top, scale):
    """One function's two rows, and where they end."""
    lanes = sorted({node["lane"] for node in function["nodes"] if node["lane"] != "compute"})
    y = {"compute": top + 28} | {lane: top + 28 + (i + 1) * (ROW + GAP) for i, lane in enumerate(lanes)}
    total = function["makespan_ns"]
    parts = [f'<text x="0" y="{top + 14}" font-weight="bold">{escape(title)}: {total / 1e6:.1f} ms</text>']
    parts += [f'<text x="0" y="{row + 20}">{escape(lane if lane == "compute" else "on @" + lane)}</text>'
              for lane, row in y.items()]
    for node in function["nodes"]:
        x, width = LEFT + node["start_ns"] * scale, (node["end_ns"] - node["start_ns"]) * scale
        if node["kind"] == "wait":
            if width > 0:
                parts.append(box(x, y["compute"], width, STALL))
                parts.append(f'<text x="{x + width / 2:.1f}" y="{y["compute"] + 20}" fill="{INK}" '
                             'text-anchor="middle">waits</text>')
        elif node["lane"] == "compute":
            parts.append(box(x, y["compute"], width, COMPUTE, node["label"]))
        else:
            exposed = node.get("exposed_ns", 0) * scale
            parts.append(box(x, y[node["lane"]], width - exposed, HIDDEN, node["label"]))
            if exposed > 0:
                parts.append(box(x + width - exposed, y[node["lane"]], exposed, EXPOSED, node["label"]))
    return parts, max(y.values()) + ROW + 26


def main(path, before, after):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    old, new = report["before"][0], report["functions"][0]
    scale = (WIDTH - LEFT - 10) / max(old["makespan_ns"], new["makespan_ns"])
    first, middle = draw(old, before, 0, scale)
    second, bottom = draw(new, after, middle, scale)
    legend, x = [], LEFT
    for color, text in ((COMPUTE, "compute"), (HIDDEN, "communication, hidden"), (EXPOSED, "communication, exposed")):
        legend.append(f'<rect x="{x}" y="{bottom - 6}" width="14" height="14" fill="{color}"/>'
                      f'<text x="{x + 20}" y="{bottom + 6}">{text}</text>')
        x += 40 + 8 * len(text)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -10 {WIDTH + 20} {bottom + 30}" '
          f'font-family="sans-serif" font-size="14" fill="{INK}">')
    print(f'<rect x="-10" y="-10" width="{WIDTH + 20}" height="{bottom + 30}" fill="white"/>')
    print(*first, *second, *legend, "</svg>", sep="\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
