# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brings Fourier transforms and linear algebra to `library.call`: what StableHLO has an op for,
and the calls of LAPACK that JAX makes on the host.

LAPACK's matrices stand in memory column after column, as the layouts of JAX's calls say. The
arrays of `library.call` are row-major: transposes are around it.
"""

import re

import numpy as np

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from . import bodies
from .tensors import element_of, rank_of, shape_of, transpose
from ..errors import UnsupportedError

# Of each routine of LAPACK: JAX's operands that it reads only, for each of its outputs JAX's
# operand that it starts from (None: it has no contents before), and the names of its flags.
_ROUTINES = {
    "potrf": ((), (0, None), ("uplo",)),
    "trsm": ((0,), (1,), ("side", "uplo", "trans_x", "diag")),
    "getrf": ((), (0, None, None), ()),
    "geqrf": ((), (0, None), ()),
    "geqp3": ((), (0, 1, None), ()),
    "orgqr": ((1,), (0,), ()),
    "ormqr": ((0, 1), (2,), ("left", "transpose")),
    "syevd": ((), (0, None, None), ("mode", "uplo")),
    "gesdd": ((), (0, None, None, None, None), ("mode",)),
    "gesvd": ((), (0, None, None, None, None), ("mode",)),
    "gehrd": ((), (0, None, None), ()),
    "sytrd": ((), (0, None, None, None, None), ("uplo",)),
    "gtsv": ((), (0, 1, 2, 3, None), ()),
}
# The same routines of complex numbers.
_COMPLEX_NAMES = {"ungqr": "orgqr", "unmqr": "ormqr", "heevd": "syevd", "hetrd": "sytrd"}
# Flags that are truth values in JAX: the letters for true and false.
_LETTERS = {"left": "LR", "transpose": "CN"}

_TRANSFORMS = {"FFT": "fft", "IFFT": "ifft", "RFFT": "rfft", "IRFFT": "irfft"}


def rewrite(op):
    """Replaces a transform, or a call or an op of linear algebra. Gives whether it was one."""
    rewriter = _REWRITERS.get(op.name)
    if rewriter is None:
        return False
    with ir.InsertionPoint(op), op.location:
        results = rewriter(op)
    if results is None:
        return False
    for old, new in zip(op.results, results):
        if new is not None:
            old.replace_all_uses_with(new)
        elif list(old.uses):
            raise UnsupportedError(op, f"its result {old.result_number} has no translation")
    op.erase()
    return True


def call(routine, inputs, outputs, flags="", dimensions=0):
    """The results of `library.call`: `outputs` are arrays, or the types of new ones."""
    outputs = [_empty(output) if isinstance(output, ir.Type) else output for output in outputs]
    i64 = ir.IntegerType.get_signless(64)
    return list(ir.Operation.create(
        "library.call", results=[output.type for output in outputs],
        operands=[*inputs, *outputs],
        attributes={"routine": ir.StringAttr.get(routine), "flags": ir.StringAttr.get(flags),
                    "dimensions": ir.IntegerAttr.get(i64, dimensions),
                    "operandSegmentSizes": ir.DenseI32ArrayAttr.get(
                        [len(inputs), len(outputs)])}).results)


def _empty(type):
    return ir.Operation.create("tensor.empty", results=[type]).result


def _text(op, name):
    return ir.StringAttr(op.attributes[name]).value


# ===-----------------------------------------------------------------------===#
# Ops of StableHLO
# ===-----------------------------------------------------------------------===#


def _fft(op):
    kind = re.search(r"fft_type<(\w+)>|\b(I?R?FFT)\b", str(op.attributes["fft_type"]))
    routine = _TRANSFORMS[kind[1] or kind[2]]
    dimensions = len(ir.DenseI64ArrayAttr(op.attributes["fft_length"]))
    return call(routine, [op.operands[0]], [op.results[0].type], dimensions=dimensions)


def _transpose(value):
    """The array with its last two dimensions swapped."""
    order = list(range(rank_of(value)))
    order[-2:] = order[:-3:-1]
    return stablehlo.transpose(value, order)


def _flag(op, name):
    return name in op.attributes and ir.BoolAttr(op.attributes[name]).value


def _cholesky(op):
    """XLA gives NaN where a matrix has no factor."""
    matrix = op.operands[0]
    type = ir.RankedTensorType(matrix.type)
    info = ir.RankedTensorType.get(type.shape[:-2], ir.IntegerType.get_signless(32))
    factor, info = call("potrf", [], [_transpose(matrix), info], "L" if _flag(op, "lower") else "U")
    zero = stablehlo.constant(ir.Attribute.parse(f"dense<0> : {info.type}"))
    failed = stablehlo.compare(info, zero, stablehlo.ComparisonDirectionAttr.get("NE"))
    failed = stablehlo.broadcast_in_dim(
        ir.RankedTensorType.get(type.shape, ir.IntegerType.get_signless(1)), failed,
        list(range(type.rank - 2)))
    element = type.element_type
    part = ir.ComplexType(element).element_type if isinstance(element, ir.ComplexType) else element
    bits = "0x7FC00000" if ir.FloatType(part).width == 32 else "0x7FF8000000000000"
    nan = stablehlo.constant(ir.Attribute.parse(f"dense<{bits}> : {ir.RankedTensorType.get([], part)}"))
    if part != element:
        nan = stablehlo.complex(nan, nan)
    return [stablehlo.select(failed, bodies.broadcast(nan, type.shape), _transpose(factor))]


def _triangular_solve(op):
    transposed = re.search(r"\b(NO_TRANSPOSE|TRANSPOSE|ADJOINT)\b", str(op.attributes["transpose_a"]))[1]
    flags = ("L" if _flag(op, "left_side") else "R") + ("L" if _flag(op, "lower") else "U") + {
        "NO_TRANSPOSE": "N", "TRANSPOSE": "T", "ADJOINT": "C"}[transposed] + (
            "U" if _flag(op, "unit_diagonal") else "N")
    triangle, sides = (_transpose(value) for value in op.operands)
    return [_transpose(call("trsm", [triangle], [sides], flags)[0])]


# ===-----------------------------------------------------------------------===#
# Calls of LAPACK
# ===-----------------------------------------------------------------------===#


class _LapackCall:
    """A call that JAX makes of LAPACK on the host."""

    def __init__(self, op):
        self.op = op
        self.operands = list(zip(op.operands, _orders(op, "operand_layouts", op.operands)))
        self.results = list(zip([r.type for r in op.results], _orders(op, "result_layouts", op.results)))
        name = "mhlo.backend_config" if "mhlo.backend_config" in op.attributes else "backend_config"
        options = op.attributes[name]
        self.options = ({} if not isinstance(options, ir.DictAttr) else
                        {option.name: option.attr for option in ir.DictAttr(options)})

    def flag(self, name):
        value = self.options[name]
        if isinstance(value, ir.BoolAttr):
            return _LETTERS[name][0 if value.value else 1]
        return chr(ir.IntegerAttr(value).value)

    def input(self, number):
        """An operand as LAPACK finds it in memory."""
        value, order = self.operands[number]
        return transpose(value, order)

    def keep_reflectors(self):
        """Drops the columns of a wide matrix that have no reflector: `ormqr` knows their number by the scales."""
        matrix, order = self.operands[0]
        shape = [*shape_of(matrix)[:-1], shape_of(self.operands[1][0])[-1]]
        if shape != shape_of(matrix):
            self.operands[0] = stablehlo.slice(matrix, [0] * len(shape), shape, [1] * len(shape)), order

    def output(self, number, start):
        """The type of a result in memory, or the operand that it starts from."""
        if start is not None:
            return self.input(start)
        type, order = self.results[number]
        return self.stored(type, order)

    @staticmethod
    def stored(type, order, element=None):
        type = ir.RankedTensorType(type)
        return ir.RankedTensorType.get([type.shape[d] for d in order], element or type.element_type)

    def give(self, number, value):
        """A result, of what LAPACK has written to memory."""
        order = self.results[number][1]
        if order != sorted(order):
            value = stablehlo.transpose(value, [int(d) for d in np.argsort(order)])
        return value

    def run(self, routine, inputs, outputs, flags):
        flags = "".join(self.flag(name) for name in flags)
        found = call(routine, [self.input(number) for number in inputs],
                      [self.output(*pair) for pair in enumerate(outputs)], flags)
        return [self.give(*pair) for pair in enumerate(found)]

    def eigenvalues(self):
        """`geev` gives complex numbers; JAX takes those of real matrices in two parts."""
        is_complex = isinstance(element_of(self.operands[0][0]), ir.ComplexType)
        count = len(self.results)
        vectors = count - 3
        type, order = self.results[vectors]
        element = ir.RankedTensorType(type).element_type
        values = self.stored(*self.results[count - 4], element)
        _, values, left, right, info = call(
            "geev", [], [self.input(0), values, self.stored(type, order), self.stored(type, order),
                         self.stored(*self.results[-1])],
            self.flag("compute_left") + self.flag("compute_right"))
        values = [values] if is_complex else [stablehlo.real(values), stablehlo.imag(values)]
        first = count - 3 - len(values)
        given = [None] * first + values + [left, right, info]
        return [value and self.give(number, value) for number, value in enumerate(given)]

    def schur(self):
        """`gees`, without the eigenvalues, which JAX does not use."""
        outputs = [self.input(0), self.stored(*self.results[1]), self.stored(*self.results[-1])]
        found = call("gees", [], outputs, self.flag("mode"))
        rest = [None] * (len(self.results) - 3)
        return [self.give(0, found[0]), self.give(1, found[1]), *rest, found[2]]


def _orders(op, name, values):
    """For each value its dimensions as they stand in memory, slowest first."""
    ranks = [rank_of(value) for value in values]
    if name not in op.attributes:
        return [list(range(rank)) for rank in ranks]
    return [list(ir.DenseIntElementsAttr(layout))[::-1] if rank else []
            for layout, rank in zip(ir.ArrayAttr(op.attributes[name]), ranks)]


def _custom_call(op):
    target = _text(op, "call_target_name")
    found = re.fullmatch(r"lapack_[sdcz](\w+)_ffi", target)
    name = found and _COMPLEX_NAMES.get(found[1], found[1])
    if name in _ROUTINES:
        lapack = _LapackCall(op)
        if name == "ormqr":
            lapack.keep_reflectors()
        return lapack.run(name, *_ROUTINES[name])
    if name == "geev":
        return _LapackCall(op).eigenvalues()
    if name == "gees":
        return _LapackCall(op).schur()
    if all(not list(result.uses) for result in op.results):
        return None
    raise UnsupportedError(op, f"the call of `{target}` has no translation")


_REWRITERS = {"stablehlo.fft": _fft, "stablehlo.cholesky": _cholesky,
              "stablehlo.triangular_solve": _triangular_solve, "stablehlo.custom_call": _custom_call}
