# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machines: what graphs run on, and how long collectives take there."""

import contextlib
import os
from dataclasses import dataclass
from typing import Literal

from .. import _native
from .._sizes import parse_size
from ..errors import ScheduleError, UnknownNameError
from .graph import _LINKS, _MOST


@dataclass(frozen=True)
class CollectiveTime:
    """An estimate of one collective."""

    #: Nanoseconds from the moment when all members have started it.
    ns: float
    #: Bytes of device memory that a rank's part reads and writes.
    memory_bytes: int
    #: Bytes that a rank sends over its link.
    link_bytes: int
    #: Multiprocessors that it holds; 0 if copy engines run it.
    multiprocessors: int
    #: False if the model knows no such collective and a stand-in gave the figure.
    exact: bool
    #: True if the machine's profile has measured it, or sizes around it.
    measured: bool = False
    #: Its thread blocks come in clusters of so many; 0: one by one.
    blocks: int = 0
    #: True if its data moves in one direction, as of all collectives but all_reduce.
    one_way: bool = False
    #: The link that it shares with others: "intra-node", "inter-node", or "spine" if the way from leaf switches to
    #: the spine is its bottleneck.
    link: Literal["intra-node", "inter-node", "spine"] = "intra-node"


@dataclass(frozen=True)
class MatmulTime:
    """An estimate of one matmul."""

    #: Nanoseconds with nothing beside it.
    ns: float
    #: Nanoseconds of its arithmetic.
    arithmetic_ns: int
    #: Its thread blocks' tiles; 0 without multiprocessors.
    tiles: int
    #: Bytes of device memory that it reads and writes.
    memory_bytes: int
    #: The multiprocessors that its kernel holds until it ends; -1: all.
    blocks: int
    #: True if the machine's profile has measured it.
    measured: bool


_LINK_NAMES = {link: name for name, link in _LINKS.items()}
#: Element types by their place in `Machine.peaks`.
_ELEMENTS = ("f64", "f32", "bf16", "f16", "f8", "i8", "integer")
#: Operands of matmuls that are stored transposed, as braid_matmul counts them.
TRANSPOSED = ("none", "left", "right", "both")


def machines():
    """The names of the machines that are known, each with one line about it."""
    library = _native.library()
    return {
        library.braid_machine_known_name(i).decode(): library.braid_machine_known_summary(i).decode()
        for i in range(library.braid_machine_count())
    }


