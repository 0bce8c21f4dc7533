# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replica groups of HLO as lists of ranks.

HLO writes groups in three ways: as lists, `{{0,1},{2,3}}`; as a permuted iota,
`[2,2]<=[2,2]T(1,0)`; and as axes of a mesh, `mesh['a'=2,'b'=2] {'a'}`, of which an axis may
be a part, `'b':(1)2`. They are read from the text, because jaxlib's conversion to StableHLO
drops the order of the devices of a mesh.
"""

import re
from math import prod

import numpy as np

_LISTS = r"\{(?:\{[\d,]*\},?)*\}"
_IOTA = r"\[[\d,]+\]<=\[[\d,]+\](?:T\([\d,]+\))?"
_MESH = r"mesh\[[^\]]*\](?:, device_ids=\([^()]*(?:\([^()]*\)[^()]*)*\))? \{[^}]*\}"
_GROUPS = re.compile(rf"\breplica_groups=({_LISTS}|{_IOTA}|{_MESH})")
_CHANNEL = re.compile(r"\bchannel_id=(\d+)")
_AXIS = r"'([^']*)'|([\w.]+)"


def read_channels(module, ranks):
    """The lists of ranks of each channel of a jaxlib HloModule.

    Raises ValueError for groups in a notation that is not known, and for a channel with two
    different ones.
    """
    channels = {}
    for line in module.to_string().splitlines():
        text = line.split(", metadata={", 1)[0]
        if " replica_groups=" not in text:
            continue
        groups, channel = _GROUPS.search(text), _CHANNEL.search(text)
        if groups is None:
            raise ValueError(f"cannot read the groups of {text}")
        if channel is None:
            continue
        lists = read_groups(groups[1], ranks)
        if channels.setdefault(int(channel[1]), lists) != lists:
            raise ValueError(f"channel {channel[1]} has two sets of groups")
    return channels


def read_groups(text, ranks):
    """The lists of ranks of one notation. Raises ValueError unless it is known and names
    ranks below `ranks` at most once."""
    if text.startswith("{"):
        lists = [_integers(members) for members in re.findall(r"\{([\d,]*)\}", text[1:-1])]
    elif text.startswith("["):
        shape, source = text.split("<=")
        lists = _iota(source).reshape(_integers(shape)).tolist()
    else:
        lists = _mesh_axes(text, ranks)
    members = [rank for group in lists for rank in group]
    if len(set(members)) != len(members) or any(rank >= ranks for rank in members):
        raise ValueError(f"the groups {text} are not groups of {ranks} ranks")
    return lists


def _integers(text):
    return [int(number) for number in re.findall(r"\d+", text)]


def _iota(text):
    """The numbers of `[2,3]T(1,0)`: counted up in this shape, transposed."""
    shape, _, order = text.partition("T")
    shape = _integers(shape)
    numbers = np.arange(prod(shape)).reshape(shape)
    return numbers.transpose(_integers(order)) if order else numbers


def _mesh_axes(text, ranks):
    axes, devices, wanted = re.fullmatch(
        r"mesh\[([^\]]*)\](?:, device_ids=\((.*)\))? \{([^}]*)\}", text).groups()
    sizes = {quoted or plain: int(size)
             for quoted, plain, size in re.findall(rf"(?:{_AXIS})=(\d+)", axes)}
    parts = [(quoted or plain, int(before or 1), int(size or sizes.get(quoted or plain, 1)))
             for quoted, plain, before, size in re.findall(rf"(?:{_AXIS})(?::\((\d+)\)(\d+))?", wanted)]
    # An axis of which parts are wanted becomes several dimensions: what stands before the
    # part, the part, what is left.
    shape, inner = [], [None] * len(parts)
    for name, size in sizes.items():
        done = 1
        for before, part, number in sorted((before, part, number) for number, (axis, before, part)
                                           in enumerate(parts) if axis == name):
            if before % done or size % (before * part):
                raise ValueError(f"the groups {text} are not along parts of axes")
            shape += [before // done, part]
            inner[number] = len(shape) - 1
            done = before * part
        shape.append(size // done)
    if None in inner:
        raise ValueError(f"the groups {text} are along an axis that the mesh lacks")
    numbers = _devices(devices, ranks)
    if numbers.size != prod(shape):
        raise ValueError(f"the groups {text} are not groups of {ranks} ranks")
    outer = [d for d in range(len(shape)) if d not in inner]
    size = prod(shape[d] for d in inner)
    return numbers.reshape(shape).transpose(outer + inner).reshape(-1, size).tolist()


def _devices(text, ranks):
    """The device at each position of a mesh: in order, a permuted iota, or a list."""
    if not text:
        return np.arange(ranks)
    return _iota(text) if text.startswith("[") else np.array(_integers(text))
