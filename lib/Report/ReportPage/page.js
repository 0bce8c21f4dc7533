// Draws the report that stands in this page as JSON (docs/guides/report.md), in the
// slices that ReportHtml.cpp has cut. What it says comes from programs: it only ever
// becomes text, never markup.
"use strict";

(() => {
  const { report, timelines } = JSON.parse(document.getElementById("report").textContent);

  const KINDS = ["compute", "side", "comm", "wait", "body", "rest"];
  const SVG = "http://www.w3.org/2000/svg";
  const LEFT = 150;
  const RIGHT = 12;
  const ROW = 26;
  const GAP = 5;
  const MEMORY = 64;
  const AXIS = 24;
  const MAX_ROWS = 300;

  const byId = (id) => document.getElementById(id);

  //===--- Figures ---------------------------------------------------------===//

  /** `value` in the largest of `units` ([name, size], smallest first). */
  function formatInUnit(value, units) {
    let unit = units[0];
    for (const candidate of units)
      if (Math.abs(value) >= candidate[1])
        unit = candidate;
    const scaled = value / unit[1];
    if (unit[1] === 1)
      return `${Math.round(scaled)} ${unit[0]}`;
    const size = Math.abs(scaled);
    return `${scaled.toFixed(size < 10 ? 3 : size < 100 ? 2 : size < 1000 ? 1 : 0)} ${unit[0]}`;
  }

  const formatTime = (ns) => formatInUnit(ns, [["ns", 1], ["us", 1e3], ["ms", 1e6], ["s", 1e9]]);
  const formatBytes = (bytes) =>
    formatInUnit(bytes, [["B", 1], ["KiB", 2 ** 10], ["MiB", 2 ** 20], ["GiB", 2 ** 30], ["TiB", 2 ** 40]]);
  const formatPercent = (fraction) => `${(fraction * 100).toFixed(1)} %`;
  const formatTick = (ns) => (ns === 0 ? "0" : formatTime(ns).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " "));

  /** A step of 1, 2 or 5 times a power of ten that is at least `least`. */
  function getTickStep(least) {
    const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
    return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
  }

  //===--- Elements --------------------------------------------------------===//

  function create(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes))
      if (value !== undefined)
        element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  function createSvg(name, attributes = {}, text) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes))
      if (value !== undefined)
        element.setAttribute(key, value);
    if (text !== undefined)
      element.textContent = text;
    return element;
  }

  //===--- The model -------------------------------------------------------===//

  /** All nodes of `functions`, before those of their bodies; starts have their collective. */
  function listNodes(functions) {
    const all = [];
    for (const { nodes, collectives } of functions) {
      const starts = collectives.values();
      const add = (node) => {
        all.push(node);
        if (node.exposed_ns !== undefined) {
          node.collective = starts.next().value;
          node.collective.node = node;
        }
        for (const body of node.bodies ?? [])
          body.nodes.forEach(add);
      };
      nodes.forEach(add);
    }
    return all;
  }

  /** A program's timeline of a function, with slices grouped for drawing. */
  class Timeline {
    constructor(data, functions, title) {
      Object.assign(this, functions[data.function], data, { title });
      const nodes = listNodes(functions);
      this.slices = data.slices.map(([kind, node, track, start, end, depth, trips], index) => ({
        index, kind: KINDS[kind], node: nodes[node], track, start, end, depth, trips,
      }));
      // Within a layer slices do not overlap, so that both ends are sorted.
      this.layers = this.tracks.map(() => []);
      for (const slice of this.slices) {
        const layers = this.layers[slice.track];
        (layers[slice.depth] ??= []).push(slice);
      }
      this.exposures = this.tracks.map(() => []);
      for (const [track, start, end, slice] of data.exposedParts)
        this.exposures[track].push({ start, end, slice });
    }

    /** The slice that shows `node` first, if any does. */
    findSlice(node) {
      return this.slices.find((slice) => slice.node === node);
    }
  }

  /** The index of the first of `items` that ends behind `ns`. */
  function findFirst(items, ns) {
    let low = 0;
    let high = items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (items[middle].end > ns)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  /** What is told of a slice: pairs of a name and a text. */
  function describe(slice) {
    const node = slice.node;
    const name = node.label || node.op;
    if (slice.kind === "rest")
      return [[name, `${slice.trips} more trips`], ["from, to", `${formatTime(slice.start)} to ${formatTime(slice.end)}`]];
    const rows = [[name, node.label ? node.op : ""]];
    if (node.type)
      rows.push(["type", node.type]);
    if (node.bytes > 0)
      rows.push(["bytes", `${formatBytes(node.bytes)} (${node.bytes})`]);
    const { group, group_size: groupSize, reason } = node.collective ?? {};
    if (group)
      rows.push(["group", `@${group}, ${groupSize} ranks`]);
    if (slice.kind === "body" && slice.trips !== 1)
      rows.push(["trips", String(slice.trips)]);
    if (slice.kind === "wait")
      rows.push(["holds the stream for", formatTime(slice.end - slice.start)]);
    else
      rows.push(["cost", `${formatTime(node.cost_ns)} (${node.cost_source})`]);
    if (node.lost_ns > 0)
      rows.push(["slowed down by", `${formatTime(node.lost_ns)}, by what runs beside it`]);
    rows.push(["from, to", `${formatTime(slice.start)} to ${formatTime(slice.end)}`]);
    if (node.exposed_ns > 0)
      rows.push(["exposed for", formatTime(node.exposed_ns)]);
    if (reason)
      rows.push(["why exposed", reason]);
    return rows;
  }

  function createDescription(rows) {
    const list = create("dl");
    rows.forEach(([name, text], index) => {
      const attributes = index === 0 ? { class: "title" } : {};
      list.append(create("dt", attributes, name), create("dd", attributes, text));
    });
    return list;
  }

  //===--- Timelines -------------------------------------------------------===//

  /** What part of the time all panels show. */
  const view = { from: 0, to: 1, length: 1 };
  let panels = [];
  let selection = null;

  function setView(from, to) {
    const least = Math.min(view.length, 10);
    const width = Math.min(view.length, Math.max(least, to - from));
    view.from = Math.min(Math.max(0, from), view.length - width);
    view.to = view.from + width;
    redraw();
  }

  /** Zooms by `factor` (below 1: in) around the time `at`. */
  function zoom(factor, at = (view.from + view.to) / 2) {
    setView(at - (at - view.from) * factor, at + (view.to - at) * factor);
  }

  let isDrawing = false;
  function redraw() {
    if (isDrawing)
      return;
    isDrawing = true;
    requestAnimationFrame(() => {
      isDrawing = false;
      for (const panel of panels)
        panel.draw();
    });
  }

  class Panel {
    constructor(timeline) {
      this.timeline = timeline;
      const summary = [formatTime(timeline.makespan_ns), `${formatTime(timeline.exposed_ns)} exposed`];
      if (!timeline.isComplete)
        summary.push("loops show their first trip alone");
      const excess = timeline.memory_excess_bytes;
      const alarm = excess > 0 ? `memory limit exceeded by ${formatBytes(excess)}` : "";
      this.svg = createSvg("svg", {
        tabindex: "0", role: "group", "aria-describedby": "help",
        "aria-label": `Timeline ${timeline.title}: ${[...summary, alarm].filter(Boolean).join(", ")}`,
      });
      this.element = create("div", { class: "panel" },
        create("h3", {}, `${timeline.title} `, create("span", {}, summary.join(", ")),
          create("strong", { class: "over" }, alarm && ` ${alarm}`)), this.svg);
      this.height = timeline.tracks.length * (ROW + GAP) + MEMORY + AXIS;
      this.listen();
    }

    getX(ns) {
      return LEFT + (ns - view.from) * this.scale;
    }

    getTime(clientX) {
      const { left } = this.svg.getBoundingClientRect();
      return view.from + (clientX - left - LEFT) / this.scale;
    }

    draw() {
      const width = Math.max(400, this.svg.clientWidth || this.element.clientWidth || 1000);
      this.width = width;
      this.scale = (width - LEFT - RIGHT) / (view.to - view.from);
      this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
      this.svg.setAttribute("height", this.height);
      const patternId = `hatch-${this.timeline.title}`;
      const pattern = createSvg("pattern", {
        id: patternId, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)",
      });
      pattern.append(createSvg("rect", { class: "hatch", width: 3.4, height: 6 }));
      const clip = createSvg("clipPath", { id: `clip-${this.timeline.title}` });
      clip.append(createSvg("rect", { x: LEFT, y: 0, width: width - LEFT - RIGHT, height: this.height }));
      const definitions = createSvg("defs");
      definitions.append(pattern, clip);
      const plot = createSvg("g", { "clip-path": `url(#clip-${this.timeline.title})` });
      this.svg.replaceChildren(definitions);
      this.timeline.tracks.forEach((name, track) => {
        const y = track * (ROW + GAP);
        this.drawRowName(name, y);
        plot.append(createSvg("rect", { class: "lane", x: LEFT, y, width: width - LEFT - RIGHT, height: ROW }));
        const labels = [];
        for (const layer of this.timeline.layers[track])
          if (layer)
            this.drawLayer(layer, y, plot, labels);
        this.drawExposures(this.timeline.exposures[track], y, plot, patternId);
        plot.append(...labels);
      });
      const bottom = this.timeline.tracks.length * (ROW + GAP);
      this.drawMemory(bottom, plot, patternId);
      this.svg.append(plot);
      this.drawAxis(bottom + MEMORY);
    }

    drawRowName(name, y) {
      const shown = name.length > 20 ? `${name.slice(0, 19)}\u2026` : name;
      const text = createSvg("text", { x: 4, y: y + 17 }, shown);
      if (shown !== name)
        text.append(createSvg("title", {}, name));
      this.svg.append(text);
    }

    /** One rectangle a slice; those that share a pixel get one, which looks like most of them. */
    drawLayer(layer, y, plot, labels) {
      for (let i = findFirst(layer, view.from); i < layer.length && layer[i].start < view.to; ++i) {
        const first = layer[i];
        if (first.end === first.start)
          continue;
        const x = this.getX(first.start);
        const sums = { [first.kind]: first.end - first.start };
        let end = first.end;
        let last = i;
        while (last + 1 < layer.length && this.getX(layer[last + 1].end) - x < 1 && layer[last + 1].start < view.to) {
          const slice = layer[++last];
          sums[slice.kind] = (sums[slice.kind] ?? 0) + slice.end - slice.start;
          end = slice.end;
        }
        const kind = Object.keys(sums).reduce((a, b) => (sums[b] > sums[a] ? b : a));
        const width = this.getX(end) - x;
        const inset = Math.min(first.depth, 4) * 2;
        const rect = createSvg("rect", {
          class: kind, x, y: y + inset, height: ROW - 2 * inset,
          width: Math.max(width > 3 ? width - 0.6 : width, 0.7), rx: width > 6 ? 2 : undefined,
          "data-slice": first.index, "data-count": last > i ? last - i + 1 : undefined,
        });
        if (last > i)
          rect.setAttribute("data-end", end);
        else if (selection && selection.timeline === this.timeline && selection.slice === first)
          rect.classList.add("selected");
        plot.append(rect);
        this.drawLabel(first, x, width, y, labels);
        i = last;
      }
    }

    drawLabel(slice, x, width, y, labels) {
      // The part that is seen.
      const left = Math.max(x, LEFT);
      const right = Math.min(x + width, this.width - RIGHT);
      const room = Math.floor((right - left - 8) / 6.4);
      if (room < 2)
        return;
      const name = slice.kind === "wait" ? "waits" : slice.node.label || slice.node.op;
      if (room < Math.min(name.length, 6))
        return;
      labels.push(createSvg("text", { class: `in ${slice.kind}`, x: (left + right) / 2, y: y + 17 },
        name.length > room ? `${name.slice(0, room - 1)}\u2026` : name));
    }

    drawExposures(exposures, y, plot, patternId) {
      for (let i = findFirst(exposures, view.from); i < exposures.length && exposures[i].start < view.to; ++i) {
        const x = this.getX(exposures[i].start);
        let end = exposures[i].end;
        while (i + 1 < exposures.length && this.getX(exposures[i + 1].end) - x < 1)
          end = exposures[++i].end;
        plot.append(createSvg("rect", {
          class: "exposed", x, y, width: Math.max(0.7, this.getX(end) - x), height: ROW, fill: `url(#${patternId})`,
        }));
      }
    }

    drawMemory(y, plot, patternId) {
      const { memory, peak_bytes: peak, makespan_ns: makespan } = this.timeline;
      const limit = report.memory_limit_bytes;
      // A limit far away would press the curve flat: it is told, not drawn.
      const showsLimit = limit !== null && limit <= 3 * peak;
      const most = Math.max(1, showsLimit ? Math.max(limit, peak) : peak);
      const base = y + MEMORY - 2;
      const getY = (bytes) => base - bytes / most * (MEMORY - 12);
      this.svg.append(createSvg("text", { x: 4, y: y + 18 }, "memory"),
        createSvg("text", { x: 4, y: y + 34 }, `peak ${formatBytes(peak)}`));
      if (limit !== null)
        this.svg.append(createSvg("text", { x: 4, y: y + 50, class: peak > limit ? "over" : undefined },
          `limit ${formatBytes(limit)}`));
      // For each pixel the most, and what holds at its end.
      const points = [];
      let previous = 0;
      let i = 0;
      // What holds where the view begins.
      while (i < memory.length && memory[i].ns <= view.from)
        previous = memory[i++].bytes;
      const startX = this.getX(Math.max(view.from, 0));
      points.push(`M${startX},${base}`, `V${getY(previous)}`);
      while (i < memory.length && memory[i].ns <= view.to) {
        const x = this.getX(memory[i].ns);
        let highest = memory[i].bytes;
        let last = i;
        while (last + 1 < memory.length && this.getX(memory[last + 1].ns) - x < 1)
          highest = Math.max(highest, memory[++last].bytes);
        points.push(`H${x}`, `V${getY(highest)}`, `V${getY(memory[last].bytes)}`);
        i = last + 1;
      }
      points.push(`H${this.getX(Math.min(makespan, view.to))}`, `V${base}`, "Z");
      const outline = points.join("");
      plot.append(createSvg("path", { class: "memory", d: outline }));
      if (limit !== null && peak > limit) {
        const clipId = `above-${this.timeline.title}`;
        const clip = createSvg("clipPath", { id: clipId });
        clip.append(createSvg("rect", { x: 0, y: 0, width: this.width, height: getY(limit) }));
        plot.append(clip, createSvg("path", {
          class: "excess", d: outline, fill: `url(#${patternId})`, "clip-path": `url(#${clipId})`,
        }));
      }
      if (showsLimit)
        plot.append(createSvg("line", { class: "limit", x1: LEFT, x2: this.width - RIGHT, y1: getY(limit), y2: getY(limit) }));
    }

    drawAxis(y) {
      const step = getTickStep((view.to - view.from) / Math.max(2, (this.width - LEFT) / 110));
      this.svg.append(createSvg("line", { class: "axis", x1: LEFT, x2: this.width - RIGHT, y1: y, y2: y }));
      for (let tick = Math.ceil(view.from / step); tick * step <= view.to; ++tick) {
        const x = this.getX(tick * step);
        this.svg.append(createSvg("line", { class: "axis", x1: x, x2: x, y1: y, y2: y + 4 }));
        if (x < this.width - 30)
          this.svg.append(createSvg("text", { class: "tick", x, y: y + 17 }, formatTick(tick * step)));
      }
    }

    /** The bytes that live at `ns`. */
    getBytes(ns) {
      return this.timeline.memory.findLast((sample) => sample.ns <= ns)?.bytes ?? 0;
    }

    describeTarget(event) {
      const { slice, count, end } = event.target.dataset;
      if (slice !== undefined) {
        const first = this.timeline.slices[slice];
        if (count === undefined)
          return describe(first);
        return [[`${count} ops`, ""], ["from, to", `${formatTime(first.start)} to ${formatTime(Number(end))}`],
          ["", "zoom in to tell them apart"]];
      }
      if (event.target.classList.contains("memory")) {
        const ns = this.getTime(event.clientX);
        return [["memory", formatBytes(this.getBytes(ns))], ["at", formatTime(Math.round(ns))]];
      }
      return null;
    }

    listen() {
      const svg = this.svg;
      let drag = null;
      svg.addEventListener("pointermove", (event) => {
        if (drag) {
          const by = (drag.x - event.clientX) / this.scale;
          if (!drag.moved && Math.abs(drag.x - event.clientX) > 3) {
            drag.moved = true;
            svg.classList.add("dragging");
          }
          if (drag.moved)
            setView(drag.from + by, drag.to + by);
        }
        showTooltip(drag && drag.moved ? null : this.describeTarget(event), event);
      });
      svg.addEventListener("pointerleave", () => showTooltip(null));
      svg.addEventListener("pointerdown", (event) => {
        if (event.button !== 0)
          return;
        drag = { x: event.clientX, from: view.from, to: view.to, moved: false, target: event.target };
        // A drag goes on where it leaves the timeline.
        svg.setPointerCapture(event.pointerId);
      });
      window.addEventListener("pointerup", () => {
        if (!drag)
          return;
        const { moved, target } = drag;
        drag = null;
        svg.classList.remove("dragging");
        if (moved || !svg.contains(target))
          return;
        const { slice, count } = target.dataset;
        if (slice !== undefined && count === undefined)
          select(this.timeline, this.timeline.slices[slice]);
      });
      svg.addEventListener("dblclick", () => setView(0, view.length));
      svg.addEventListener("wheel", (event) => {
        event.preventDefault();
        const pixels = event.deltaMode === 0 ? 1 : 16;
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          const by = (event.deltaX || event.deltaY) * pixels / this.scale;
          setView(view.from + by, view.to + by);
        } else {
          zoom(Math.exp(event.deltaY * pixels * 0.0015), this.getTime(event.clientX));
        }
      }, { passive: false });
      svg.addEventListener("keydown", (event) => this.press(event));
    }

    press(event) {
      const step = (view.to - view.from) / 10;
      const actions = {
        ArrowLeft: () => setView(view.from - step, view.to - step),
        ArrowRight: () => setView(view.from + step, view.to + step),
        "+": () => zoom(1 / 1.5), "=": () => zoom(1 / 1.5), "-": () => zoom(1.5),
        0: () => setView(0, view.length), Home: () => setView(0, view.length),
        n: () => this.selectNext(1), p: () => this.selectNext(-1),
      };
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in actions))
        return;
      event.preventDefault();
      actions[event.key]();
    }

    /** Selects the next op that takes time, or (`step` -1) the one before. */
    selectNext(step) {
      const slices = this.timeline.slices;
      let index = selection && selection.timeline === this.timeline
        ? selection.slice.index + step : step > 0 ? 0 : slices.length - 1;
      while (index >= 0 && index < slices.length && slices[index].end === slices[index].start)
        index += step;
      if (index >= 0 && index < slices.length)
        select(this.timeline, slices[index], true);
    }
  }

  /** Selects `slice`, and moves the view if it has to be seen. */
  function select(timeline, slice, bringsIntoView = false) {
    selection = { timeline, slice };
    byId("details").replaceChildren(createDescription([...describe(slice), ["shown", timeline.title]]));
    const length = slice.end - slice.start;
    const width = view.to - view.from;
    if (bringsIntoView && (slice.end <= view.from || slice.start >= view.to || length < width / 400 || length > width)) {
      const middle = (slice.start + slice.end) / 2;
      const shown = Math.min(width, Math.max(length * 8, 10));
      setView(middle - shown / 2, middle + shown / 2);
    } else {
      redraw();
    }
  }

  function showTooltip(rows, event) {
    const tooltip = byId("tooltip");
    tooltip.hidden = !rows;
    if (!rows)
      return;
    tooltip.replaceChildren(createDescription(rows));
    const { offsetWidth, offsetHeight } = tooltip;
    const x = Math.min(event.clientX + 14, window.innerWidth - offsetWidth - 8);
    const below = event.clientY + 18;
    const y = below + offsetHeight < window.innerHeight ? below : event.clientY - offsetHeight - 12;
    tooltip.style.left = `${Math.max(4, x)}px`;
    tooltip.style.top = `${Math.max(4, y)}px`;
  }

  //===--- Tables ----------------------------------------------------------===//

  /**
   * A table that a click on a heading sorts. Columns: `name`, `get` (the value of
   * a row: a number, a text or null), `format` (its text, of the value and the row).
   */
  class SortedTable {
    constructor(columns, rows, sortedBy, onChoose) {
      Object.assign(this, { columns, rows, sortedBy, onChoose });
      this.descending = true;
      this.limit = MAX_ROWS;
      this.element = create("div");
      this.draw();
    }

    getSortedRows() {
      const { get } = this.columns[this.sortedBy];
      const sign = this.descending ? -1 : 1;
      const compare = (a, b) => {
        // What is not known stands last, whatever the direction.
        if (a === null || b === null)
          return a === b ? 0 : a === null ? 1 : -1;
        return sign * (typeof a === "string" ? a.localeCompare(b) : a - b);
      };
      return [...this.rows].sort((a, b) => compare(get(a), get(b)));
    }

    draw() {
      const head = create("tr");
      this.columns.forEach((column, index) => {
        const isSorted = index === this.sortedBy;
        const button = create("button", { type: "button" }, column.name);
        button.addEventListener("click", () => {
          this.descending = isSorted ? !this.descending : true;
          this.sortedBy = index;
          this.draw();
          this.element.querySelectorAll("th button")[index].focus();
        });
        head.append(create("th", {
          scope: "col", class: column.isText ? undefined : "number",
          "aria-sort": isSorted ? (this.descending ? "descending" : "ascending") : "none",
        }, button));
      });
      const body = create("tbody");
      for (const row of this.getSortedRows().slice(0, this.limit)) {
        const line = create("tr", this.onChoose ? { class: "link", tabindex: "0" } : {});
        for (const column of this.columns) {
          const value = column.get(row);
          line.append(create("td", { class: column.isText ? undefined : "number" },
            value === null || value === "" ? "\u2013" : column.format ? column.format(value, row) : String(value)));
        }
        line.addEventListener("click", () => this.onChoose?.(row));
        line.addEventListener("keydown", (event) => {
          if (event.key === "Enter")
            this.onChoose?.(row);
        });
        body.append(line);
      }
      this.element.replaceChildren(create("table", {}, create("thead", {}, head), body));
      if (this.rows.length > this.limit) {
        const button = create("button", { type: "button" }, `Show all ${this.rows.length}`);
        button.addEventListener("click", () => {
          this.limit = this.rows.length;
          this.draw();
        });
        this.element.append(button);
      }
    }
  }

  const text = (name, key) => ({ name, get: (row) => row[key], isText: true });
  const time = (name, key) => ({ name, get: (row) => row[key], format: formatTime });

  function fillTables(timeline, hasBefore) {
    const rows = timeline.collectives;
    const choose = (row) => {
      const slice = timeline.findSlice(row.node);
      if (slice) {
        select(timeline, slice, true);
        byId("timelines-heading").scrollIntoView({ block: "nearest" });
      }
    };
    const label = text("collective", "label");

    const exposed = rows.filter((row) => row.exposed_ns > 0);
    const reasons = [label, text("kind", "kind"), text("group", "group"), time("exposed", "exposed_ns"),
      { name: "of makespan", get: (row) => row.exposed_ns / Math.max(1, timeline.makespan_ns), format: formatPercent },
      text("reason", "reason")];
    byId("reasons").replaceChildren(exposed.length > 0
      ? new SortedTable(reasons, exposed, 3, choose).element
      : create("p", { class: "quiet" }, rows.length > 0 ? "No communication is exposed." : "There is no communication."));

    const columns = [label, text("kind", "kind"), text("group", "group"), { name: "ranks", get: (row) => row.group_size },
      { name: "bytes", get: (row) => row.bytes, format: formatBytes }, { name: "runs", get: (row) => row.runs },
      time("cost", "cost_ns"), text("cost source", "cost_source")];
    if (hasBefore)
      columns.push({ ...time("exposed before"), get: (row) => row.exposed_before_ns ?? null });
    columns.push(time(hasBefore ? "exposed after" : "exposed", "exposed_ns"));
    byId("collectives").replaceChildren(rows.length > 0
      ? new SortedTable(columns, rows, columns.length - 1, choose).element
      : create("p", { class: "quiet" }, "There is no communication."));
  }

  /** Rows of figures, and whether they got better. */
  function fillSummary(before, after) {
    const limit = report.memory_limit_bytes;
    const metrics = [
      ["Makespan", "makespan_ns", formatTime, -1],
      ["Exposed communication", "exposed_ns", formatTime, -1],
      ["Hidden fraction of communication", "hidden_fraction", formatPercent, 1],
      ["Lower bound of the makespan", "lower_bound_ns", formatTime, 0],
      ["Gap to the lower bound", "gap", formatPercent, -1],
      ["Compute", "compute_ns", formatTime, 0],
      ["Communication", "communication_ns", formatTime, 0],
      [limit === null ? "Peak memory" : `Peak memory (limit ${formatBytes(limit)})`, "peak_bytes", formatBytes, -1],
    ];
    const both = before && after;
    const head = create("tr", {}, create("th", { scope: "col" }, ""));
    for (const timeline of [before, after])
      if (timeline)
        head.append(create("th", { scope: "col", class: "number" }, timeline.title));
    if (both)
      head.append(create("th", { scope: "col", class: "number" }, "change"));
    const body = create("tbody");
    const bounds = [...new Set([before, after].filter(Boolean).map((timeline) => timeline.lower_bound_kind))].filter(Boolean);
    if (bounds.length > 0)
      metrics[3][0] += ` (${bounds.join(", ")})`;
    for (const [name, key, format, direction] of metrics) {
      const line = create("tr", {}, create("th", { scope: "row" }, name));
      for (const timeline of [before, after])
        if (timeline) {
          const isOver = key === "peak_bytes" && timeline.memory_excess_bytes > 0;
          line.append(create("td", { class: isOver ? "number over" : "number" },
            timeline[key] === null ? "\u2013"
              : isOver ? `${format(timeline[key])}, ${format(timeline.memory_excess_bytes)} above the limit`
                : format(timeline[key])));
        }
      if (both) {
        const change = before[key] === null || after[key] === null ? 0 : after[key] - before[key];
        const verdict = change * direction > 0 ? " better" : change * direction < 0 ? " worse" : "";
        line.append(create("td", { class: `number${verdict}` },
          change === 0 ? "" : `${change > 0 ? "+" : "\u2212"}${format(Math.abs(change))}`));
      }
      body.append(line);
    }
    byId("summary").replaceChildren(create("thead", {}, head), body);
  }

  //===--- A run -----------------------------------------------------------===//

  const ROW_OF_RUN = 20;

  /** For each lane the predicted row above the measured one. */
  function drawComparison({ ops, predicted_ns: predicted, measured_ns: measured }) {
    const lanes = [...new Set(["compute", ...ops.toSorted((a, b) => a.predicted_start_ns - b.predicted_start_ns)
      .map((op) => op.lane)])];
    const scale = 900 / Math.max(1, predicted, measured);
    const svg = createSvg("svg", { viewBox: `0 0 1110 ${lanes.length * (2 * ROW_OF_RUN + 10)}` });
    lanes.forEach((lane, index) => ["predicted", "measured"].forEach((row, below) => {
      const y = index * (2 * ROW_OF_RUN + 10) + below * ROW_OF_RUN;
      svg.append(createSvg("text", { x: 192, y: y + 14, "text-anchor": "end" }, `${lane}, ${row}`));
      for (const op of ops.filter((op) => op.lane === lane)) {
        const start = op[`${row}_start_ns`];
        const rect = createSvg("rect", {
          class: `${lane === "compute" ? "compute" : "comm"} ${row}`, x: 200 + start * scale, y, height: ROW_OF_RUN - 4,
          width: Math.max(0.5, (op[`${row}_end_ns`] - start) * scale),
        });
        rect.append(createSvg("title", {}, `${op.name}: predicted ${formatTime(op.predicted_end_ns - op.predicted_start_ns)}, `
          + `measured ${formatTime(op.measured_end_ns - op.measured_start_ns)}`));
        svg.append(rect);
      }
    }));
    return svg;
  }

  function fillComparison(comparison) {
    const { function: name, rank, predicted_ns: predicted, measured_ns: measured } = comparison;
    const formatSigned = (text, value) => (value < 0 ? `\u2212${text}` : `+${text}`);
    const change = predicted > 0 ? `, ${formatSigned(formatPercent(Math.abs(measured / predicted - 1)), measured - predicted)}` : "";
    const getTime = (row) => (op) => op[`${row}_end_ns`] - op[`${row}_start_ns`];
    const columns = [text("op", "name"), text("lane", "lane"),
      { name: "off", get: (op) => Math.abs(op.deviation_ns), format: (ns, op) => formatSigned(formatTime(ns), op.deviation_ns) },
      { name: "predicted", get: getTime("predicted"), format: formatTime },
      { name: "measured", get: getTime("measured"), format: formatTime }];
    byId("comparison").append(
      create("p", {}, `@${name}, rank ${rank}: predicted ${formatTime(predicted)}, measured ${formatTime(measured)}${change}`),
      drawComparison(comparison), create("div", { class: "scroll" }, new SortedTable(columns, comparison.ops, 2).element),
      ...comparison.unmatched.map((what) => create("p", {}, `not compared: ${what}`)));
    byId("comparison").hidden = false;
  }

  //===--- The page --------------------------------------------------------===//

  function describeNumerics(sums) {
    return sums.length === 0 ? "same bits as the program as written"
      : "same terms as the program as written, sums in another order: "
        + sums.map(({ operation, site, reason }) => `${operation}${site && ` at ${site}`} (${reason})`).join(", ");
  }

  function showFunction(index) {
    const { before, after } = timelines[index];
    const hasPasses = report.passes !== undefined;
    const pair = [before && new Timeline(before, report.before, "before"),
      after && new Timeline(after, report.functions, hasPasses ? "after" : "timeline")];
    const shown = pair.filter(Boolean);
    selection = null;
    byId("details").replaceChildren();
    view.length = Math.max(1, ...shown.map((timeline) => timeline.makespan_ns));
    panels = shown.map((timeline) => new Panel(timeline));
    byId("panels").replaceChildren(...panels.map((panel) => panel.element));
    fillSummary(...pair);
    fillTables(shown[shown.length - 1], hasPasses);
    view.from = 0;
    view.to = view.length;
    for (const panel of panels)
      panel.draw();
  }

  function start() {
    const settings = [`machine ${report.machine}`, `collective model ${report.collective_model}`,
      `${report.ranks} ranks`];
    if (report.passes !== undefined)
      settings.push(`passes ${report.passes}`, describeNumerics(report.numerics.reordered_sums));
    byId("settings").textContent = settings.join(" \u00b7 ");
    if (report.comparison)
      fillComparison(report.comparison);
    if (timelines.length === 0) {
      byId("summary-heading").textContent = "The program has no function with a body.";
      return;
    }
    const choice = byId("function");
    const names = timelines.map(({ before, after }) => (after ? report.functions[after.function] : report.before[before.function]).name);
    names.forEach((name, index) => choice.append(create("option", { value: index }, `@${name}`)));
    byId("choice").hidden = names.length < 2;
    choice.addEventListener("change", () => showFunction(Number(choice.value)));
    document.title = `comm-report: @${names[0]}`;
    byId("zoom-in").addEventListener("click", () => zoom(1 / 1.5));
    byId("zoom-out").addEventListener("click", () => zoom(1.5));
    byId("reset").addEventListener("click", () => setView(0, view.length));
    window.addEventListener("resize", redraw);
    showFunction(0);
  }

  start();
})();
