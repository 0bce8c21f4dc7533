# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refuses elements of types that a compiled program has not, where the program meets them first, and gives small
integers the bytes in which functions take them."""

import re

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .errors import UnsupportedError
from .manual import find_main, update_signature
from .walk import terminator_of, walk

_FLOATS = ("f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2")
# What functions take and give, and ranks exchange.
PASSED = ("i1", *(f"{sign}i{width}" for sign in ("", "u") for width in (8, 16, 32, 64)), *_FLOATS, "complex<f32>",
          "complex<f64>")


def check(module):
    """Raises UnsupportedError for a float that a program cannot compute with, and for an argument
    or a result of `main` that a program cannot pass."""
    for op in walk(module):
        for result in op.results:
            element = _element(result)
            if isinstance(element, ir.FloatType) and str(element) not in _FLOATS:
                _refuse(op, f"its result has elements of type {element}", _FLOATS)
    main = find_main(module)
    block = main.regions[0].blocks[0]
    for number, argument in enumerate(block.arguments):
        if (element := _element(argument)) and str(element) not in PASSED:
            # The op that reads the argument has a place in the program.
            users = [use.owner.operation for use in argument.uses]
            _refuse((users or [main])[0], f"argument {number} of the function has elements of type {element}", PASSED)
    end = terminator_of(block)
    for number, value in enumerate(end.operands):
        if (element := _element(value)) and str(element) not in PASSED:
            owner = end if isinstance(value.owner, ir.Block) else value.owner
            _refuse(owner, f"result {number} of the function has elements of type {element}", PASSED)


def widen(module):
    """Makes `main` take and give integers of less than 8 bits as those of 8 bits."""
    main = find_main(module)
    block = main.regions[0].blocks[0]
    end = terminator_of(block)
    for argument in block.arguments:
        if byte := _byte_type(argument):
            small = argument.type
            argument.set_type(byte)
            with ir.InsertionPoint.at_block_begin(block), main.location:
                value = stablehlo.convert(small, argument)
            argument.replace_all_uses_except(value, value.owner.operation)
    for number, value in enumerate(end.operands):
        if byte := _byte_type(value):
            with ir.InsertionPoint(end), end.location:
                end.operands[number] = stablehlo.convert(byte, value)
    update_signature(main)


def _byte_type(value):
    """The type of arrays of bytes for one of smaller integers; None for others."""
    found = re.fullmatch(r"(u?)i[24]", str(_element(value)))
    if not found:
        return None
    byte = ir.IntegerType.get_unsigned(8, value.context) if found[1] else ir.IntegerType.get_signless(8, value.context)
    return ir.RankedTensorType.get(ir.RankedTensorType(value.type).shape, byte, loc=ir.Location.unknown(value.context))


def _element(value):
    return ir.RankedTensorType(value.type).element_type if isinstance(value.type, ir.RankedTensorType) else None


def _refuse(op, what, known):
    raise UnsupportedError(op, f"{what}, expected one of {', '.join(known)}")
