# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch.distributed says of process groups, by their names."""

from .errors import BraidError


class KeepOrder(BraidError):
    """Why a pass leaves the order as it is."""


def get_rank():
    """The rank of this process; 0 without a process group."""
    import torch.distributed as dist

    return dist.get_rank() if dist.is_available() and dist.is_initialized() else 0


def has_other_ranks():
    """True if there are other processes that compile the same graph."""
    import torch.distributed as dist

    if not (dist.is_available() and dist.is_initialized()) or dist.get_world_size() < 2:
        return False
    # The ranks of this backend do not exist.
    return dist.get_backend() != "fake"


def resolve(name):
    from torch.distributed import distributed_c10d as c10d

    return c10d._resolve_process_group(name)


def get_group_ranks(name):
    """The ranks of the process group called `name`. Raises `KeepOrder` if it is none that this rank knows."""
    from torch.distributed import distributed_c10d as c10d

    try:
        return c10d.get_process_group_ranks(resolve(name))
    except Exception as error:
        raise KeepOrder(f"found a collective of the group {name!r}, which is unknown: {error}") from error


def get_members(name):
    """The ranks of a process group that this rank belongs to; none if it does not."""
    from torch.distributed import distributed_c10d as c10d

    try:
        return frozenset(c10d.get_process_group_ranks(resolve(name)))
    except Exception:  # A group of other ranks.
        return frozenset()


def count_collectives(name):
    """How many collectives the group has seen on this rank; None where its backend does not count."""
    try:
        return resolve(name)._get_sequence_number_for_group()
    except Exception:  # Not all backends count.
        return None


def count_all():
    """The same of all groups of this rank, by name."""
    return {name: count_collectives(name) or 0 for name in _get_names()}


def get_all_ranks():
    """(name, ranks) of all process groups that this rank belongs to."""
    return [(name, sorted(get_members(name))) for name in _get_names()]


def _get_names():
    import torch.distributed as dist

    if not dist.is_available():
        return []
    from torch.distributed import distributed_c10d as c10d

    return sorted(c10d._world.pg_names.values())


def get_timeout(name):
    """Seconds after which a collective of the group would give up."""
    from torch.distributed.constants import default_pg_timeout

    try:
        group = resolve(name)
        timeouts = [group._get_backend(device).options._timeout for device in group._device_types]
        return max(timeout.total_seconds() for timeout in timeouts)
    except Exception:  # Not all backends say so.
        return default_pg_timeout.total_seconds()


def abort(names):
    """Ends what runs in these groups, as far as their backends can: NCCL does, Gloo goes on."""
    groups = [resolve(name) for name in names]
    backends = [group._get_backend(device) for group in groups for device in group._device_types]
    # Communicators that are aborted one by one may wait for each other (pytorch/pytorch#119797).
    leader = next((backend for backend in backends if hasattr(backend, "_group_start")), None)
    if leader is not None:
        leader._group_start()
    try:
        for group in groups:
            group.abort()
    finally:
        if leader is not None:
            leader._group_end()
