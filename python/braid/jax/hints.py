# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drops calls that say only how, or in which memory of a device, an array lies."""

from jaxlib.mlir import ir

from .rewrites.tensors import replace
from .walk import walk

_TARGETS = ("LayoutConstraint", "annotate_device_placement")


def drop(module):
    """Puts what such calls are given in their place. The partitioner would have every rank compute them whole."""
    for op in walk(module, "stablehlo.custom_call"):
        if ir.StringAttr(op.attributes["call_target_name"]).value in _TARGETS:
            replace(op, op.operands[0])
