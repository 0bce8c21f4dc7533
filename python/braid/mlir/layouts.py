# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all runs of an entry ask of its arguments and results, computed once."""

import ctypes as c
import math

import numpy as np

from . import _abi
from .arrays import address_of, descriptor_at, is_dynamic, sizes_of
from .dtypes import numpy_dtype


class Slot:
    """An argument or a result of an entry.

    begin: where its descriptor begins among the words of a frame
    size: the bytes of its elements, if its sizes are known
    """

    def __init__(self, argument, begin):
        self.argument = argument
        self.dtype = numpy_dtype(argument.dtype)
        self.sizes = sizes_of(argument)
        self.is_dynamic = is_dynamic(argument)
        self.is_scalar = argument.passing == _abi.SCALAR
        self.direction = argument.direction
        self.begin = begin
        self.size = math.prod(self.sizes) * self.dtype.itemsize
        self.words = [] if self.is_scalar else descriptor_at(0, [0 if self.is_dynamic else size for size in self.sizes])


class Layout:
    """The arguments of an entry as slots, and their descriptors without addresses, one after the other.

    entry: the entry by reference, as the runtime takes it
    input_count: the number of arguments
    last_ns: the time of its last run, 0 before the first one
    """

    def __init__(self, entry):
        self.entry, self.last_ns = c.byref(entry), 0
        self.slots, begin = [], 0
        for i in range(entry.argument_count):
            self.slots.append(Slot(entry.arguments[i], begin))
            begin += len(self.slots[-1].words)
        self.input_count = sum(slot.direction != _abi.OUT for slot in self.slots)
        self.words = np.array([word for slot in self.slots for word in slot.words], np.int64)
        self.offsets = np.array([slot.begin * 8 for slot in self.slots] or [0], np.int64)


class Words:
    """The descriptors of one rank during one run, and the pointers to them that the entry takes."""

    def __init__(self, layout):
        self.words = layout.words.copy()
        self._pointers = layout.offsets + address_of(self.words)
        self.pointers = address_of(self._pointers)

    def point(self, i, slot, address, shape):
        """Argument i, which is no dynamic result, lies at `address`; a dynamic one has this shape."""
        if slot.is_scalar:
            self._pointers[i] = address
        elif slot.is_dynamic:
            self.words[slot.begin:slot.begin + len(slot.words)] = descriptor_at(address, shape)
        else:
            # Two numbers take a third of the time of a slice.
            self.words[slot.begin] = self.words[slot.begin + 1] = address

    def of(self, slot):
        """The descriptor of a slot."""
        return self.words[slot.begin:slot.begin + len(slot.words)]
