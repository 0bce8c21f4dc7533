# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes `library.attention` and `library.attention_backward`."""

from dataclasses import dataclass

from jaxlib.mlir import ir

from ..rewrites.tensors import element_of, shape_of


ATTENTION = "library.attention"
BACKWARD = "library.attention_backward"
# Marks ops that take the place of written attention, until `finish`.
_RECOGNIZED = "recognized"


@dataclass
class Form:
    """What the attributes of both ops say. layout: "bshd" or "bhsd"; window: keys, or None;
    recognized: whether the program has it written out; may_round: whether products of f32 may
    round their operands to TF32."""

    scale: float
    causal: bool
    window: object
    layout: str
    recognized: bool
    may_round: bool

    def attributes(self, type):
        """The attributes of an op with elements of a type."""
        element = ir.F64Type.get() if type == ir.F64Type.get() else ir.F32Type.get()
        found = {"scale": ir.FloatAttr.get(element, self.scale), "layout": ir.StringAttr.get(self.layout)}
        if self.causal:
            found["causal"] = ir.UnitAttr.get()
        if self.window is not None:
            found["window"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), self.window)
        if self.may_round and type == ir.F32Type.get():
            found["braid.precision"] = ir.StringAttr.get("tf32")
        if self.recognized:
            found[_RECOGNIZED] = ir.UnitAttr.get()
        return found


def attention(q, k, v, bias, form):
    """The result of attention and its logarithms."""
    shape = shape_of(q)
    out = [*shape[:3], shape_of(v)[3]]
    rows = shape[1:3] if form.layout == "bhsd" else shape[2:0:-1]
    element = element_of(q)
    wide = element == ir.F64Type.get()
    types = [ir.RankedTensorType.get(out, element),
             ir.RankedTensorType.get([shape[0], *rows], element if wide else ir.F32Type.get())]
    return _create(ATTENTION, [q, k, v] + ([bias] if bias else []), types, form.attributes(element))


def backward(q, k, v, out, logarithms, gradient, bias, form, bias_gradient=False):
    """The gradients of q, k and v, and that of the bias where it is wanted."""
    types = [value.type for value in (q, k, v)] + ([bias.type] if bias_gradient else [])
    operands = [q, k, v, out, logarithms, gradient] + ([bias] if bias else [])
    return _create(BACKWARD, operands, types, form.attributes(element_of(q)))


def _create(name, inputs, types, attributes):
    outputs = [ir.Operation.create("tensor.empty", results=[type]).result for type in types]
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(inputs), len(outputs)])
    return list(ir.Operation.create(name, results=types, operands=[*inputs, *outputs], attributes=attributes).results)


def finish(op):
    """Says of an op that took the place of written attention that it sums in another order. Gives
    whether it was one."""
    if op.name not in (ATTENTION, BACKWARD) or _RECOGNIZED not in op.attributes:
        return False
    del op.attributes[_RECOGNIZED]
    op.attributes["comm.reordered_sums"] = ir.DictAttr.get({"divided": ir.StringAttr.get("as one attention")})
    return True
