# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program says of its attention."""

from dataclasses import dataclass
from typing import Any, Literal

from braid.mlir import Location

from ..errors import find_location


@dataclass(frozen=True)
class Attention:
    """Attention that is one op of the program, or two with the gradient.

    location: its Location in the Python source, or None
    origin: "call" where the program calls it, "recognized" where it has it written out
    causal, window: the mask that the op has itself
    bias: whether it has a bias, which other masks are
    gradient: whether the op of the gradient is there
    """

    location: Location | None
    origin: Literal["call", "recognized"]
    causal: bool
    window: int | None
    bias: bool
    gradient: bool

    @classmethod
    def of(cls, op: Any, *facts: Any):
        return cls(find_location(op)[0], *facts)

    def __str__(self):
        place = f"{self.location}: " if self.location else ""
        masks = [name for name, given in (("causal", self.causal), (f"window {self.window}", self.window),
                                          ("bias", self.bias)) if given]
        kind = "attention and its gradient" if self.gradient else "attention"
        how = {"call": "called", "recognized": "recognized"}[self.origin]
        return f"{place}{kind}, {how}" + (f" ({', '.join(masks)})" if masks else "")
