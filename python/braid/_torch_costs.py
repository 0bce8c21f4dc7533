# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What costs depend on: sizes, operations, matmuls and process groups, as PyTorch has them."""

import logging

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
            from torch.distributed import distributed_c10d as c10d

            ranks = c10d.get_process_group_ranks(c10d._resolve_process_group(name))
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


def count_flops(fx_node):
    """Operations of a node of an FX graph by PyTorch's own formulas; 0 if it has none."""
    # The formula of most of them, without its detours: a compile has thousands.
    matmul = get_matmul(fx_node)
    if matmul is not None:
        rows, columns, depth, _, batch, _ = matmul
        return 2 * rows * columns * depth * batch

    import torch
    from torch.utils._pytree import tree_map
    from torch.utils.flop_counter import flop_registry

    formula = flop_registry.get(getattr(fx_node.target, "overloadpacket", None))
    if formula is None:
        return 0
    value = lambda argument: argument.meta["val"] if isinstance(argument, torch.fx.Node) else argument  # noqa: E731
    args, kwargs = tree_map(value, (fx_node.args, fx_node.kwargs))
    for widen in (False, True):
        try:
            return get_hint(formula(*(_widen_heads(torch, args) if widen else args), **kwargs, out_val=fx_node.meta["val"]))
        except Exception as error:  # A formula may refuse what its op takes.
            _log.info("no operations of %s: %s", fx_node, error)
    return 0


def _widen_heads(torch, args):
    """Attention whose keys and values have as many heads as its queries: PyTorch 2.11 counts no other."""
    is_operand = lambda value: isinstance(value, torch.Tensor) and value.dim() == 4  # noqa: E731
    heads = max((value.shape[1] for value in args if is_operand(value)), default=0)
    return [value[:, :1].expand(-1, heads, -1, -1) if is_operand(value) else value for value in args]
