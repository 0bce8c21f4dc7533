# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The way of a module that JAX has lowered to a program of the comm dialect.

    StableHLO and Shardy -> calls inlined -> one rank's program (unwrap the manual
    computation, or XLA's partitioner) -> attention as one op -> collectives marked
    -> linalg, tensor, arith, by the legalisation of jaxlib's StableHLO -> starts and
    waits, scf
"""

import io
import math
import re

import numpy as np
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo

from braid.mlir import BraidError

from . import attention, callbacks, collectives, element_types, hints, private_names
from .errors import PassError, UnsupportedError, name_with_place, source_location
from .groups import World
from .manual import find_main, inline_manual_computations, unwrap
from .partition import partition
from .rewrites import (agreement, bodies, complex_numbers, control, conversions, convolutions, empty_arrays, gathers,
                       library_calls, matmuls, pieces, pools, recurrences, reduce_scatters, scalars, scans, scatters,
                       sorts, sparse_products, sums, unroll)
from .walk import walk

# A constant of booleans that is printed in hexadecimal digits.
_BOOLEANS = re.compile(r'dense<"0x([0-9A-F]+)"> : tensor<([0-9x]+)xi1>')

# The dialects that braid-opt knows and the legalisation makes.
_KNOWN = ("arith", "bufferization", "builtin", "cf", "comm", "complex", "func", "library",
          "linalg", "math", "scf", "shape", "tensor")


def run_passes(module, pipeline):
    """Runs passes of jaxlib on a module."""
    stablehlo.register_stablehlo_passes()
    with module.context:
        manager = passmanager.PassManager.parse(f"builtin.module({pipeline})")
        try:
            manager.run(module.operation)
        except ir.MLIRError as error:
            raise PassError(error) from None


def inline_calls(module):
    """Makes one function of `main` and what it calls, also as the decompositions of composite ops."""
    private_names.register_inliner(module.context)
    for op in walk(module, "stablehlo.composite"):
        with ir.InsertionPoint(op), op.location:
            call = ir.Operation.create("func.call", results=[result.type for result in op.results],
                                       operands=list(op.operands), attributes={"callee": op.attributes["decomposition"]})
        for old, new in zip(op.results, call.results):
            old.replace_all_uses_with(new)
        op.erase()
    run_passes(module, "inline{default-pipeline=},symbol-dce")


def refine_shapes(module):
    """Gives the functions of a module, such as exported ones that it calls, the sizes of what they are called with."""
    types = [op.attributes["function_type"] for op in walk(module, "func.func") if op != find_main(module)]
    if not any("?" in str(type) for type in types):
        return module
    written = io.BytesIO()
    module.operation.write_bytecode(written)
    try:
        refined = private_names.refine_shapes(written.getvalue())
    except private_names.CompileError as error:
        raise BraidError(f"an exported function does not take these sizes: {str(error).splitlines()[0]}") from error
    return ir.Module.parse(refined, module.context)


def to_one_rank(module):
    """Makes the program of one rank of a module that JAX has lowered.

    Gives the module, the world of ranks and the shardings of the arguments and
    results of `main`.
    """
    module = refine_shapes(module)
    sparse_products.expand(module, inline_calls)
    inline_calls(module)
    callbacks.drop(module)
    hints.drop(module)
    with module.context:
        sorts.expand_top_k(module)
    world = World(module)
    shardings = unwrap(module, world)
    if shardings is None and world.size > 1:
        with module.context:
            attention.warn_of_whole(module)
            _simplify_locations(module, name_with_place)
        world.partitioned = not any(collectives.is_collective(op) for op in walk(module))
        module, shardings = partition(module, world)
        inline_calls(module)
    elif shardings is None:
        shardings = inline_manual_computations(module)
    return module, world, shardings


def to_text(module, world, attention_too=True, recurrences_too=True):
    """Makes the text of a Braid program of the program of one rank. Gives the text, and the
    Attentions and Recurrences that it has.

    attention_too: whether attention that the program has written out becomes one op, too
    recurrences_too: whether associative scans of linear recurrences run in blocks
    """
    context = module.context
    context.allow_unregistered_dialects = True
    with context:
        element_types.widen(module)
        element_types.check(module)
        run_passes(module, "func.func(chlo-legalize-to-stablehlo)")
        complex_numbers.simplify(module)
        run_passes(module, "func.func(stablehlo-complex-math-expander)")
        for op in walk(module, "stablehlo.while"):
            _rewrite(op, (unroll.rewrite,))
        found = recurrences.rewrite(module, inline_calls) if recurrences_too else []
        attentions = attention.rewrite(module, attention_too)
        for op in walk(module, "stablehlo.dynamic_slice"):
            _rewrite(op, (lambda op: reduce_scatters.fuse(op, world),))
        gathers.share(module)
        for op in walk(module, "stablehlo.convolution"):
            _rewrite(op, (empty_arrays.rewrite, convolutions.rewrite))
        before = (empty_arrays.rewrite, lambda op: collectives.mark(op, world), matmuls.rewrite, pieces.rewrite,
                  scatters.rewrite,
                  complex_numbers.rewrite, sorts.rewrite, pools.rewrite, library_calls.rewrite,
                  bodies.reduce_nothing, sums.rewrite, scalars.fold_broadcast, conversions.rewrite)
        for op in walk(module):
            _rewrite(op, (control.note_iterations, *before))
        for op in walk(module, "stablehlo.reduce_window"):
            _rewrite(op, (scans.rewrite,))
        agreement.add(find_main(module), world)
        _drop_attributes(module)
        run_passes(module, "func.func(stablehlo-legalize-to-linalg),stablehlo-convert-to-signless,canonicalize,cse")
        groups = collectives.Groups(world)
        after = (control.convert, agreement.finish, scatters.finish, lambda op: collectives.finish(op, groups), scalars.expand,
                 attention.finish)
        for op in walk(module):
            _rewrite(op, after)
        for op in walk(module, "tensor.extract"):
            _rewrite(op, (scalars.read_known,))
        groups.define(module)
        _check(module)
        _simplify_locations(module)
        return _pack_booleans(module.operation.get_asm(enable_debug_info=True)), attentions, found


def _pack_booleans(text):
    """The text with a bit for each element of large constants of booleans, as braid-opt reads them: newer MLIR, in jaxlib,
    prints a byte."""
    def pack(found):
        values = np.frombuffer(bytes.fromhex(found[1]), np.uint8)
        if values.size != math.prod(map(int, found[2].split("x"))):
            return found[0]
        packed = np.packbits(values != 0, bitorder="little").tobytes().hex().upper()
        return f'dense<"0x{packed}"> : tensor<{found[2]}xi1>'

    return _BOOLEANS.sub(pack, text)


def _rewrite(op, rewrites):
    """Lets the first of `rewrites` that knows the op replace it."""
    for rewrite in rewrites:
        try:
            if rewrite(op):
                return
        except BraidError:
            raise
        except Exception as error:
            # What is wrong in the translation has to name the program's op, too.
            raise UnsupportedError(
                op, f"its translation fails: {type(error).__name__}: {error}") from error


def _drop_attributes(module):
    """Drops what JAX and Shardy say of the module, its functions and ops, and the
    meshes."""
    for op in walk(module, "sdy.mesh"):
        op.erase()
    for op in walk(module):
        for name in list(op.attributes):
            if ("." in name and not name.startswith("braid.")) or name in ("arg_attrs", "res_attrs"):
                del op.attributes[name]


def _check(module):
    """Raises UnsupportedError for the first op that Braid does not know."""
    for op in walk(module, order=ir.WalkOrder.PRE_ORDER):
        dialect = op.name.split(".", 1)[0]
        if dialect not in _KNOWN:
            raise UnsupportedError(op, "has no translation")
        if op.name == "builtin.unrealized_conversion_cast":
            raise UnsupportedError(op, f"the types {op.operands[0].type} and "
                                       f"{op.results[0].type} do not go together")


def _simplify_locations(module, make_name=lambda primitive, location: primitive):
    """Names each op after JAX's primitive, at its line of the Python source."""
    def simplify(old):
        location, primitive = source_location(old)
        if location is None:
            return old
        file = ir.Location.file(location.file, location.line, location.column)
        name = make_name(primitive, location)
        return ir.Location.name(name, file) if name else file

    # Many ops share a location, whose text has all calls. A location has no hash, its attribute has one.
    known = {}
    for op in walk(module):
        old = op.location
        if (key := old.attr) not in known:
            known[key] = simplify(old)
        op.location = known[key]
