# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lets JAX lower calls of cuDNN's attention on machines without cuDNN and a GPU.

JAX asks for the version of cuDNN and the GPU when it traces such a call, and has a lowering for
GPUs alone. The lowering needs neither: it makes a custom call.
"""

import contextlib

import jax.extend
from jax.interpreters import mlir

from .. import private_names

# The answers to JAX's questions: it refuses by them what older versions of cuDNN lack.
_CUDNN_VERSION = 91900


@contextlib.contextmanager
def cudnn_calls():
    """In this context JAX lowers calls of cuDNN's attention on the CPU, too."""
    found = private_names.fused_attention()
    if found is None or found[0].cuda_versions is not None:
        yield
        return
    module, custom_partitioning = found
    answers = {"check_cudnn_version": lambda: _CUDNN_VERSION, "check_compute_capability": lambda capability: True}
    rules = {getattr(module, f"_dot_product_attention_{name}_p"):
             getattr(module, f"_dot_product_attention_{name}_cuda_lowering") for name in ("fwd", "bwd")}
    rules[custom_partitioning] = _lower_whole
    questions = {name: getattr(module, name) for name in answers}
    try:
        for name, answer in answers.items():
            setattr(module, name, answer)
        with private_names.lowered_by(rules):
            yield
    finally:
        for name, question in questions.items():
            setattr(module, name, question)


def _lower_whole(context, *values, call, **_):
    """The function that a partitioning of its own is for: the partitioner that makes the program of
    one rank cannot call JAX."""
    return mlir.lower_fun(jax.extend.core.jaxpr_as_fun(call), multiple_results=True)(context, *values)
