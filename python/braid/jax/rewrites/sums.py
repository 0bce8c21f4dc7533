# ===- sums.py - Sums of floats of 16 bits ---------------------------------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""Lets sums and products of floats of fewer than 32 bits, over dimensions or windows, have f32 in between and round once,
as XLA does: gradients of biases and norms sum thousands of bf16 elements."""

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .tensors import element_of, shape_of, tensor_type

_COMBINERS = ("stablehlo.add", "stablehlo.multiply")


def rewrite(op):
    """Replaces a sum or product of small floats. Gives whether it was one."""
    if op.name not in ("stablehlo.reduce", "stablehlo.reduce_window") or len(op.results) != 1:
        return False
    element = element_of(op.results[0])
    combiner = op.regions[0].blocks[0].operations[0].operation
    arguments = list(op.regions[0].blocks[0].arguments)
    if (not isinstance(element, ir.FloatType) or element.width >= 32 or combiner.name not in _COMBINERS
            or sorted(arguments.index(value) for value in combiner.operands if value in arguments) != [0, 1]):
        return False
    with ir.InsertionPoint(op), op.location:
        result = stablehlo.convert(op.results[0].type, _wide(op, combiner.name))
    op.results[0].replace_all_uses_with(result)
    op.erase()
    return True


def _wide(op, combiner):
    """The reduction of `op` of f32, by an op of this name."""
    wide = ir.F32Type.get()
    operands = [stablehlo.convert(tensor_type(shape_of(value), wide), value) for value in op.operands]
    new = ir.Operation.create(
        op.name, results=[tensor_type(shape_of(op.results[0]), wide)], operands=operands,
        attributes={name: op.attributes[name] for name in op.attributes}, regions=1)
    scalar = tensor_type([], wide)
    block = new.regions[0].blocks.append(scalar, scalar)
    with ir.InsertionPoint(block):
        stablehlo.return_([ir.Operation.create(combiner, results=[scalar], operands=list(block.arguments)).result])
    return new.result
