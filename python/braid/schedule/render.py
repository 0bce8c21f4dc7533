# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules as pages, pictures and traces."""

import html
import json

from .._files import write_whole

_COLOURS = {"compute": "#4e79a7", "opaque": "#9c755f", "start": "#59a14f", "wait": "#e15759"}
_STYLE = (
    "<style>.braid{font-family:sans-serif;font-size:14px;color:#222;background:#fff}"
    ".braid table{border-collapse:collapse;margin:.5em 0}"
    ".braid td,.braid th{padding:.2em .8em;border-bottom:1px solid #ddd;text-align:left}"
    ".braid td.n{text-align:right;font-variant-numeric:tabular-nums}"
    ".braid svg{width:100%;max-width:1200px;height:auto}</style>"
)
_WIDTH, _ROW, _LEFT = 1200, 26, 110
# More reasons than a page can use.
_MOST_REASONS = 100


def give(text, path):
    """Writes `text` to `path` if there is one, and returns it."""
    if path is not None:
        write_whole(path, text)
    return text


def format_ns(ns):
    """1234567 -> "1.235 ms"."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.4g} {unit}"
    return f"{ns} ns"


def _rows(schedule):
    """(label, slices) of the stream and of each lane."""
    lanes = {}
    for piece in schedule.timeline:
        if piece.kind == "start":
            lanes.setdefault(piece.lane, []).append(piece)
    stream = [piece for piece in schedule.timeline if piece.kind != "start"]
    return [("compute", stream), *sorted(lanes.items())]


def _merge(pieces, scale):
    """What is too narrow to be seen alone is drawn with its neighbours: (kind, start, end, text)."""
    drawn = []
    for piece in sorted(pieces, key=lambda piece: piece.start):
        if piece.end <= piece.start:
            continue
        narrow = (piece.end - piece.start) * scale < 0.5
        if narrow and drawn and drawn[-1][0] == piece.kind and (piece.start - drawn[-1][2]) * scale < 0.5:
            kind, start, _, count = drawn[-1]
            drawn[-1] = (kind, start, piece.end, count + 1 if isinstance(count, int) else 2)
            continue
        drawn.append((piece.kind, piece.start, piece.end, 1 if narrow else piece.name))
    return drawn


def svg(schedule, span=None):
    """The timeline as a picture; `span`: the ns that it is wide."""
    rows = _rows(schedule)
    span = max(span or schedule.makespan, 1)
    scale = (_WIDTH - _LEFT) / span
    height = _ROW * len(rows) + 20
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">']
    for number, (label, pieces) in enumerate(rows):
        top = number * _ROW
        parts.append(
            f'<text x="0" y="{top + 17}" font-size="13" font-family="sans-serif">{html.escape(label[:14])}</text>'
        )
        for kind, start, end, text in _merge(pieces, scale):
            title = text if isinstance(text, str) else f"{text} nodes"
            width = max((end - start) * scale, 0.5)
            parts.append(
                f'<rect x="{_LEFT + start * scale:.2f}" y="{top + 3}" width="{width:.2f}" height="{_ROW - 6}" '
                f'fill="{_COLOURS[kind]}" stroke="#fff" stroke-width="0.3">'
                f"<title>{html.escape(title)}: {start} to {end} ns</title></rect>"
            )
            if isinstance(text, str) and width > 7 * len(text):
                parts.append(
                    f'<text x="{_LEFT + start * scale + 4:.2f}" y="{top + 17}" font-size="11" fill="#fff" '
                    f'font-family="sans-serif" pointer-events="none">{html.escape(text)}</text>'
                )
    parts.append(
        f'<text x="{_WIDTH}" y="{height - 4}" font-size="12" text-anchor="end" font-family="sans-serif">'
        f"{format_ns(span)}</text></svg>"
    )
    return "".join(parts)


def _figures(schedule):
    program = schedule.program
    rows = [("", "program", "schedule")]
    rows.append(("makespan", format_ns(program.makespan), format_ns(schedule.makespan)))
    rows.append(("exposed communication", format_ns(program.exposed), format_ns(schedule.exposed)))
    rows.append(("peak memory", f"{program.peak:,} bytes", f"{schedule.peak:,} bytes"))
    cells = "".join(
        f"<tr><td>{name}</td><td class=n>{before}</td><td class=n>{after}</td></tr>" for name, before, after in rows
    )
    gap = "" if schedule.gap is None else f", {100 * schedule.gap:.2f} % below"
    return (
        f"<table>{cells}</table><p>Order by: {html.escape(schedule.method)}. No order takes less than "
        f"{format_ns(schedule.bound)}{gap}.</p>"
    )


def _reasons(schedule):
    reasons = schedule.reasons
    if not reasons:
        return "<p>No communication is exposed.</p>"
    rows = "".join(
        f"<tr><td>{html.escape(reason.name)}</td><td class=n>{format_ns(reason.exposed)}</td>"
        f"<td>{html.escape(reason.sentence)}</td></tr>"
        for reason in reasons[:_MOST_REASONS]
    )
    more = len(reasons) - _MOST_REASONS
    rest = f"<p>and {more} more</p>" if more > 0 else ""
    return f"<table><tr><th>exposed</th><th></th><th>why</th></tr>{rows}</table>{rest}"


def summary(schedule):
    """What a notebook shows."""
    return f'{_STYLE}<div class="braid">{_figures(schedule)}{svg(schedule)}</div>'


def page(schedule):
    program = schedule.program
    span = max(program.makespan, schedule.makespan)
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Braid: schedule</title>'
        f'{_STYLE}</head><body class="braid"><h1>Schedule of {len(schedule.order)} nodes</h1>'
        f"{_figures(schedule)}<h2>Program</h2>{svg(program, span)}<h2>Schedule</h2>{svg(schedule, span)}"
        f"<h2>Exposed communication</h2>{_reasons(schedule)}</body></html>"
    )


def perfetto(schedule):
    """Chrome's trace format; its times are microseconds."""
    events = []
    for number, (label, pieces) in enumerate(_rows(schedule)):
        events.append({"name": "thread_name", "ph": "M", "pid": 0, "tid": number, "args": {"name": label}})
        for piece in pieces:
            events.append(
                {
                    "name": piece.name,
                    "cat": piece.kind,
                    "ph": "X",
                    "pid": 0,
                    "tid": number,
                    "ts": piece.start / 1000,
                    "dur": (piece.end - piece.start) / 1000,
                    "args": {"lost_ns": piece.lost, "exposed_ns": piece.exposed},
                }
            )
    for piece, live in zip(schedule.timeline, schedule.memory):
        events.append({"name": "memory", "ph": "C", "pid": 0, "ts": piece.issued / 1000, "args": {"bytes": live}})
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events})


def plot(schedule, axes=None):
    if axes is None:
        from matplotlib import pyplot

        rows = len(_rows(schedule))
        axes = pyplot.subplots(figsize=(10, 0.6 + 0.4 * rows))[1]
    rows = _rows(schedule)
    for number, (_, pieces) in enumerate(rows):
        for kind, colour in _COLOURS.items():
            bars = [(piece.start / 1000, (piece.end - piece.start) / 1000) for piece in pieces if piece.kind == kind]
            axes.broken_barh(bars, (number - 0.4, 0.8), color=colour)
    axes.set_yticks(range(len(rows)), [label for label, _ in rows])
    axes.invert_yaxis()
    axes.set_xlabel("microseconds")
    return axes
