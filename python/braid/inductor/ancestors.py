# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sets of scheduler nodes that take a bit a node, where Inductor's take a name."""

import itertools

from torch.utils._ordered_set import OrderedSet

_BITS = bytes.maketrans(b"01", b"\0\1")


class Ancestors(OrderedSet):
    """The names of nodes as bits of their places.

    All ancestors of all nodes are half as many names as the square of the number of nodes. Inductor asks some sets whether
    they have some names, so a set has its names only where somebody asks for more, or changes the set.
    """

    __slots__ = ("_mask", "_order")

    def __init__(self, mask, order):
        """`mask`: bit i is node i of `order`, an `Order`."""
        self._mask = mask
        self._order = order

    @classmethod
    def _from_iterable(cls, names):
        # What operators of two sets make.
        return OrderedSet(names)

    @property
    def _dict(self):
        if self._order is not None:
            self._dict = dict.fromkeys(self._order.get_names(self._mask))
        return OrderedSet._dict.__get__(self)

    @_dict.setter
    def _dict(self, names):
        OrderedSet._dict.__set__(self, names)
        self._mask = self._order = None

    def __contains__(self, name):
        if self._order is None:
            return name in self._dict
        place = self._order.place.get(name)
        return place is not None and bool(self._mask >> place & 1)

    def __len__(self):
        return len(self._dict) if self._order is None else self._mask.bit_count()


class Order:
    """The names of nodes in their order."""

    def __init__(self, names):
        self.names = names
        self.place = {name: place for place, name in enumerate(names)}

    def get_names(self, mask):
        bits = f"{mask:b}"[::-1].encode().translate(_BITS)
        return itertools.compress(self.names, bits)
