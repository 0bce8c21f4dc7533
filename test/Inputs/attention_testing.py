# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with attention and its gradients, and what they compute, in float64.

A `Case` gives the text of a function of queries, keys, values, the gradient of the
result and the bias, if there is one; its results are those of `library.attention`, then
those of `library.attention_backward`.
"""

import dataclasses

import braid_testing as bt
import numpy as np


@dataclasses.dataclass
class Case:
    """Sizes and attributes; `bias` is a shape, or None."""
    name: str
    dtype: str = "f32"
    batch: int = 1
    heads: int = 2
    key_heads: int = 2
    queries: int = 8
    keys: int = 8
    depth: int = 8
    value_depth: int = 8
    layout: str = "bshd"
    causal: bool = False
    window: int = 0
    scale: float = 0.25
    bias: tuple = None
    bias_gradient: bool = False

    def arrange(self, array):
        """From the order batch, head, position, element to that of the layout, or back."""
        return array if self.layout == "bhsd" else np.swapaxes(array, 1, 2)

    def shape(self, heads, positions, depth):
        return self.arrange(np.empty((self.batch, heads, positions, depth), bool)).shape

    @property
    def shapes(self):
        """Of queries, keys, values, the gradient of the result, and the bias."""
        shapes = [self.shape(self.heads, self.queries, self.depth),
                  self.shape(self.key_heads, self.keys, self.depth),
                  self.shape(self.key_heads, self.keys, self.value_depth),
                  self.shape(self.heads, self.queries, self.value_depth)]
        return shapes + ([self.bias] if self.bias else [])

    @property
    def element(self):
        return bt.ELEMENT_TYPES[self.dtype]

    @property
    def exact(self):
        """The type of logarithms."""
        return bt.ELEMENT_TYPES["f64" if self.dtype == "f64" else "f32"]

    @property
    def result_types(self):
        return ([self.element, self.exact] + 3 * [self.element]
                + ([self.element] if self.bias_gradient else []))

    def text(self, part="both"):
        """The function of the case, or one of its two ops: `forward` or `backward`, which takes
        the result and the logarithms behind the other arguments."""
        q, k, v, out, *bias = [tensor(shape, self.dtype) for shape in self.shapes]
        lse = tensor((self.batch, self.heads, self.queries), self.exact.name)
        attributes = [f"scale = {self.scale!r} : f32", f'layout = "{self.layout}"']
        attributes += ["causal"] * self.causal
        attributes += [f"window = {self.window} : i64"] * bool(self.window)
        gradients = [q, k, v] + bias * self.bias_gradient
        arguments = {"%q": q, "%k": k, "%v": v}
        of_bias = {"%bias": bias[0]} if bias else {}
        forward = call("library.attention", arguments | of_bias, {"%out": out, "%lse": lse},
                       attributes)
        backward = call(
            "library.attention_backward",
            arguments | {"%out": out, "%lse": lse, "%dout": out} | of_bias,
            dict(zip(["%dq", "%dk", "%dv", "%dbias"], gradients)), attributes)
        given = arguments | {"%dout": out} | of_bias
        results = dict(zip(["%dq", "%dk", "%dv", "%dbias"], gradients))
        body = forward + backward
        if part == "forward":
            body, results = forward, {}
        if part == "backward":
            given, body = given | {"%out": out, "%lse": lse}, backward
        else:
            results = {"%out": out, "%lse": lse} | results
        name = self.name + ("" if part == "both" else "_" + part)
        return f"""
func.func @{name}({join(f"{value}: {type}" for value, type in given.items())}) -> ({join(results.values())}) {{
{body}  return {join(results)} : {join(results.values())}
}}
"""

    def random(self, seed=1):
        """Arguments of the function."""
        random = np.random.RandomState(seed)
        return [self.element.random(random, shape) for shape in self.shapes]

    def expected(self, arguments):
        """The results, in float64."""
        wide = [self.element.widen(array).astype(np.float64) for array in arguments]
        q, k, v, dout = [self.arrange(array) for array in wide[:4]]
        bias = wide[4] if self.bias else 0
        group = self.heads // self.key_heads
        k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
        scores = self.scale * (q @ np.swapaxes(k, 2, 3)) + bias
        i, j = np.ogrid[:self.queries, :self.keys]
        if self.causal:
            scores = np.where((j <= i) & (j > i - (self.window or self.queries)), scores, -np.inf)
        with np.errstate(divide="ignore"):
            most = scores.max(-1, keepdims=True, initial=-np.inf)
            powers = np.exp(scores - np.where(np.isinf(most), 0, most))
            sums = powers.sum(-1, keepdims=True)
            lse = np.log(sums) + np.where(np.isinf(most), 0, most)
        p = powers / np.where(sums == 0, 1, sums)
        out = p @ v
        ds = p * (dout @ np.swapaxes(v, 2, 3) - (dout * out).sum(-1, keepdims=True))
        dq = self.scale * (ds @ k)
        of_heads = [self.scale * (np.swapaxes(ds, 2, 3) @ q), np.swapaxes(p, 2, 3) @ dout]
        dk, dv = [g.reshape(self.batch, self.key_heads, group, *g.shape[2:]).sum(2)
                  for g in of_heads]
        results = [self.arrange(out), lse[..., 0]] + [self.arrange(g) for g in (dq, dk, dv)]
        if self.bias_gradient:
            shared = tuple(n for n in range(4) if self.bias[n] != ds.shape[n])
            results.append(ds.sum(shared, keepdims=True))
        return results

    def check(self, found, expected):
        """Raises an AssertionError if a result is further away than its rounding allows."""
        names = ["out", "lse", "dq", "dk", "dv", "dbias"]
        # Weights are rounded to the element type before the second matmul.
        relative = {"f64": 1e-12, "f32": 4e-6, "f16": 4e-3, "bf16": 3e-2}[self.dtype]
        for name, array, type, right in zip(names, found, self.result_types, expected):
            wide = type.widen(array).astype(np.float64)
            most = np.abs(right[np.isfinite(right)]).max(initial=0)
            limit = relative * most
            if name == "lse":
                limit = max(limit, relative)
            both = np.isfinite(wide) & np.isfinite(right)
            wrong = np.where(both, np.abs(np.where(both, wide - right, 0)) > limit,
                             ~((wide == right) | (np.isnan(wide) & np.isnan(right))))
            if wide.shape != right.shape or wrong.any():
                place = tuple(int(n) for n in np.argwhere(wrong)[0]) if wrong.any() else ()
                raise AssertionError(
                    f"{self.name}: {name}{list(place)} is {wide[place]}, expected {right[place]} "
                    f"with an error of at most {limit}; {int(wrong.sum())} of {wrong.size} differ")


def join(parts):
    return ", ".join(parts)


def call(op, inputs, outputs, attributes):
    """An op with outputs of its own; `inputs` and `outputs` are types by values."""
    empty = {f"{value}_empty": type for value, type in outputs.items()}
    text = "".join(f"  {value} = tensor.empty() : {type}\n" for value, type in empty.items())
    return text + (f"  {join(outputs)} = {op}\n"
                   f"      ins({join(inputs)} : {join(inputs.values())})\n"
                   f"      outs({join(empty)} : {join(empty.values())})\n"
                   f"      {{{join(attributes)}}} -> {join(outputs.values())}\n")


def tensor(shape, element):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"
