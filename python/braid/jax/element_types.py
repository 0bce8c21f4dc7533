# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refuses elements of types that a compiled program has not, where the program meets them first."""

from jaxlib.mlir import ir

from .errors import UnsupportedError
from .manual import find_main
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


def _element(value):
    return ir.RankedTensorType(value.type).element_type if isinstance(value.type, ir.RankedTensorType) else None


def _refuse(op, what, known):
    raise UnsupportedError(op, f"{what}, expected one of {', '.join(known)}")
