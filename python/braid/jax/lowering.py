# ===- lowering.py - From a JAX program to the text of a Braid program -----===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""The way of a module that JAX has lowered to a program of the comm dialect.

    StableHLO and Shardy -> calls inlined -> one rank's program (unwrap the manual
    computation, or Shardy's partitioner) -> collectives marked -> linalg, tensor,
    arith, by the legalisation of jaxlib's StableHLO -> starts and waits, scf
"""

from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs import _mosaic_gpu_ext
from jaxlib.mlir.dialects import stablehlo

from . import collectives, control
from .errors import UnsupportedError, source_location
from .groups import World
from .manual import unwrap

# The dialects that braid-opt knows and the legalisation makes.
_KNOWN = ("arith", "bufferization", "builtin", "comm", "complex", "func", "linalg", "math",
          "scf", "shape", "tensor")


def run_passes(module, pipeline):
    """Runs passes of jaxlib on a module."""
    stablehlo.register_stablehlo_passes()
    with module.context:
        passmanager.PassManager.parse(f"builtin.module({pipeline})").run(module.operation)


def _walk(module, name_prefix=""):
    """The ops of a module, inner ones before those around them."""
    found = []

    def visit(op):
        if op.name.startswith(name_prefix):
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def inline_calls(module):
    """Makes one function of `main` and what it calls."""
    _mosaic_gpu_ext.register_inliner_extensions(module.context)
    run_passes(module, "inline{default-pipeline=},symbol-dce")


def translate(module):
    """Makes a Braid program of a module that JAX has lowered.

    Gives the text, the world of ranks, and the shardings of the arguments and
    results of `main`. Changes the module.
    """
    module.context.allow_unregistered_dialects = True
    with module.context:
        inline_calls(module)
        world = World(module)
        shardings = unwrap(module, world)
        run_passes(module, "func.func(chlo-legalize-to-stablehlo)")
        for op in _walk(module):
            collectives.mark(op, world)
        run_passes(module, "func.func(stablehlo-legalize-to-linalg),"
                           "stablehlo-convert-to-signless,canonicalize,cse")
        groups = collectives.Groups(world)
        for op in _walk(module):
            control.convert(op) or collectives.finish(op, groups)
        groups.define(module)
        _drop_attributes(module)
        _check(module)
        _simplify_locations(module)
        text = module.operation.get_asm(enable_debug_info=True)
    return text, world, shardings


def _drop_attributes(module):
    """Drops what JAX says of the module and its functions, and the meshes."""
    for op in _walk(module, "sdy.mesh"):
        op.erase()
    for op in [module.operation, *_walk(module, "func.func")]:
        for name in list(op.attributes):
            if "." in name or name in ("arg_attrs", "res_attrs"):
                del op.attributes[name]


def _check(module):
    """Raises UnsupportedError for the first op that Braid does not know."""
    for op in _walk(module):
        dialect = op.name.split(".", 1)[0]
        if dialect not in _KNOWN:
            raise UnsupportedError(op, "has no translation")
        if op.name == "builtin.unrealized_conversion_cast":
            raise UnsupportedError(op, f"the types {op.operands[0].type} and "
                                       f"{op.results[0].type} do not go together")


def _simplify_locations(module):
    """Names each op after JAX's primitive, at its line of the Python source."""
    for op in _walk(module):
        location, primitive = source_location(op.location)
        if location is None:
            continue
        file = ir.Location.file(location.file, location.line, location.column)
        op.location = ir.Location.name(primitive, file) if primitive else file
