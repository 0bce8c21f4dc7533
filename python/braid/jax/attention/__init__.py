# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns attention into `library.attention` and its gradient into `library.attention_backward`."""

from ..walk import walk
from . import cudnn_calls, written
from .cudnn_calls import warn_of_whole
from .ops import finish
from .record import Attention

__all__ = ["Attention", "finish", "rewrite", "warn_of_whole"]


def rewrite(module, recognize=True):
    """Replaces attention by ops that are it. Gives the Attentions of the module.

    recognize: whether to replace what a program has written out, too
    """
    found = []
    for op in walk(module, "stablehlo.custom_call"):
        cudnn_calls.rewrite(op, found)
    if recognize:
        for block in _blocks(module.operation):
            found += written.rewrite(block)
    return found


def _blocks(op):
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _blocks(inner.operation)
            yield block
