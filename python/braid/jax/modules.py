# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of modules of StableHLO: texts, bytecode, and what `jax.export` gives and writes."""

import jax
import jax.export
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from braid.mlir import BraidError

from .partitioner import parse
from .program import Program

_BYTECODE = b"ML\xefR"


def from_stablehlo(module, attention="recognize", recurrence="recognize"):
    """Translates a module of StableHLO into a Braid program for one rank.

    module: the text of a module, its bytecode or portable artifact, a `jax.export.Exported`,
        or what its `serialize()` gives
    attention, recurrence: see `export`

    The program has the arguments and results of `main`, and the trees of an exported function.
    Raises UnsupportedError for what has no translation, and BraidError for what is no module.
    """
    if not isinstance(module, (str, jax.export.Exported)):
        module = bytes(module)
        if not module.startswith(_BYTECODE):
            module = _decode(module)
    if isinstance(module, jax.export.Exported):
        return _from_exported(module, attention, recurrence)
    return Program.from_module(_read(module), attention=attention, recurrence=recurrence)


def _decode(given):
    """The text, or the exported function, that these bytes are."""
    try:
        return jax.export.deserialize(bytearray(given))
    except Exception as error:  # Whatever the reader of flatbuffers raises.
        try:
            return given.decode()
        except UnicodeDecodeError:
            raise BraidError("found bytes that are no text, no bytecode of MLIR, and no function "
                             f"that jax.export has serialized: {error}") from error


def _read(given):
    try:
        if isinstance(given, str):
            return parse(given)
        context = parse("module {}").context
        try:
            return stablehlo.deserialize_portable_artifact(context, given)
        except Exception:
            return ir.Module.parse(given, context)
    except ir.MLIRError as error:
        raise BraidError(f"found no module of StableHLO: {str(error).splitlines()[0]}") from error


def _from_exported(exported, attention, recurrence):
    module = _read(exported.mlir_module_serialized)
    if exported.nr_devices > 1:
        with module.context:
            module.operation.attributes["mhlo.num_partitions"] = ir.IntegerAttr.get(
                ir.IntegerType.get_signless(32), exported.nr_devices)
    return Program.from_module(module, exported.in_tree, exported.out_tree,
                               exported.module_kept_var_idx, attention, recurrence)