class Machine:
    """A machine by its name (`machines()`), or by a file in JSON (docs/reference/machine-files.md).

    `profile` is a file of braid-calibrate (docs/reference/profile-files.md), "shipped" for the one that Braid has of a
    machine with this name, or "none" for the models alone. "auto" is "shipped" for a name of which Braid has a profile,
    else "none", as in passes: a file may describe another machine. Figures of a profile replace those of the models.

    On GPUs compute shares multiprocessors and memory with collectives, and launches take time;
    elsewhere nothing is shared.

    Raises
    ------
    UnknownNameError
        There is neither a machine nor a file of this name.
    ScheduleError
        The file does not describe a machine; the message names the place in it.
    """

    def __init__(self, name, profile="auto"):
        if not isinstance(name, (str, os.PathLike)):
            raise ScheduleError(f"found {name!r} as a machine, expected its name or a file")
        text = os.fspath(name)
        is_file = text.endswith(".json") or os.path.sep in text
        #: What it is made of, so that another process can make it: a name, or the text of a file and a name for it, and a profile.
        self._source, self._profile = (text,), None
        if is_file:
            self._source = _read(text, "machine"), os.path.splitext(os.path.basename(text))[0]
            with _naming(text):
                self._create()
        else:
            self._create()
        if profile == "auto":
            self._calibrate_if_shipped(is_file)
        elif profile not in (None, "none"):
            self._calibrate(profile)
        self._read_figures()

    def _create(self):
        if len(self._source) == 2:
            texts = map(_native.encode, self._source, ("the text", "the name"))
            pointer = _native.call("braid_machine_parse", *texts)
        else:
            pointer = _native.call("braid_machine_create", _native.encode(*self._source, "the machine"))
        self._handle = _native.Handle(pointer, "braid_machine_destroy")

    def _read_figures(self):
        figures = _native.MachineFigures()
        _native.call("braid_machine_get_figures", self._handle.pointer, figures)
        #: What the machine is called.
        self.name = _native.library().braid_machine_name(self._handle.pointer).decode()
        #: Operations per second on f64, f32, bf16, f16, f8, i8 and other integers.
        self.peaks = dict(zip(_ELEMENTS, figures.peak_ops_per_second))
        #: Bytes per second of the device memory.
        self.memory_bandwidth = figures.memory_bandwidth
        #: Bytes of the device memory.
        self.memory_bytes = figures.memory_bytes
        #: Ranks of one node.
        self.ranks_per_node = figures.ranks_per_node
        #: Multiprocessors that compute and collectives share; 0 if none.
        self.multiprocessors = figures.multiprocessors
        #: Nanoseconds between two kernels.
        self.launch_ns = figures.launch_ns
        #: True if compute and communication slow each other down.
        self.is_shared = bool(figures.is_shared)

    def _calibrate_if_shipped(self, is_file):
        if is_file:
            return
        with contextlib.suppress(UnknownNameError):  # There is none.
            self._add_profile("shipped")

    def _calibrate(self, profile):
        if not isinstance(profile, (str, os.PathLike)):
            raise ScheduleError(f'found {profile!r} as a profile, expected a file, "auto", "shipped" or "none"')
        path = os.fspath(profile)
        if path == "shipped":
            self._add_profile("shipped")
            return
        content = _read(path, "profile")
        with _naming(path):
            self._add_profile(content)

    def _add_profile(self, profile):
        """Takes the figures of "shipped" or of the text of a file."""
        text = None if profile == "shipped" else _native.encode(profile, "the text")
        _native.call("braid_machine_calibrate", self._handle.pointer, text)
        self._profile = profile

    def __getstate__(self):
        return self._source, self._profile

    def __setstate__(self, state):
        self._source, profile = state
        self._profile = None
        self._create()
        if profile is not None:
            self._add_profile(profile)
        self._read_figures()

    def collective(self, kind, input_bytes, output_bytes=None, *, ranks=None, nodes=None, stride=None, model=None,
                   max_ctas=0, transport=None):
        """The time of a collective alone.

        Parameters
        ----------
        kind : str
            As the dialect spells it: "all_reduce", "all_gather", "reduce_scatter"...
        input_bytes, output_bytes : int or str
            Bytes that one member gives, and gets, such as 33554432 or "32MiB"; the output is as large as the input
            if left out.
        ranks : int, optional
            Ranks that take part; those of a node if left out.
        nodes : int, optional
            Neighbouring nodes that they are spread over; one if left out.
        stride : int, optional
            Instead of `nodes`: the members are the ranks 0, `stride`, 2 `stride`..., numbered node by node: 1 for
            tensor parallelism, the ranks of that for the data parallelism around it.
        model : str, optional
            "nccl", "inductor" or "link"; if left out the machine's profile, where that has measured the
            collective, or else the machine's own.
        max_ctas : int
            The most thread blocks that it may take; 0: no limit.
        transport : str, optional
            How its lane moves data: "default", "symmetric" (kernels on symmetric memory) or "copy" (copy engines).

        Returns
        -------
        CollectiveTime
        """
        if not isinstance(kind, str):
            raise ScheduleError(f"found the kind {kind!r}, expected the name of a collective")
        if model is not None and not isinstance(model, str):
            raise ScheduleError(f"found the model {model!r}, expected a name or None")
        if nodes is not None and stride is not None:
            raise ScheduleError(f"found nodes={nodes!r} and stride={stride!r}, expected one of them")
        if stride is not None and _whole(stride, "stride") < 1:
            raise ScheduleError(f"found stride={stride!r}, expected at least 1")
        given = _native.Collective(
            kind=_native.encode(kind, "the kind"),
            group_size=self.ranks_per_node if ranks is None else _whole(ranks, "ranks"),
            num_nodes=1 if nodes is None else _whole(nodes, "nodes"),
            stride=0 if stride is None else _whole(stride, "stride"),
            input_bytes=_bytes(input_bytes, "input_bytes"),
            output_bytes=_bytes(input_bytes if output_bytes is None else output_bytes, "output_bytes"),
            max_ctas=_whole(max_ctas, "max_ctas"),
        )
        if transport is not None and not isinstance(transport, str):
            raise ScheduleError(f"found the transport {transport!r}, expected a name or None")
        if transport is not None:
            given.transport = _native.encode(transport, "the transport")
        time = _native.CollectiveTime()
        model = None if model is None else _native.encode(model, "the model")
        _native.call("braid_collective_estimate", self._handle.pointer, model, given, time)
        return CollectiveTime(
            time.ns,
            time.memory_bytes,
            time.link_bytes,
            time.multiprocessors,
            bool(time.is_exact),
            bool(time.is_measured),
            time.cluster_size,
            bool(time.is_one_way),
            _LINK_NAMES[time.link],
        )

    def matmul(self, rows, columns, depth, element="bf16", *, batch=1, multiprocessors=0, transposed="none"):
        """The time of a matmul of a `rows` x `depth` and a `depth` x `columns` matrix alone.

        Parameters
        ----------
        rows, columns, depth, batch : int
            At most 2^24 each.
        element : str
            A key of `peaks`.
        multiprocessors : int
            Those that its kernel may take; 0: all.
        transposed : str
            The operands that are stored transposed: "none", "left", "right" or "both".

        Returns
        -------
        MatmulTime
        """
        if transposed not in TRANSPOSED:
            raise ScheduleError(f"found transposed={transposed!r}, expected one of: {' '.join(TRANSPOSED)}")
        if element not in _ELEMENTS:
            raise ScheduleError(f"found elements {element!r}, expected one of: {' '.join(_ELEMENTS)}")
        given = _native.Matmul(
            rows=_whole(rows, "rows"),
            columns=_whole(columns, "columns"),
            depth=_whole(depth, "depth"),
            element=_ELEMENTS.index(element),
            transposed=TRANSPOSED.index(transposed),
            batch=_whole(batch, "batch"),
            multiprocessors=_whole(multiprocessors, "multiprocessors"),
        )
        time = _native.MatmulTime()
        _native.call("braid_matmul_estimate", self._handle.pointer, given, time)
        return MatmulTime(
            time.ns, time.arithmetic_ns, time.tiles, time.memory_bytes, time.blocks, bool(time.is_measured)
        )

    def __repr__(self):
        return f"Machine({self.name!r})"


def _whole(value, what):
    """A whole number that 64 bits have room for; the library refuses negative ones."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ScheduleError(f"found {what}={value!r}, expected a whole number")
    value = value.__index__()
    if value > _MOST:
        raise ScheduleError(f"found {what}={value}, expected at most 2^61")
    return max(value, -_MOST)


def _bytes(value, what):
    """The bytes of a size, a whole number or a text."""
    size = parse_size(value)
    if size is None and value is not None:
        raise ScheduleError(f"found {what}={value!r}, expected a whole number or a size such as '32MiB'")
    return _whole(size, what)


@contextlib.contextmanager
def _naming(path):
    """Puts the name of a file in front of what is wrong with its text."""
    try:
        yield
    except ScheduleError as error:
        raise ScheduleError(f"{path}: {error}") from None


def _read(path, what):
    """The text of a file that describes a machine or a profile."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    # A ValueError: a path with NUL, or a file that is not UTF-8.
    except (OSError, ValueError) as error:
        raise ScheduleError(f"{path}: found no {what}: {error}") from error


def as_machine(machine):
    """The `Machine` that a caller has named; None for the textbook machine."""
    if machine is None or isinstance(machine, Machine):
        return machine
    return Machine(machine)
