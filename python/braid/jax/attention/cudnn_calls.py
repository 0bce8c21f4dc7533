# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The calls that `jax.nn.dot_product_attention(implementation="cudnn")` leaves, as ops.

    forward     q, k, v [, bias] [, lengths of q, of k and v] -> out [, logarithms], workspace
    backward    q, k, v, logarithms, gradient [, bias], out [, lengths] -> gradients, workspace

Results with heads have the dimensions batch, heads, sequence, width in either layout.
"""

import json
import warnings

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from . import ops
from ..errors import UnsupportedError, find_location
from ..partition import WholeOpWarning
from ..rewrites.tensors import element_of, shape_of
from ..walk import walk
from .axes import convert
from .masks import as_bias, splat_number
from .record import Attention

PREFIX = "__cudnn$fmha"
_KINDS = {"Softmax": (False, False), "ScaleBiasSoftmax": (False, True), "SoftmaxBackward": (True, False),
          "ScaleBiasSoftmaxBackward": (True, True)}


class Call:
    """A call: its operands and what its options say.

    backward, biased: whether it is that of the gradient, and whether it has a bias
    form: the Form of its op
    """

    def __init__(self, op, target):
        self.op = op
        name = target.removeprefix(PREFIX)
        if name not in _KINDS:
            self._refuse_name(target)
        self.backward, self.biased = _KINDS[name]
        config = self._read_config()
        self.mask = config["mask_type"]
        numbers = config["bmm2_grad_gemm2_dot_dimension_numbers" if self.backward else "bmm1_dot_dimension_numbers"]
        window = config.get("sliding_window_length") or None
        heads_first = numbers["lhs_batch_dimensions"] == ["0", "1"]
        # A window is one of a causal mask, as jax.nn.dot_product_attention says.
        causal = "CAUSAL" in self.mask or window is not None
        self.form = ops.Form(float(config["fmha_scale"]), causal, window, "bhsd" if heads_first else "bshd",
                             recognized=False, may_round=False)
        self._take_operands()

    def _refuse_name(self, target):
        if "Dropout" in target:
            raise UnsupportedError(self.op, "attention with dropout has no translation")
        if "F8" in target:
            raise UnsupportedError(self.op, "attention of 8-bit floats has no translation")
        raise UnsupportedError(self.op, f"the call of `{target}` has no translation")

    def _read_config(self):
        try:
            config = json.loads(ir.StringAttr(self.op.attributes["backend_config"]).value)["cudnn_fmha_backend_config"]
        except (KeyError, ValueError) as error:
            raise UnsupportedError(self.op, f"its options are no attention's: {error}") from error
        mask = config.get("mask_type")
        if mask not in ("NO_MASK", "CAUSAL", "PADDING", "PADDING_CAUSAL"):
            raise UnsupportedError(self.op, f"attention with the mask {mask} has no translation")
        if config.get("dropout_rate"):
            raise UnsupportedError(self.op, f"attention with dropout ({config['dropout_rate']}) has no translation")
        if config.get("max_seg_per_batch", 1) != 1:
            raise UnsupportedError(self.op, "attention of packed sequences (q_offsets, kv_offsets) has no translation")
        if config.get("is_paged_attention"):
            raise UnsupportedError(self.op, "paged attention has no translation")
        if "called_computations" in self.op.attributes and len(ir.ArrayAttr(self.op.attributes["called_computations"])):
            raise UnsupportedError(self.op, "attention with score_mod has no translation")
        return config

    def _take_operands(self):
        names = ["q", "k", "v"] + (["logarithms", "gradient"] if self.backward else [])
        names += ["bias"] * self.biased + ["out"] * self.backward
        names += ["q_lengths", "kv_lengths"] if "PADDING" in self.mask else []
        if len(names) != len(self.op.operands):
            raise UnsupportedError(self.op, f"it has {len(self.op.operands)} operands, expected {len(names)}: "
                                            f"{', '.join(names)}")
        self.operands = dict(zip(names, self.op.operands))

    def bias(self):
        """Its bias, with minus infinity behind the ends of sequences; None without either."""
        given = self.operands.get("bias")
        ends = self._bias_of_lengths() if "PADDING" in self.mask else None
        if given is None or ends is None:
            return ends if given is None else given
        shape = [max(sizes) for sizes in zip(shape_of(given), shape_of(ends))]
        return stablehlo.add(*(_spread(convert(value, ir.F32Type.get()), shape) for value in (given, ends)))

    def _bias_of_lengths(self):
        """0 before the ends of the sequences of queries and keys, minus infinity behind them."""
        q, k = shape_of(self.operands["q"]), shape_of(self.operands["k"])
        dim = 2 if self.form.layout == "bhsd" else 1
        whole = [q[0], 1, q[dim], k[dim]]
        keep = None
        for name, place in (("q_lengths", 2), ("kv_lengths", 3)):
            lengths = self.operands[name]
            constant = splat_number(lengths)
            if constant is not None and constant >= whole[place]:
                continue
            shape = [q[0], 1, 1, 1]
            shape[place] = whole[place]
            type = ir.RankedTensorType.get(shape, element_of(lengths))
            before = stablehlo.compare(
                stablehlo.iota(type, ir.IntegerAttr.get(ir.IntegerType.get_signless(64), place)),
                stablehlo.broadcast_in_dim(type, lengths, [0]), stablehlo.ComparisonDirectionAttr.get("LT"))
            keep = before if keep is None else stablehlo.and_(_spread(keep, whole), _spread(before, whole))
        if keep is None:
            return None
        return as_bias(_spread(keep, [*shape_of(keep)[:3], whole[3]]), float("-inf"), ir.F32Type.get())


def _spread(value, shape):
    """The value with more elements in its dimensions of one."""
    if shape_of(value) == list(shape):
        return value
    return stablehlo.broadcast_in_dim(ir.RankedTensorType.get(shape, element_of(value)), value,
                                      list(range(len(shape))))


def rewrite(op, found):
    """Replaces a call of cuDNN's attention, and adds an Attention to `found` unless it is that of
    a gradient. Gives whether it was one."""
    if op.name != "stablehlo.custom_call":
        return False
    target = ir.StringAttr(op.attributes["call_target_name"]).value
    if not target.startswith(PREFIX):
        return False
    call = Call(op, target)
    if not call.backward:
        users = [use.owner.operation for use in op.results[1].uses] if len(op.results) > 2 else []
        gradient = any(user.name == op.name and "Backward" in str(user.attributes["call_target_name"]) for user in users)
        found.append(Attention.of(op, "call", call.form.causal, call.form.window,
                                  call.biased or "PADDING" in call.mask, gradient))
    with ir.InsertionPoint(op), op.location:
        with_heads, others = _backward(call) if call.backward else _forward(call)
        for old, new in zip(op.results, with_heads):
            _replace(old, new, call.form.layout == "bshd")
        for old, new in zip(list(op.results)[len(with_heads):], others):
            old.replace_all_uses_with(new)
    for result in op.results:
        if list(result.uses):
            raise UnsupportedError(op, f"its result {result.result_number} has no translation")
    op.erase()
    return True


def warn_of_whole(module):
    """Says of calls in a module that is to be partitioned that every rank computes them whole."""
    for op in walk(module, "stablehlo.custom_call"):
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        if target.startswith(PREFIX):
            place = find_location(op)[0]
            warnings.warn(f"{place}: attention of cuDNN under jax.jit with shardings is computed whole by every rank; "
                          'implementation="xla", or jax.shard_map, splits it', WholeOpWarning, stacklevel=6)


def _forward(call):
    q, k, v = (call.operands[name] for name in "qkv")
    out, logarithms = ops.attention(q, k, v, call.bias(), call.form)
    return [out], [logarithms] if len(call.op.results) > 2 else []


def _backward(call):
    names = ("q", "k", "v", "out", "logarithms", "gradient")
    bias, given = call.bias(), call.operands.get("bias")
    wanted = len(call.op.results) > 4 and bool(list(call.op.results[3].uses))
    if wanted and bias.type != given.type:
        if shape_of(bias) != shape_of(given):
            raise UnsupportedError(call.op, "the gradient of a bias that several sequences with lengths share has no "
                                            "translation")
    found = ops.backward(*(call.operands[name] for name in names), bias, call.form, bias_gradient=wanted)
    return found[:3], [convert(value, element_of(given)) for value in found[3:]]


def _replace(old, new, heads_second):
    """Puts a result in the place of one with heads before the sequence."""
    order = [0, 2, 1, 3]
    if heads_second:
        for use in list(old.uses):
            user = use.owner.operation
            if user.name == "stablehlo.transpose" and list(ir.DenseI64ArrayAttr(user.attributes["permutation"])) == order:
                user.results[0].replace_all_uses_with(new)
                user.erase()
        new = stablehlo.transpose(new, order) if list(old.uses) else new
    old.replace_all_uses_with(new)
