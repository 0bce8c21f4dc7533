# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs: loaded into this process, run on ranks."""

import ctypes as c
import os
import threading
import weakref

from . import _abi
from .arrays import address_of, aligned_copy, check, describe, empty_at, is_taken_as_it_is, take_result
from .devices import DeviceFrame, DeviceWorld
from .dlpack import as_array
from .errors import ArgumentError, BraidError, RankError
from .layouts import Layout, Words
from .numerics import read_numerics
from .worlds import MPIWorld, ThreadWorld, check_timeout

# The next run of an entry is taken to be short if the last one has taken at most this time.
_SHORT_NS = 5_000_000


class _Frame:
    """The arguments and results of one rank during one run."""

    def __init__(self, layout, inputs, rank, donate):
        self.keep = []  # what the program reads and writes
        self.results = []  # (slot, array or None)
        self.copied_bytes = 0
        self._words = Words(layout)
        self.pointers = self._words.pointers
        given = iter(inputs)
        for i, slot in enumerate(layout.slots):
            if slot.direction == _abi.OUT:
                array = None
                if not slot.is_dynamic:
                    array, address = empty_at(slot.sizes, slot.dtype, slot.size)
                    self._point(i, slot, array, address)
                self.results.append((slot, array))
            else:
                self._add_input(i, slot, as_array(next(given)), rank, donate)

    def _add_input(self, i, slot, array, rank, donate):
        if array.shape != slot.sizes or array.dtype != slot.dtype:
            check(slot.argument, array, f"argument {i} of rank {rank}")
        overwritten = slot.direction == _abi.INOUT
        if overwritten and donate and not (is_taken_as_it_is(array)
                                           and array.flags.writeable):
            raise ArgumentError(f"argument {i} of rank {rank} cannot be donated: it is read-only or "
                                "its memory is not contiguous")
        if not is_taken_as_it_is(array) or (overwritten and not donate):
            self.copied_bytes += array.nbytes
            array = aligned_copy(array)
        self._point(i, slot, array, address_of(array))

    def _point(self, i, slot, array, address):
        self.keep.append(array)
        self._words.point(i, slot, address, array.shape)

    def take_results(self, world):
        return [array if array is not None else take_result(slot.argument, self._words.of(slot))
                for slot, array in self.results]


