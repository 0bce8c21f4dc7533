#!/usr/bin/env python3
"""Writes the pages of the passes from what mlir-tblgen wrote, one for each phase: passes.py FOLDER PART...

README.md of the folder lists all passes.
"""
import os
import re
import sys

import join

GENERATED = "<!-- Written by `make docs` from the .td files; change those. -->"

# Passes of Conversion that have no phase here belong to `lowering`.
PHASES = {
    "schedule": ("Passes that choose orders", "for an order of a block", [
        "comm-latency-hiding-schedule", "comm-list-schedule", "comm-order-collectives", "comm-raise-collectives",
        "comm-reorder-compute-for-overlap", "comm-reorder-preserving-peak-memory", "comm-schedule",
        "comm-simple-overlap", "comm-sink-waits", "comm-sink-waits-iterative"]),
    "rewrite": ("Passes that rewrite a program before it is scheduled", "for other ops that do the same", [
        "braid-fuse-epilogues", "comm-combine", "comm-fuse-elementwise", "comm-inline-compute", "comm-legalize-for-nccl",
        "comm-merge-batch", "comm-own-part-first", "comm-pipeline-loops", "comm-pipeline-matmul", "comm-reduce-behind-loops", "comm-simplify",
        "comm-split-all-reduce", "comm-split-batch", "comm-split-hierarchy", "convert-shard-to-comm"]),
    "plan": ("Passes that choose resources", "for the multiprocessors, transports and lanes of ops", [
        "comm-assign-lanes", "comm-plan-resources"]),
    "verify": ("Passes that check, run and report", "for what a program does", [
        "comm-interpret", "comm-report", "comm-verify"]),
    "lowering": ("Passes that lower a program to compiled code", "for the steps from tensors to a shared object", [
        "comm-bufferize"]),
}


def split(text):
    """Pairs of a pass and its lines, headings two levels up."""
    passes, fenced = [], False
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        if not fenced and (heading := re.fullmatch(r"#### `-([\w-]+)`", line)):
            passes.append((heading.group(1), []))
        if passes:
            passes[-1][1].append(line if fenced else re.sub(r"^##(?=##)", "", line))
    return passes


def check_prefixes(part, names):
    """The passes of the dialect's library have its prefix; the others convert between dialects or have the project's."""
    is_dialect = os.path.basename(part).startswith("Dialect.Comm")
    wrong = [name for name in names if not name.startswith(("comm-",) if is_dialect else ("braid-", "convert-"))]
    if wrong:
        sys.exit(f"docs/passes.py: found {', '.join(wrong)} in {part}, expected the prefix "
                 f"{'comm-' if is_dialect else 'braid- or convert-'}")


def get_phase(name):
    for phase, (_, _, names) in PHASES.items():
        if name in names:
            return phase
    if not name.startswith(("braid-", "convert-")):
        sys.exit(f"docs/passes.py: found no phase of the pass {name}, expected it in PHASES")
    return "lowering"


def main(folder, *parts):
    for part in parts:
        check_prefixes(part, [name for name, _ in split(join.join("Passes", [part], set()))])
    passes = split(join.join("Passes", parts, set()))
    if unknown := {name for _, _, names in PHASES.values() for name in names} - {name for name, _ in passes}:
        sys.exit(f"docs/passes.py: found no passes {', '.join(sorted(unknown))}, which PHASES lists")
    pages = {phase: [GENERATED, "", f"# {title}", "", f"For those who look {what}. [All passes](README.md).", ""]
             for phase, (title, what, _) in PHASES.items()}
    index = [GENERATED, "", "# All passes", "", "For those who look for a pass: each one with its page.", "",
             "| pass | what it does |", "|---|---|"]
    for name, lines in sorted(passes):
        phase = get_phase(name)
        pages[phase] += "\n".join(lines).strip().split("\n") + [""]
        summary = next(line for line in lines if line.startswith("_")).strip("_")
        index.append(f"| [`{name}`]({phase}.md#-{name}) | {summary} |")
    pages["README"] = index + [""]
    os.makedirs(folder, exist_ok=True)
    for phase, lines in pages.items():
        with open(os.path.join(folder, f"{phase}.md"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
