"""Draws the measurements of the steps on two H100s as a chart."""
import html

import tables

# The bars of a step: name, place in the legend, color, and its time in the measurements.
BARS = [
    ("PyTorch Inductor or JAX", 0, "#9aa0a6", "peer"),
    ("Braid, orders alone", 292, "#7aa6da", "best_order"),
    ("Braid, with plans", 446, "#2a7d4f", "best_plan"),
]
LEFT, TOP, WIDTH, BAR, GAP = 90, 64, 560, 11, 12
LEAST, MOST = 0.9, 1.5


def draw():
    rows = tables.load("steps-h100")
    step_height = len(BARS) * BAR + GAP
    height = TOP + len(rows) * step_height + 34
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 60}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="18" font-weight="bold">Time of a step on two H100s over max(compute alone, '
        "communication alone)</text>",
    ]
    for name, place_in_legend, color, _ in BARS:
        x = LEFT + place_in_legend
        out.append(f'<rect x="{x}" y="30" width="11" height="11" fill="{color}"/>')
        out.append(f'<text x="{x + 16}" y="40">{html.escape(name)}</text>')

    def place(value):
        return LEFT + WIDTH * (min(value, MOST) - LEAST) / (MOST - LEAST)

    for tick in (1.0, 1.1, 1.2, 1.3, 1.4, 1.5):
        x = place(tick)
        line = "#202124" if tick == 1.0 else "#dadce0"
        out.append(f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{height - 28}" stroke="{line}"/>')
        out.append(f'<text x="{x:.1f}" y="{height - 12}" text-anchor="middle">{tick:.1f}</text>')
    for number, row in enumerate(rows):
        y = TOP + number * step_height
        middle = y + len(BARS) * BAR / 2 + 4
        out.append(f'<text x="{LEFT - 8}" y="{middle:.1f}" text-anchor="end">{row["step"]}, {row["n"]}</text>')
        for index, (_, _, color, time) in enumerate(BARS):
            value = row[time] / row["bound"]
            top = y + index * BAR
            out.append(
                f'<rect x="{LEFT}" y="{top}" width="{place(value) - LEFT:.1f}" height="{BAR - 1}" fill="{color}"/>'
            )
            out.append(
                f'<text x="{place(value) + 4:.1f}" y="{top + BAR - 2}" font-size="10">{value:.2f}</text>'
            )
    out.append("</svg>\n")
    return "\n".join(out)
