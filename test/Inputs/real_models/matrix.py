# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All combinations of models, parallelisms, variants, settings of Inductor and versions of PyTorch, the most different ones first."""

import dataclasses
import heapq
import itertools

from .compare import Case
from .parallel import PARALLELISMS
from .settings import SETTINGS
from .zoo import MODELS

#: What to change of a case: parameters gathered once, layers computed again in backward, no gradients, symbolic sizes, the
#: backward as one graph with all that autograd does around it, and a rank that compiles again alone.
VARIANTS = {
    "train": {},
    "keep": {"recompute": False},
    "checkpoint": {"checkpoint": True},
    "inference": {"train": False},
    "dynamic": {"dynamic": True},
    "autograd": {"compiled_autograd": True},
    "uneven": {"uneven": True},
}
#: The oldest and the newest version of PyTorch that the package supports.
VERSIONS = ("2.11", "2.13")


@dataclasses.dataclass(frozen=True, order=True)
class Cell:
    """What to compile with all passes: names of `MODELS`, `PARALLELISMS`, `VARIANTS`, `SETTINGS` and `VERSIONS`."""

    model: str
    parallelism: str
    variant: str
    setting: str
    torch: str

    def make_case(self, layers):
        return Case(self.model, self.parallelism, layers=layers, **get_changes(self.variant))

    def fits(self, mode):
        """Whether the combination makes sense in a mode: only steps that users write may be of several graphs."""
        case = self.make_case(1)
        if case.checkpoint and not MODELS[self.model].can_checkpoint:
            return False
        if mode != "steps" and (case.uneven or not case.is_whole):
            return False
        return case.fits() and (case.recompute or PARALLELISMS[self.parallelism].can_recompute)

    def __str__(self):
        return f"{self.model} {self.parallelism} {self.variant}, {self.setting}, PyTorch {self.torch}"


def get_changes(variant):
    """What the words of a variant, several with +, change of a `Case`."""
    return {name: value for word in variant.split("+") for name, value in VARIANTS[word].items()}


def make_cells(mode="steps"):
    """All cells that make sense in a mode (`processes.MODES`), in an order in which each one has as many pairs of values, and then triples, that none before has.

    The order is the same everywhere, so that runs with several versions of PyTorch share it.
    """
    axes = (MODELS, PARALLELISMS, VARIANTS, SETTINGS, VERSIONS)
    cells = [cell for cell in itertools.starmap(Cell, itertools.product(*axes)) if cell.fits(mode)]
    parts = [[list(_get_parts(cell, count)) for count in (2, 3)] for cell in cells]
    seen, order = set(), []

    def count_new(index):
        return [-sum(part not in seen for part in of_size) for of_size in parts[index]]

    # What a cell would add only gets less, so that the first one whose count still holds is the best one.
    queue = [(count_new(index), index) for index in range(len(cells))]
    heapq.heapify(queue)
    while queue:
        count, index = heapq.heappop(queue)
        now = count_new(index)
        if now != count:
            heapq.heappush(queue, (now, index))
            continue
        order.append(cells[index])
        seen.update(*parts[index])
    return order


def _get_parts(cell, count):
    """All `count` values of a cell, as the places and the values."""
    return itertools.combinations(enumerate(dataclasses.astuple(cell)), count)
