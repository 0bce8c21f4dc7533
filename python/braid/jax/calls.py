# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What lies between a user's call and the function that JAX has lowered: wrappers of `jax.jit`,
such as `flax.nnx.jit` and `equinox.filter_jit`, and static arguments."""

import dataclasses
import itertools

import jax
import numpy as np

from braid.mlir import ArgumentError, BraidError


def lower(fn, args, kwargs):
    """Lowers a call. Gives what `fn.lower` gives, and the jax.stages.Lowered in it, which is
    another one where a package has wrapped `jax.jit`. `fn` may be what was traced or lowered."""
    if isinstance(fn, jax.stages.Traced):
        fn = fn.lower()
    outer = inner = fn if isinstance(fn, jax.stages.Lowered) or hasattr(fn, "lowered") else _lower(fn, args, kwargs)
    while not isinstance(inner, jax.stages.Lowered):
        found = getattr(inner, "lowered", None)
        if found is None:
            raise BraidError(f"`lower` gives a {type(inner).__module__}.{type(inner).__name__}, "
                             "expected a jax.stages.Lowered or what has one as `lowered`")
        inner = found
    return outer, inner


def _lower(fn, args, kwargs):
    if isinstance(fn, jax.stages.Compiled):
        raise BraidError("the function is compiled, expected the function, or what its `lower` gives")
    if not hasattr(fn, "lower"):
        fn = jax.jit(fn, keep_unused=True)
    try:
        return fn.lower(*args, **kwargs)
    except ValueError as error:
        # Shardings on an abstract mesh alone say of no device which platform it is of.
        if "lowering_platforms" not in str(error) or not hasattr(fn, "trace"):
            raise
        return fn.trace(*args, **kwargs).lower(lowering_platforms=("cpu",))


@dataclasses.dataclass(frozen=True)
class _Stage:
    """Stands for a jax.stages.Lowered whose `compile` gives this function."""

    function: object

    def compile(self, *_, **__):
        return self.function


def wrap(outer, function):
    """The function that a package makes of `function`, which takes the place of what
    `jax.jit` has compiled: with the arguments and results of the user's function."""
    if isinstance(outer, jax.stages.Lowered):
        return function
    inner = outer.lowered
    lowered = _Stage(function if isinstance(inner, jax.stages.Lowered) else wrap(inner, function))
    return dataclasses.replace(outer, lowered=lowered).compile()


class StaticArguments:
    """The arguments of a call that are no arguments of the lowered function.

    JAX does not say which these are. They are found where only one choice leaves arguments
    of the lowered types.
    """

    def __init__(self, args, kwargs, args_info):
        """args, kwargs: those of the lowered call
        args_info: JAX's description of the arguments that are left
        """
        self.names = {name: value for name, value in kwargs.items() if name not in args_info[1]}
        self.count = len(args)
        missing = len(args) - len(args_info[0])
        wanted = _describe(args_info[0])
        choices = [chosen for chosen in itertools.combinations(range(len(args)), max(missing, 0))
                   if _describe(_without(args, chosen)) == wanted] if missing > 0 else []
        self.places = {place: args[place] for place in choices[0]} if len(choices) == 1 else {}

    def drop(self, args, kwargs):
        """A call without static arguments. Raises ArgumentError where these have other values
        than those that the program was compiled for."""
        given = [(name, kwargs[name], value) for name, value in self.names.items() if name in kwargs]
        if self.places and len(args) == self.count:
            given += [(place, args[place], value) for place, value in self.places.items()]
            args = _without(args, self.places)
        for name, found, value in given:
            if found is not value and found != value:
                raise ArgumentError(f"the static argument {name} is {found!r}, expected {value!r}, "
                                    "for which the program was compiled")
        return args, {name: value for name, value in kwargs.items() if name not in self.names}


def _without(args, places):
    return tuple(value for place, value in enumerate(args) if place not in places)


def _describe(args):
    """The tree of arguments, and the shapes of its leaves; None for a leaf that is no array."""
    leaves, tree = jax.tree.flatten(args)
    shapes = []
    for leaf in leaves:
        if not hasattr(leaf, "shape") and not isinstance(leaf, (bool, int, float, complex)):
            return None
        shapes.append(tuple(np.shape(leaf)))
    return tree, shapes
