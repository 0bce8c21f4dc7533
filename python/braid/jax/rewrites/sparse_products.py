# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with sparse matrices, for which JAX calls a library on the host, as gathers and scatters."""

import jax
import jax.numpy as jnp
from jaxlib.mlir import ir

from .tensors import element_of, replace, shape_of
from ..walk import walk

_TARGET = "cpu_csr_sparse_dense_ffi"
_NUMBERS = {"i32": jnp.int32, "i64": jnp.int64, "f32": jnp.float32, "f64": jnp.float64,
            "complex<f32>": jnp.complex64, "complex<f64>": jnp.complex128}


def expand(module, inline):
    """Makes functions of the products of a module, and calls of them. `inline` makes a module one function."""
    functions = {}
    with module.context:
        for op in walk(module, "stablehlo.custom_call"):
            if ir.StringAttr(op.attributes["call_target_name"]).value != _TARGET:
                continue
            key = tuple(str(operand.type) for operand in op.operands)
            if key not in functions:
                functions[key] = _define(module, op.operands, f"braid_sparse_product_{len(functions)}", inline)
            with ir.InsertionPoint(op), op.location:
                call = ir.Operation.create("func.call", results=[op.results[0].type], operands=list(op.operands),
                                           attributes={"callee": ir.FlatSymbolRefAttr.get(functions[key])})
            replace(op, call.result)


def _multiply(data, starts, columns, dense):
    """The matrix has elements `data` in `columns`; those of row i are from starts[i] to starts[i + 1]."""
    rows = jnp.cumsum(jnp.zeros_like(columns).at[starts[1:]].add(1, mode="drop"))
    terms = data.reshape(-1, *[1] * (dense.ndim - 1)) * dense.at[columns].get(mode="clip")
    # Elements behind the last row are padding: their row does not exist.
    result = jnp.zeros((starts.size - 1, *dense.shape[1:]), data.dtype)
    return result.at[rows].add(terms, mode="drop", indices_are_sorted=True)


def _define(module, operands, name, inline):
    """Adds a function for operands of these types to the module. Gives its name."""
    with jax.enable_x64(True):
        arguments = [jax.ShapeDtypeStruct(shape_of(value), _NUMBERS[str(element_of(value))]) for value in operands]
        text = jax.jit(_multiply).lower(*arguments).compiler_ir("stablehlo").operation.get_asm()
    lowered = ir.Module.parse(text)
    inline(lowered)
    (function,) = lowered.body.operations
    copy = function.operation.clone(ir.InsertionPoint(module.body))
    copy.attributes["sym_name"] = ir.StringAttr.get(name)
    copy.attributes["sym_visibility"] = ir.StringAttr.get("private")
    return name
