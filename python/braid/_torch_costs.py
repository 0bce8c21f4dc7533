# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What costs depend on: sizes, operations, matmuls and process groups, as PyTorch has them."""

import logging
import math

from . import _groups
from .schedule.machine import TRANSPOSED

_log = logging.getLogger("braid")


class CollectiveGroups:
    """How large groups are, and over how many nodes they are spread."""

    def __init__(self, machine):
        self.machine = machine
        self._known = {}

    def describe(self, name):
        """(ranks, nodes) of the process group called `name`."""
        if name not in self._known:
            ranks = _groups.get_group_ranks(name)
            per_node = max(1, self.machine.ranks_per_node)
            self._known[name] = (len(ranks), len({rank // per_node for rank in ranks}))
        return self._known[name]


#: Parts of the names of PyTorch's collectives, and what Braid calls them.
_COLLECTIVES = (
    ("all_reduce", "all_reduce"),
    ("all_gather", "all_gather"),
    ("reduce_scatter", "reduce_scatter"),
    ("all_to_all", "all_to_all"),
    ("alltoall", "all_to_all"),
    ("broadcast", "broadcast"),
)


def get_collective_kind(name):
    """What Braid calls the collective that PyTorch calls `name`; None if it has no such."""
    for part, kind in _COLLECTIVES:
        if part in name:
            return kind
    return None


#: Element types as machines name their peaks.
_PEAKS = {
    "torch.float64": "f64",
    "torch.float32": "f32",
    "torch.bfloat16": "bf16",
    "torch.float16": "f16",
    "torch.int8": "i8",
}


def get_peak(machine, dtype):
    """Operations per second of `machine` on elements of `dtype`."""
    name = str(dtype)
    if name.startswith("torch.float8"):
        return machine.peaks["f8"]
    return machine.peaks[_PEAKS.get(name, "f32")]


def get_roofline(machine, flops, size, dtype):
    """(ns, demand) of compute that does `flops` operations on elements of `dtype` and moves `size` bytes."""
    arithmetic = flops / get_peak(machine, dtype) * 1e9 if flops else 0
    memory = size / machine.memory_bandwidth * 1e9
    cost = max(arithmetic, memory)
    return cost, {"arithmetic_ns": min(arithmetic, cost), "memory_bytes": size}


#: Where matmuls have their operands.
_MATMULS = {"aten.mm": 0, "aten.addmm": 1, "aten.bmm": 0, "aten.baddbmm": 1}


def get_matmul(fx_node):
    """(rows, columns, depth, element, batch, transposed) of a node of an FX graph; None if it is no matmul."""
    first = _MATMULS.get(str(getattr(fx_node.target, "overloadpacket", None)))
    if first is None:
        return None
    a, b = (fx_node.args[first + i].meta["val"] for i in range(2))
    element = _PEAKS.get(str(a.dtype), "f8" if "float8" in str(a.dtype) else None)
    if element is None:
        return None
    batch = get_hint(a.shape[0]) if a.dim() == 3 else 1
    transposed = TRANSPOSED[_is_transposed(a) + 2 * _is_transposed(b)]
    return get_hint(a.shape[-2]), get_hint(b.shape[-1]), get_hint(a.shape[-1]), element, batch, transposed


def _is_transposed(matrix):
    """Whether the rows of a matrix change fastest in memory."""
    outer, inner = (get_hint(stride) for stride in matrix.stride()[-2:])
    return inner != 1 and outer == 1


def get_hint(value):
    """A whole number of at least 0 for a size that may be symbolic: the hint of the trace.

    A size that comes from data has no hint. The hint of `torch._dynamo.decorators.mark_unbacked` or
    ``torch._inductor.config.unbacked_symint_fallback`` (8192 unless set) stands for each of its symbols, as in Inductor's
    own estimates. Both are the same on all ranks.
    """
    if isinstance(value, int):
        return value
    import torch
    import torch._inductor.config as config
    from torch.fx.experimental import symbolic_shapes

    if not isinstance(value, torch.SymInt):
        return max(0, int(value))
    # PyTorch 2.11 has the second name.
    hint = getattr(symbolic_shapes, "optimization_hint", None) or symbolic_shapes.size_hint
    return max(0, int(hint(value, fallback=config.unbacked_symint_fallback)))


#: The tiles of queries and of keys that cuDNN's kernels of attention compute as a whole.
_ATTENTION_TILE = 128


def count_flops_of_attention(fx_node):
    """Operations of a matmul that takes as long as an attention, or its gradient, of an FX graph; None for other nodes.

    The numbers are those of `library.attention`, fitted to cuDNN's kernels on H200s: the exponential of each pair of a query and a key
    counts, and in the gradient what is added up in memory.
    """
    name = str(getattr(fx_node.target, "overloadpacket", None))
    if not name.startswith("aten._scaled_dot_product_"):
        return None
    names = [argument.name for argument in fx_node.target._schema.arguments]
    given = {**dict(zip(names, fx_node.args)), **fx_node.kwargs}
    query, key, value = (given[operand].meta["val"] for operand in ("query", "key", "value"))
    *outer, queries, depth = map(get_hint, query.shape)
    keys, value_depth = get_hint(key.shape[-2]), get_hint(value.shape[-1])
    queries, keys = (-(-length // _ATTENTION_TILE) * _ATTENTION_TILE for length in (queries, keys))
    pairs = queries * keys
    if given.get("is_causal"):
        # The first queries read one key more each, the others all keys.
        growing = min(queries, keys)
        pairs = growing * (growing + 1) // 2 + (queries - growing) * keys
    if name.endswith("_backward"):
        of_pair = 9 * (3 * depth + 2 * value_depth) // 4 + 1760
    else:
        of_pair = 3 * (depth + value_depth) + 256
    return math.prod(outer) * pairs * of_pair


def count_flops(fx_node):
    """Operations of a node of an FX graph by PyTorch's own formulas, and of attention by Braid's; 0 if it has none."""
    # The formula of most of them, without its detours: a compile has thousands.
    matmul = get_matmul(fx_node)
    if matmul is not None:
        rows, columns, depth, _, batch, _ = matmul
        return 2 * rows * columns * depth * batch
    attention = count_flops_of_attention(fx_node)
    if attention is not None:
        return attention

    import torch
    from torch.utils._pytree import tree_map
    from torch.utils.flop_counter import flop_registry

    formula = flop_registry.get(getattr(fx_node.target, "overloadpacket", None))
    if formula is None:
        return 0
    value = lambda argument: argument.meta["val"] if isinstance(argument, torch.fx.Node) else argument  # noqa: E731
    args, kwargs = tree_map(value, (fx_node.args, fx_node.kwargs))
    try:
        return get_hint(formula(*args, **kwargs, out_val=fx_node.meta["val"]))
    except Exception as error:  # A formula may refuse what its op takes.
        _log.info("no operations of %s: %s", fx_node, error)
        return 0


def get_values(fx_node):
    """The tensors that a node of an FX graph stands for, as its meta data has them."""
    import torch

    values = fx_node.meta.get("val")
    values = values if isinstance(values, (tuple, list)) else [values]
    return [value for value in values if isinstance(value, torch.Tensor)]


def get_element_type(fx_node):
    """The element type of the first tensor that a node of an FX graph computes; None if it computes none."""
    return next((value.dtype for value in get_values(fx_node)), None)
