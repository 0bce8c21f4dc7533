# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A file of what cells of the matrix gave: a line of JSON for each pass, so that a run goes on where another one has ended."""

import dataclasses
import json
import os
from collections import Counter

from .matrix import Cell
from .parallel import PARALLELISMS
from .zoo import MODELS

#: How a pass ended: the same bits, other bits, an error of PyTorch or results unlike eager ones without any pass, an error or no end
#: with it.
SAME, DIFFERS, PYTORCH_FAILS, FAILED = "same", "differs", "pytorch fails", "failed"


@dataclasses.dataclass(frozen=True)
class Entry:
    """What a pass gave in a cell. `mode`: one of `processes.MODES`."""

    cell: Cell
    name: str
    mode: str
    outcome: str
    #: Graphs for which passes were called, and those among them whose order changed.
    graphs: int = 0
    moved: int = 0
    #: What differs, an error, and why passes kept orders.
    texts: list = dataclasses.field(default_factory=list)

    @property
    def key(self):
        return self.cell, self.name, self.mode


def _get_pass(name):
    """The pass of an outcome, whose name may end with the number of a random order."""
    words, _, number = name.rpartition(" ")
    return words if number.isdigit() else name


def make_entries(cell, mode, passes, outcomes):
    """The `Entry`s of the `processes.Outcome`s of a cell: one for each pass, whose random orders count together."""
    entries = []
    own = [outcome for outcome in outcomes if outcome.setting == "eager"]
    for name in passes:
        found = [outcome for outcome in outcomes if outcome.setting == cell.setting and _get_pass(outcome.name) == name]
        differences = [text for outcome in found for text in outcome.differences]
        failures = [outcome.failure for outcome in [*own, *found] if outcome.failure]
        failures += [f"without passes, beside eager: {text}" for outcome in own for text in outcome.differences]
        result = DIFFERS if differences else PYTORCH_FAILS if failures else SAME if found else FAILED
        first = [outcome for outcome in found if outcome.rank == 0]
        reasons = sorted({reason for outcome in found for reason in outcome.reasons})
        entries.append(
            Entry(
                cell, name, mode, result, sum(outcome.graphs for outcome in first), sum(outcome.moved for outcome in first),
                [*differences[:5], *failures[:1], *reasons],
            )
        )  # fmt: skip
    return entries


class File:
    """The entries of a file, the last one of each pass in a cell. `path` is None for entries that stay in memory."""

    def __init__(self, path):
        self.path = path
        self.entries = {}
        if path and os.path.exists(path):
            with open(path) as file:
                for number, line in enumerate(file, 1):
                    try:
                        fields = json.loads(line)
                        entry = Entry(**{**fields, "cell": Cell(**fields["cell"])})
                    except (ValueError, TypeError, KeyError) as error:
                        raise SystemExit(f"{path}:{number}: found no entry of the matrix: {error}") from None
                    self.entries[entry.key] = entry

    def add(self, entries):
        self.entries.update((entry.key, entry) for entry in entries)
        if self.path:
            with open(self.path, "a") as file:
                file.writelines(json.dumps(dataclasses.asdict(entry)) + "\n" for entry in entries)

    def get(self, cell, name, mode):
        return self.entries.get((cell, name, mode))

    def choose(self, **values):
        """The entries whose cells have these values."""
        return [entry for entry in self.entries.values() if all(getattr(entry.cell, k) == v for k, v in values.items())]


def make_table(file, cells, passes, software):
    """The measurements of docs/tables.py: for each model and parallelism of which something has run, how much, and how it ended."""
    rows = []
    for model in MODELS:
        for parallelism in PARALLELISMS:
            of_both = {"model": model, "parallelism": parallelism}
            possible = len(passes) * sum(cell.model == model and cell.parallelism == parallelism for cell in cells)
            chosen = file.choose(**of_both)
            if not chosen:
                continue
            counts = Counter(entry.outcome for entry in chosen)
            rows.append({
                **of_both,
                "possible": possible,
                "run": len({(entry.cell, entry.name) for entry in chosen}),
                "versions": ", ".join(sorted({entry.cell.torch for entry in chosen})),
                "settings": len({entry.cell.setting for entry in chosen}),
                "variants": ", ".join(sorted({entry.cell.variant for entry in chosen})),
                "orders": sum(entry.moved for entry in chosen),
                "same": counts[SAME],
                "pytorch_fails": counts[PYTORCH_FAILS],
                "wrong": counts[DIFFERS] + counts[FAILED],
            })  # fmt: skip
    return {
        "about": "Cells of the matrix of test/Dev/real_models.py: a model, parallelism, variant, setting of Inductor and "
        "version of PyTorch with one pass. orders are graphs whose order has changed. Each outcome is compared bit by bit with "
        "Inductor without passes (with rounding where a pass changes which kernels are fused)",
        "software": software,
        "tables": {
            "real-models": {
                "by": "model",
                "columns": [
                    ["model", "{model}"],
                    ["parallelism", "{parallelism}"],
                    ["PyTorch", "{versions}"],
                    ["cells", "{run} of {possible}"],
                    ["changed orders", "{orders}"],
                    ["same", "{same}"],
                    ["PyTorch itself fails", "{pytorch_fails}"],
                    ["wrong", "{wrong}"],
                ]
            }
        },
        "rows": rows,
    }
