# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of all-reduces become all-reduces of sums.

The gradient of a value that several tensor-parallel matmuls read is a sum of all-reduces, one for each of them: five in a block of Llama,
where two do. The sums round otherwise.

All members of a process group change their graphs, or none of them (`_votes`). So the ranks ask each other in each process: AOTAutograd's
cache, which would skip this pass, keeps no such graph. Inductor's cache does, by the graph that has come of it.
"""

import dataclasses
import logging

import torch
from torch._inductor.custom_graph_pass import CustomGraphPass, get_hash_for_files
from torch.fx.experimental.symbolic_shapes import statically_known_true

from .. import _groups
from .._compiled_graphs import is_compiling
from .._votes import Vote

_log = logging.getLogger("braid.inductor")

#: Operations that sums pass.
_LINEAR = ("sum", "avg")


class Reassociation(CustomGraphPass):
    """A pass for ``torch._inductor.config.joint_custom_pre_pass``; `agree`: whether the ranks ask each other."""

    def __init__(self, agree=True):
        self.agree = agree

    def __call__(self, graph):
        """Rewrites `graph`, a ``torch.fx.Graph`` of forward and backward. What it does follows from the ops alone, so that ranks whose sizes
        differ issue the same collectives."""
        sums, votes = [], {}
        try:
            reductions = _find_reductions(graph)
            if self._has_to_agree():
                votes = {group: _make_vote(group, starts) for group, starts in reductions.items()}
            for add in graph.find_nodes(op="call_function", target=torch.ops.aten.add.Tensor):
                _rewrite(graph, add, sums)
        except Exception as error:  # A compile does not fail because of a sum.
            _undo(graph, sums)
            _refuse(votes, error)
            return
        for group in dict.fromkeys(each.group for each in sums):
            own = [each for each in sums if each.group == group]
            why = votes[group].ask(_describe(own, reductions[group])) if group in votes else None
            if why is None:
                _finish(graph, own)
                _log.info("%d all-reduces have become part of others", len(own))
            else:
                _undo(graph, own)
                _keep(why)

    def _has_to_agree(self):
        return self.agree and _groups.has_other_ranks()

    def __eq__(self, other):
        return type(other) is type(self) and other.agree == self.agree

    def __hash__(self):
        return hash(type(self))

    def uuid(self):
        return None if self._has_to_agree() and not is_compiling() else get_hash_for_files((__file__,))


@dataclasses.dataclass
class _Sum:
    """An `add` of two all-reduces, `starts`, of a process group, and the nodes that take its place: `new`, the last one of which is a wait."""

    add: torch.fx.Node
    starts: list
    new: list = dataclasses.field(default_factory=list)

    @property
    def group(self):
        return self.starts[0].args[2]


def _find_reductions(graph):
    """The all-reduces of `graph` by the name of their process group."""
    reductions = {}
    for node in graph.find_nodes(op="call_function", target=torch.ops._c10d_functional.all_reduce.default):
        reductions.setdefault(node.args[2], []).append(node)
    return reductions


def _make_vote(group, starts):
    return Vote(group, [[start.args[1].lower(), str(start.meta["val"].dtype)] for start in starts])


def _describe(sums, starts):
    """The numbers of the all-reduces that are added up, where new ones have the next numbers."""
    number = {start: index for index, start in enumerate(starts)}
    for each in sums:
        number[each.new[1]] = len(number)
    return [[number[start] for start in each.starts] for each in sums]


def _keep(why):
    _log.warning("sums of all-reduces stay as the program has them: %s", why)


def _refuse(votes, error):
    """Says on all members of the groups that sums stay, because of `error`."""
    texts = [vote.refuse(error) for vote in votes.values()]
    _keep(texts[0] if texts else f"{type(error).__name__}: {error}")


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


def _rewrite(graph, add, sums):
    """Has everybody read the wait for one all-reduce in place of `add`, if it is the sum of two, which then is one of `sums`."""
    if add.kwargs or len(add.args) != 2 or add.args[0] is add.args[1]:
        return
    starts = [_find_start(wait, add) for wait in add.args]
    if None in starts or starts[0].args[1:] != starts[1].args[1:] or not _are_alike(add, *starts):
        return
    new, waits = [], list(add.args)
    sums.append(_Sum(add, starts, new))
    with graph.inserting_before(add):
        new.append(graph.call_function(add.target, tuple(start.args[0] for start in starts)))
        new.append(graph.call_function(starts[0].target, (new[0], *starts[0].args[1:])))
        new.append(graph.call_function(waits[1].target, (new[1],)))
    for node, old in zip(new, (add, starts[1], waits[1])):
        node.meta = {**old.meta, "val": add.meta["val"]}
    add.replace_all_uses_with(new[2])


def _undo(graph, sums):
    for each in reversed(sums):
        if len(each.new) == 3:
            each.new[2].replace_all_uses_with(each.add)
        for node in reversed(each.new):
            graph.erase_node(node)


def _finish(graph, sums):
    """Erases what nobody reads any longer."""
    for each in reversed(sums):
        for node in (each.add, *each.add.all_input_nodes, *each.starts):
            graph.erase_node(node)
