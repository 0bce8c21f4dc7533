# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drops what only prints, and refuses other callbacks into Python by their names."""

import re
import warnings

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .errors import UnsupportedError, find_location
from .manual import find_main, update_signature
from .walk import terminator_of, walk

# What JAX calls callbacks that a program is the same without.
_PRINTS = ("debug_callback", "debug_print", "inspect_sharding")

# Where `equinox.error_if` is, by which packages such as diffrax check their results, and the primitives, of lineax too,
# that have such checks inside.
_EQUINOX_CHECKS = re.compile(r'equinox[/\\](_errors|internal[/\\]_primitive)\.py"')


class DroppedCallbackWarning(UserWarning):
    """A `jax.debug.print`, or `jax.debug.callback`, is left out of the program."""


def drop(module):
    """Drops the prints of a module with a warning; raises UnsupportedError for other
    callbacks."""
    for op in walk(module, "stablehlo.custom_call"):
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        if "callback" not in target:
            continue
        location, primitive = find_location(op)
        place = f"{location}: " if location else ""
        tokens = [operand for operand in op.operands if _is_token(operand)]
        if primitive not in _PRINTS or any(list(result.uses) for result in op.results if not _is_token(result)):
            name = f"`{primitive}`" if primitive else f"the callback `{target}`"
            advice = ""
            if _EQUINOX_CHECKS.search(str(op.location)):
                advice = "; with the environment variable EQX_ON_ERROR=nan, equinox's checks give NaN instead"
            raise UnsupportedError(op, f"{name} calls Python, which a compiled program cannot{advice}")
        warnings.warn(f"{place}{primitive} is left out of the program", DroppedCallbackWarning,
                      stacklevel=5)
        for result, token in zip(op.results, tokens):
            result.replace_all_uses_with(token)
        op.erase()
    _drop_tokens(find_main(module))


def _is_token(value):
    return str(value.type) == "!stablehlo.token"


def _drop_tokens(main):
    """Drops the tokens by which `main` orders its prints. Loops and branches carry truth values in their place."""
    block = main.regions[0].blocks[0]
    end = terminator_of(block)
    if not any(map(_is_token, block.arguments)):
        return
    kept = {name: [number for number, value in enumerate(values) if not _is_token(value)]
            for name, values in (("arg_attrs", block.arguments), ("res_attrs", end.operands))}
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create("func.return", operands=[end.operands[number] for number in kept["res_attrs"]])
    end.erase()
    with ir.InsertionPoint.at_block_begin(block), main.location:
        known = stablehlo.constant(ir.Attribute.parse("dense<true> : tensor<i1>"))
    for number, argument in reversed(list(enumerate(block.arguments))):
        if number not in kept["arg_attrs"]:
            argument.replace_all_uses_with(known)
            block.erase_argument(number)
    for op in walk(main):
        inner = [argument for region in op.regions for body in region.blocks for argument in body.arguments]
        for value in filter(_is_token, [*op.results, *inner]):
            value.set_type(known.type)
    with main.location:
        for name, numbers in kept.items():
            if name in main.attributes:
                rows = ir.ArrayAttr(main.attributes[name])
                main.attributes[name] = ir.ArrayAttr.get([rows[number] for number in numbers])
    update_signature(main)
