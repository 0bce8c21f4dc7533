# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests share that run the kernels of a JAX program on the host."""

import os
import sys

import braid_testing as bt
import jax
import kernel_emulator
import numpy as np


def check(program, arguments, expected, unit, name, directory, cxx, types=None):
    """Ends the process where a result of a program's kernels is more than `unit` of the largest element away from `expected`.

    program: what braid.jax.export gives
    arguments, expected: trees of arrays; `types` has the element types of results that are others than those of `expected`
    name: of this run, in messages and for its folder in `directory`
    cxx: a Clang of the version of LLVM
    """
    emulator = kernel_emulator.Emulator(program.text, os.path.join(directory, name), cxx)
    storage = [bt.ELEMENT_TYPES[buffer["type"]].storage for buffer in emulator.buffers.values() if buffer["direction"] == "in"]
    found = emulator.run([np.asarray(value).view(kind) for value, kind in zip(jax.tree.leaves(arguments), storage)])
    expected = [np.asarray(value) for value in jax.tree.leaves(expected)]
    types = types or [other.dtype for other in expected]
    for number, (one, other, kind) in enumerate(zip(found, expected, types, strict=True)):
        one, other = one.view(kind).astype(np.float64).reshape(other.shape), other.astype(np.float64)
        apart = np.abs(one - other).max() / np.abs(other).max()
        if not apart <= unit:
            sys.exit(f"result {number} of {name}: {apart} apart, expected {unit} at most")
