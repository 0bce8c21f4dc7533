# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gathers a parameter once where gradients gather it reversed.

A gradient by the input of a convolution reads the kernel reversed. XLA's partitioner reverses the part of each rank and
gathers that, beside the gather of the parts as they are.
"""

from jaxlib.mlir import ir

from ..walk import walk
from .tensors import replace


def share(module):
    """Lets a gather of reversed parts be the reversal of an earlier gather of these parts."""
    known = {}
    for op in walk(module, "stablehlo.all_gather"):
        if len(op.operands) != 1:
            continue
        part, reversals = op.operands[0], []
        while not isinstance(part.owner, ir.Block) and part.owner.name == "stablehlo.reverse":
            reversals.append(part.owner)
            part = part.owner.operands[0]
        gather = known.get((part, _kind(op)))
        if not reversals:
            known.setdefault((part, _kind(op)), op)
            continue
        split = ir.IntegerAttr(op.attributes["all_gather_dim"]).value
        dims = [list(ir.DenseI64ArrayAttr(reversal.attributes["dimensions"])) for reversal in reversals]
        if gather is None or any(split in each for each in dims):
            continue
        whole = gather.results[0]
        with ir.InsertionPoint(op):
            for reversal in reversed(reversals):
                with reversal.location:
                    whole = ir.Operation.create("stablehlo.reverse", results=[whole.type], operands=[whole],
                                                attributes={"dimensions": reversal.attributes["dimensions"]}).result
        replace(op, whole)


def _kind(op):
    """What gathers that give the same have in common, beside their operands: the block of the op, too, where the result of
    an earlier one is there."""
    attributes = tuple(sorted((name, str(op.attributes[name])) for name in op.attributes if name != "channel_handle"))
    return op.block, str(op.results[0].type), attributes
