# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arguments and results of a function, in the types of NumPy."""

import re
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxlib.mlir import ir

import braid.mlir

from .manual import find_main

# What the program has in the place of integers of less than 8 bits.
_BYTES = {np.dtype(jnp.dtype(f"{sign}int{width}")): np.dtype(f"{sign}int8") for sign in ("", "u") for width in (2, 4)}


@dataclass(frozen=True)
class Value:
    """An argument or a result.

    shape, dtype: of the array that the program has
    key: the algorithm of a typed PRNG key, whose data the program has; None for others
    is_tangent: whether it is the tangent of an integer, which has no bits: the program has truth values
    """

    shape: tuple
    dtype: np.dtype
    key: str | None = None
    is_tangent: bool = False

    @classmethod
    def of(cls, given):
        """Of what has a shape and a type of JAX."""
        if given.dtype == jax.dtypes.float0:
            return cls(tuple(given.shape), np.dtype(bool), is_tangent=True)
        if not jax.dtypes.issubdtype(given.dtype, jax.dtypes.prng_key):
            return cls(tuple(given.shape), np.dtype(given.dtype))
        names = []

        def data(key):
            names.append(str(jax.random.key_impl(key)))
            return jax.random.key_data(key)

        found = jax.eval_shape(data, jax.ShapeDtypeStruct(given.shape, given.dtype))
        return cls(tuple(found.shape), np.dtype(found.dtype), names[0])

    @property
    def stored(self):
        """The type of the program's elements, with the sign that the array has."""
        return _BYTES.get(self.dtype, self.dtype)

    def take(self, number, leaf):
        """The array that the program takes of an argument. Raises ArgumentError for one that is not of the type."""
        array = np.asarray(self._open(number, leaf))
        if self.is_tangent and array.dtype == jax.dtypes.float0:
            array = np.zeros(array.shape, bool)
        # JAX computes in 32 bits unless told otherwise.
        if array.dtype != self.dtype and jax.dtypes.canonicalize_dtype(array.dtype) == self.dtype:
            array = array.astype(self.dtype)
        self._check(number, array)
        return array.astype(self.stored, copy=False)

    def before_jit(self, leaf):
        """An argument of a function under `jax.jit` that stands for this one."""
        is_tangent = self.is_tangent and getattr(leaf, "dtype", None) == jax.dtypes.float0
        return np.zeros(leaf.shape, bool) if is_tangent else leaf

    def enter(self, number, leaf):
        """Under `jax.jit`, the array that the program takes. Raises ArgumentError as `take` does."""
        array = jnp.asarray(self._open(number, leaf))
        self._check(number, array)
        return array.astype(self.stored)

    def leave(self, array):
        """Under `jax.jit`, the result of an array that the program gives."""
        return array.astype(self.dtype) if self.key is None else jax.random.wrap_key_data(array, impl=self.key)

    def after_jit(self, array):
        return np.zeros(array.shape, jax.dtypes.float0) if self.is_tangent else array

    def _open(self, number, leaf):
        """The argument, or the data of a key."""
        is_key = isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        if is_key != (self.key is not None) or is_key and str(jax.random.key_impl(leaf)) != self.key:
            found = f"a key of {jax.random.key_impl(leaf)}" if is_key else "no key"
            expected = f"a key of {self.key}" if self.key else "an array"
            raise braid.mlir.ArgumentError(f"argument {number} is {found}, expected {expected}")
        return jax.random.key_data(leaf) if is_key else leaf

    def _check(self, number, array):
        if array.shape != self.shape or array.dtype != self.dtype:
            raise braid.mlir.ArgumentError(
                f"argument {number} is {array.dtype}{list(array.shape)}, expected "
                f"{self.dtype}{list(self.shape)}")

    def read(self, array):
        """An array of the program, whose integers have no sign and 8 bits or more, in the type of the result."""
        if self.dtype in _BYTES:
            return array.astype(self.dtype)
        return array if array.dtype == self.dtype else array.view(self.dtype)

    def give(self, array):
        """The result of an array."""
        if self.is_tangent:
            return np.zeros(array.shape, jax.dtypes.float0)
        return array if self.key is None else jax.random.wrap_key_data(array, impl=self.key)


def signature(module):
    """The Values of the arguments and results of `main`."""
    type = ir.FunctionType(ir.TypeAttr(find_main(module).attributes["function_type"]).value)
    return [_of_type(t) for t in type.inputs], [_of_type(t) for t in type.results]


def _of_type(type):
    if not isinstance(type, ir.RankedTensorType) or not type.has_static_shape:
        raise braid.mlir.BraidError(f"`main` has a value of type {type}, expected arrays of static shapes")
    element = str(type.element_type)
    integer = re.fullmatch(r"(u?)i(\d+)", element)
    number = re.fullmatch(r"f(16|32|64)", element)
    if element == "i1":
        name = "bool"
    elif integer:
        name = f"{integer[1]}int{integer[2]}"
    elif number:
        name = f"float{number[1]}"
    else:
        name = {"bf16": "bfloat16", "complex<f32>": "complex64", "complex<f64>": "complex128"}.get(
            element, element.replace("f8", "float8_").lower())
    return Value(tuple(type.shape), np.dtype(jnp.dtype(name)))
