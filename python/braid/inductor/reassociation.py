# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of all-reduces become all-reduces of sums.

The gradient of a value that several tensor-parallel matmuls read is a sum of all-reduces, one for each of them: five in a block of Llama,
where two do. The sums round otherwise.
"""

import logging

import torch
from torch._inductor.custom_graph_pass import CustomGraphPass, get_hash_for_files
from torch.fx.experimental.symbolic_shapes import statically_known_true

_log = logging.getLogger("braid.inductor")

#: Operations that sums pass.
_LINEAR = ("sum", "avg")


class Reassociation(CustomGraphPass):
    """A pass for ``torch._inductor.config.joint_custom_pre_pass``."""

    def __call__(self, graph):
        """Rewrites `graph`, a ``torch.fx.Graph`` of forward and backward. What it does follows from the ops alone, so that ranks whose sizes
        differ issue the same collectives."""
        adds = graph.find_nodes(op="call_function", target=torch.ops.aten.add.Tensor)
        count = sum(_rewrite(graph, add) for add in adds)
        if count:
            _log.info("%d all-reduces have become part of others", count)

    def __eq__(self, other):
        return type(other) is type(self)

    def __hash__(self):
        return hash(type(self))

    def uuid(self):
        return get_hash_for_files((__file__,))


def _find_start(wait, add):
    """The all-reduce that nobody but `add` reads, behind `wait`; None for other nodes."""
    ops = torch.ops._c10d_functional
    if not isinstance(wait, torch.fx.Node) or wait.target is not ops.wait_tensor.default or set(wait.users) != {add}:
        return None
    start = wait.args[0]
    is_alone = start.target is ops.all_reduce.default and set(start.users) == {wait}
    return start if is_alone and start.args[1].lower() in _LINEAR else None


def _are_alike(*nodes):
    """Whether tensors have one shape and element type, and belong to the same part of what is computed again."""
    first, *others = nodes
    value = first.meta["val"]
    for node in others:
        own = node.meta["val"]
        if own.dtype != value.dtype or own.dim() != value.dim() or node.meta.get("recompute") != first.meta.get("recompute"):
            return False
        if not all(statically_known_true(one == other) for one, other in zip(own.shape, value.shape)):
            return False
    return True


def _rewrite(graph, add):
    """Whether `add` has become the wait for one all-reduce."""
    if add.kwargs or len(add.args) != 2 or add.args[0] is add.args[1]:
        return False
    starts = [_find_start(wait, add) for wait in add.args]
    if None in starts or starts[0].args[1:] != starts[1].args[1:] or not _are_alike(add, *starts):
        return False
    with graph.inserting_before(add):
        total = graph.call_function(add.target, tuple(start.args[0] for start in starts))
        start = graph.call_function(starts[0].target, (total, *starts[0].args[1:]))
        wait = graph.call_function(torch.ops._c10d_functional.wait_tensor.default, (start,))
    for new, old in (total, add), (start, starts[1]), (wait, add.args[1]):
        new.meta = {**old.meta, "val": add.meta["val"]}
    add.replace_all_uses_with(wait)
    for node in (add, *add.all_input_nodes, *starts):
        graph.erase_node(node)
    return True
