"""Draws a report (comm-report=format=json) as a picture: timelines of its first function."""
import html

COLORS = {"compute": "#3d70b2", "lane": "#5aa469", "wait": "#fbdcd9"}
LEFT, WIDTH, ROW, STEP = 150, 1036, 24, 29
LEGEND = [("compute", COLORS["compute"]), ("communication", COLORS["lane"]), ("exposed", "url(#hatch)"),
          ("stream waits", COLORS["wait"])]


def format_time(ns):
    unit, size = next((pair for pair in (("s", 1e9), ("ms", 1e6), ("us", 1e3)) if ns >= pair[1]), ("ns", 1))
    return f"{ns / size:.4g} {unit}"


def text(x, y, content, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{html.escape(content)}</text>'


def box(x, y, width, color, title=""):
    inside = f"<title>{html.escape(title)}</title>" if title else ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{ROW}" fill="{color}">{inside}</rect>'


def draw_panel(name, function, lanes, scale, top):
    """The rows of one timeline: the compute stream, then `lanes`."""
    exposed = function["exposed_ns"]
    out = [text(8, top + 14, f"{name} {format_time(function['makespan_ns'])}, {format_time(exposed)} exposed".strip())]
    rows = {lane: top + 22 + STEP * index for index, lane in enumerate(["compute", *lanes])}
    for lane, y in rows.items():
        out += [text(8, y + 16, lane if lane == "compute" else f"lane {lane}"), box(LEFT, y, WIDTH, "#f3f6f8")]
    for node in function["nodes"]:
        x, length = LEFT + node["start_ns"] * scale, (node["end_ns"] - node["start_ns"]) * scale
        if length == 0:
            continue
        y, kind = rows[node["lane"]], node["kind"] if node["lane"] == "compute" else "lane"
        label = "waits" if kind == "wait" else node["label"] or node["op"]
        out.append(box(x, y, length, COLORS[kind],
                       f"{label}: {format_time(node['start_ns'])} to {format_time(node['end_ns'])}"))
        if hatched := node.get("exposed_ns", 0):
            out.append(box(x + length - hatched * scale, y, hatched * scale, "url(#hatch)",
                           f"exposed for {format_time(hatched)}"))
        if length > 7 * len(label):
            style = 'fill="#1c2733"' if kind == "wait" else 'fill="#ffffff"'
            if kind == "lane":
                style += f' paint-order="stroke" stroke="{COLORS[kind]}" stroke-width="3"'
            out.append(text(x + length / 2, y + 16, label, f' text-anchor="middle" font-size="11" {style}'))
    return out, top + 22 + STEP * len(rows) + 16


def draw(report):
    panels = [("before", report["before"][0]), ("after", report["functions"][0])]
    nodes = [node for _, function in panels for node in function["nodes"]]
    lanes = [lane for lane in dict.fromkeys(node["lane"] for node in nodes) if lane != "compute"]
    scale = WIDTH / max(1, *(function["makespan_ns"] for _, function in panels))
    body, x = [], 8
    for name, color in LEGEND:
        body += [f'<rect x="{x}" y="8" width="16" height="14" fill="{color}"/>', text(x + 22, 20, name)]
        x += 42 + 7 * len(name)
    y = 40
    for name, function in panels:
        drawn, y = draw_panel(name, function, lanes, scale, y)
        body += drawn
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 {y}" font-family="sans-serif" font-size="12">',
        '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<rect width="3.4" height="6" fill="#cf3f4f"/></pattern></defs>',
        '<rect width="100%" height="100%" fill="#ffffff"/>', *body, "</svg>\n"])
