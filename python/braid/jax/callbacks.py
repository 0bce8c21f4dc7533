# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drops what only prints, and refuses other callbacks into Python by their names."""

import re
import warnings

from jaxlib.mlir import ir

from .errors import UnsupportedError, find_location
from .walk import walk

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
        if primitive not in _PRINTS or any(list(result.uses) for result in op.results):
            name = f"`{primitive}`" if primitive else f"the callback `{target}`"
            advice = ""
            if _EQUINOX_CHECKS.search(str(op.location)):
                advice = "; with the environment variable EQX_ON_ERROR=nan, equinox's checks give NaN instead"
            raise UnsupportedError(op, f"{name} calls Python, which a compiled program cannot{advice}")
        warnings.warn(f"{place}{primitive} is left out of the program", DroppedCallbackWarning,
                      stacklevel=5)
        op.erase()
