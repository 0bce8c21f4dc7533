# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functional collectives of one process, whose peers do not exist: each works as late as it may.

The start fills the results with what nobody expects, and the wait reads the operands: code that writes operands in flight, or
reads results in flight, always has wrong results here. Over Gloo these depend on who is faster. A peer has the values of this rank,
a little larger for each rank.
"""

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

#: By the address of a result, what fills it.
_in_flight = {}
_library = None


def start_group(ranks):
    """Makes this process rank 0 of `ranks`, and its collectives late ones."""
    global _library
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", rank=0, world_size=ranks, store=FakeStore())
    _library = torch.library.Library("_c10d_functional", "IMPL")
    for function in (
        all_gather_into_tensor,
        all_gather_into_tensor_out,
        all_gather_into_tensor_coalesced,
        reduce_scatter_tensor,
        reduce_scatter_tensor_out,
        reduce_scatter_tensor_coalesced,
        all_reduce,
        all_reduce_,
        all_reduce_coalesced,
        all_reduce_coalesced_,
        all_to_all_single,
        wait_tensor,
    ):
        # PyTorch 2.11 has fewer.
        if hasattr(torch.ops._c10d_functional, function.__name__):
            _library.impl(function.__name__, function, "CPU")


def _poison(value):
    if value.is_floating_point():
        value.fill_(torch.nan)
    elif value.dtype is not torch.bool:
        value.fill_(torch.iinfo(value.dtype).max)


def _start(result, fill):
    _poison(result)
    if result.numel():
        _in_flight[result.data_ptr()] = lambda: result.copy_(fill())
    return result


def wait_tensor(value):
    if value.numel() and value.data_ptr() in _in_flight:
        _in_flight.pop(value.data_ptr())()
    return value


def _get_ranks(group):
    return dist.get_world_size(c10d._resolve_process_group(group))


def _of_rank(value, rank):
    return value * (1 + rank / 16) if value.is_floating_point() else value


def _reduce(value, op, ranks):
    parts = torch.stack([_of_rank(value, rank) for rank in range(ranks)])
    if op in ("max", "min"):
        return getattr(parts, f"a{op}")(0)
    assert op in ("sum", "avg"), op
    return parts.sum(0) if op == "sum" else parts.sum(0) / ranks


def all_gather_into_tensor(value, size, group):
    result = value.new_empty((value.shape[0] * size, *value.shape[1:]))
    return all_gather_into_tensor_out(value, size, group, out=result)


def all_gather_into_tensor_out(value, size, group, *, out):
    def gather():
        return torch.cat([_of_rank(value, rank) for rank in range(size)]).view(out.shape)

    if value.untyped_storage().data_ptr() != out.untyped_storage().data_ptr():
        return _start(out, gather)
    # A gather in place sends a part of its result.
    found = gather()
    return _start(out, lambda: found)


def all_gather_into_tensor_coalesced(values, size, group):
    return [all_gather_into_tensor(value, size, group) for value in values]


def reduce_scatter_tensor(value, op, size, group):
    result = value.new_empty((value.shape[0] // size, *value.shape[1:]))
    return reduce_scatter_tensor_out(value, op, size, group, out=result)


def reduce_scatter_tensor_out(value, op, size, group, *, out):
    return _start(out, lambda: _reduce(value, op, size)[: len(out)])


def reduce_scatter_tensor_coalesced(values, op, size, group):
    return [reduce_scatter_tensor(value, op, size, group) for value in values]


def all_reduce(value, op, group):
    return _start(torch.empty_like(value), lambda: _reduce(value, op, _get_ranks(group)))


def all_reduce_(value, op, group):
    # What it reads is what it writes.
    found = _reduce(value, op, _get_ranks(group))
    return _start(value, lambda: found)


def all_reduce_coalesced(values, op, group):
    return [all_reduce(value, op, group) for value in values]


def all_reduce_coalesced_(values, op, group):
    return [all_reduce_(value, op, group) for value in values]


def all_to_all_single(value, outputs, inputs, group):
    assert outputs == inputs, "peers that send more or less than this rank"
    result = torch.empty_like(value)
    return _start(result, lambda: torch.cat([_of_rank(part, rank) for rank, part in enumerate(value.split(inputs))]))