class Executable:
    """A compiled program, ready to run: on the host, or with a GPU for each rank.

    entries: the names of its entry points
    program: the runtime's table of the program
    numerics: a Numerics: which sums may have another order than in the program as written;
        None if the program does not record it
    copied_bytes: the bytes of arguments that the last run had to copy
    elapsed_ns: the time of the last run, from its start to the end of its last rank
    device_ns: the time of the last run by the GPU's clock, the longest of the ranks of this
        process; 0 on the host
    """

    def __init__(self, path):
        """Loads a shared object that braid-compile has made."""
        runtime = self._runtime = _abi.runtime()
        self._library = _abi.checked(runtime.braid_rt_load,
                                     os.fsencode(os.path.abspath(path)))
        self.program = runtime.braid_rt_library_program(self._library)
        table = self.program.contents
        self.target = _abi.TARGETS[table.target]
        self.entries = [table.entries[i].contents.name.decode()
                        for i in range(table.entry_count)]
        self.numerics = read_numerics(self._library, self.target)
        self.copied_bytes = 0
        self.elapsed_ns = 0
        self.device_ns = 0
        self._world = None
        self._layouts = {}
        self._lock = threading.Lock()
        weakref.finalize(self, runtime.braid_rt_unload, self._library).atexit = False

    def _entry(self, name):
        if name is None:
            name = "main" if "main" in self.entries else self.entries[0]
            if name != "main" and len(self.entries) > 1:
                raise ArgumentError(f"which entry of {', '.join(self.entries)} is to run?")
        if name not in self.entries:
            raise ArgumentError(f"the program has no entry {name!r}; it has "
                                f"{', '.join(self.entries)}")
        return self.program.contents.entries[self.entries.index(name)].contents

    def _layout(self, name):
        return self._layouts.get(name) or self._layouts.setdefault(name, Layout(self._entry(name)))

    def signature(self, entry=None):
        """The types of an entry's arguments and results, as two lists of text."""
        found = self._entry(entry)
        arguments = [found.arguments[i] for i in range(found.argument_count)]
        return ([describe(a) for a in arguments if a.direction != _abi.OUT],
                [describe(a) for a in arguments if a.direction == _abi.OUT])

    def run(self, arguments, entry=None, donate=False, timeout=30.0, world=None):
        """Runs an entry on len(arguments) ranks and gives the results of each.

        arguments: for each rank of this process the list of its arrays; also tensors of
            other packages that have __dlpack__ or that NumPy can read, in memory of the CPU,
            and of the rank's GPU if the program is for GPUs (rank i has GPU i)
        entry: the name of the entry; by default "main", or the only one
        donate: arguments that are marked comm.donated may be overwritten; without
            it the program gets copies of these
        timeout: seconds that a rank waits for another one to come; a world has its own
        world: an MPIWorld, in which this process is one rank: all processes call run()
            together, each with the arguments of its rank; by default ranks are threads

        Contiguous arrays are read where they lie; others are copied. Results of programs for
        GPUs are `DeviceArray`s; tensors on GPUs are read where they lie, and must be contiguous.

        Raises ArgumentError for arguments that do not fit, RankError when ranks
        fail. KeyboardInterrupt ends the call at once; the ranks end when they
        have waited for `timeout`. It waits for one rank whose last run took less than 5 ms.
        """
        layout = self._layout(entry)
        expected = layout.input_count
        if world is not None and self.target != "host":
            raise ArgumentError(f"the program was compiled for {self.target}, expected the host: "
                                "ranks of an MPIWorld have no GPU")
        if world is not None and not isinstance(world, MPIWorld):
            raise ArgumentError(f"world is {world!r}, expected an MPIWorld or None")
        if not arguments:
            raise ArgumentError("no rank: `arguments` has a list for each rank, found none")
        if world is not None and len(arguments) != 1:
            raise ArgumentError(f"`arguments` has the lists of {len(arguments)} ranks, expected "
                                f"one list: this process is rank {world.rank} alone")
        ranks = range(len(arguments)) if world is None else [world.rank]
        for rank, inputs in zip(ranks, arguments):
            if len(inputs) != expected:
                raise ArgumentError(f"rank {rank} has {len(inputs)} arguments, expected "
                                    f"{expected}: {', '.join(self.signature(entry)[0])}")
        make_frame = _Frame if self.target == "host" else DeviceFrame
        frames = [make_frame(layout, inputs, rank, donate) for rank, inputs in zip(ranks, arguments)]
        with self._lock:
            if world is not None:
                return self._run(layout, frames, world)
            key = len(frames), check_timeout(timeout)
            if self._world is None or self._world.key != key:
                make_world = ThreadWorld if self.target == "host" else DeviceWorld
                self._world = make_world(*key)
            # A run that Ctrl-C leaves keeps its world and its arrays to itself.
            world, self._world = self._world, None
            results = self._run(layout, frames, world)
            self._world = world
            return results

    def _run(self, layout, frames, world):
        """Runs the frames on the ranks of the world that this process has."""
        runtime = self._runtime
        # Ctrl-C need not end a short call, which a thread to wait for would make longer.
        is_here = world.is_alone and 0 < layout.last_ns <= _SHORT_NS
        run_world = runtime.braid_rt_world_run_here if is_here else runtime.braid_rt_world_run

        def run():
            world.prepare(self)
            world.place(frames)
            self.copied_bytes = sum(frame.copied_bytes for frame in frames)
            pointers = (c.c_void_p * len(frames))(*[frame.pointers for frame in frames])
            try:
                status = run_world(world.handle, layout.entry, pointers)
            finally:
                _keep(frames, self)
            self.elapsed_ns = layout.last_ns = runtime.braid_rt_world_elapsed_ns(world.handle)
            self.device_ns = world.device_ns()
            if status != _abi.OK:
                return None
            return [frame.take_results(world) for frame in frames]

        results = run() if is_here else world.run(run)
        if results is None:
            failures = world.failures()
            raise RankError(failures) if failures else BraidError("the run failed")
        return results


def _keep(*_objects):
    """Holds references until it is called."""
