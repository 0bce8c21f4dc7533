# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which lane each collective of a graph takes, chosen by what the whole graph takes.

A lane is a process group that the first run makes beside one of the program's (`braid._lanes`). Gathers go by copy engines, which take
no multiprocessors from compute; their results stand in registered memory. Reductions have few thread blocks.
"""

from typing import NamedTuple

from .. import _groups
from ..errors import ScheduleError


class Lane(NamedTuple):
    transport: str = "default"
    max_ctas: int = 0

    def __str__(self):
        limit = f" with at most {self.max_ctas} thread blocks" if self.max_ctas else ""
        return "by copy engines" if self.transport == "copy" else f"in a lane of its own{limit}"


_COPY = Lane("copy")

#: The kinds whose collectives add up.
_REDUCTIONS = ("reduce_scatter", "all_reduce")

#: What is tried for a graph, by kind of collective: the program's own lanes, and gathers by copy engines beside reductions in each lane.
CHOICES = (
    {},
    {"all_gather": _COPY},
    *({"all_gather": _COPY, **dict.fromkeys(_REDUCTIONS, lane)} for lane in (Lane(), Lane(max_ctas=16), Lane(max_ctas=8))),
)

#: The fewest bytes of a result for which a gather takes copy engines: below, their start takes longer than a kernel.
_LEAST_BYTES = 1 << 20

#: The lane whose time a profile has to have for collectives of a kind to leave the program's.
_MEASURED = {"all_gather": _COPY, "reduce_scatter": Lane(), "all_reduce": Lane()}

#: Where lanes may gain something.
_DEVICES = {"cuda"}

_OPS = {"all_gather_into_tensor": "all_gather", "reduce_scatter_tensor": "reduce_scatter", "all_reduce_": "all_reduce"}


def read_choice(given):
    """The choice that a user gives: by kind "copy", or the most thread blocks of a lane. Raises `ScheduleError`."""
    choice = {}
    for kind, lane in given.items():
        is_copy = lane == "copy" and kind == "all_gather"
        if kind not in _MEASURED or not (is_copy or isinstance(lane, int) and lane >= 0):
            raise ScheduleError(
                f"found lanes={{{kind!r}: {lane!r}}}, expected by kind ({', '.join(_MEASURED)}) a number of thread blocks, or 'copy' "
                "for all_gather"
            )
        choice[kind] = _COPY if is_copy else Lane(max_ctas=int(lane))
    return choice


def find_missing():
    """The name that gathers by copy engines need and this PyTorch does not have, None if it has all."""
    import torch
    import torch.distributed as dist

    nccl = getattr(dist, "ProcessGroupNCCL", None)
    needed = (
        (nccl and nccl.Options().config, "cta_policy"), (nccl, "mem_allocator"), (nccl, "register_mem_pool"), (torch.cuda, "MemPool"),
        (torch.cuda, "use_mem_pool"), (torch._C, "_construct_storage_from_data_pointer"),
    )  # fmt: skip
    return next((name for owner, name in needed if owner is not None and not hasattr(owner, name)), None)


def get_layout(node):
    """The layout of the result of a collective, an IR node: what it writes in place has none of its own."""
    from torch._inductor import ir

    return node.layout if isinstance(node.layout, ir.Layout) else node.inputs[0].get_layout()


class Candidates:
    """The collectives of a `SchedulerGraph` that may take a lane of their own."""

    def __init__(self, graph, costs, wanted):
        """`wanted`: None, True for lanes also on CPUs, of small ones, and where nobody has measured copy engines, or the choice of a user."""
        self.graph = graph
        is_forced = wanted is True
        #: What is tried.
        self.choices = ({}, read_choice(wanted)) if isinstance(wanted, dict) else CHOICES
        self._costs = None if is_forced else costs
        self._devices = {"cuda", "cpu"} if is_forced else _DEVICES
        self._least_bytes = 0 if is_forced else _LEAST_BYTES
        #: The name without which gathers have no copy engines, None if they may have them.
        self.missing = None
        #: By place, the kind.
        self.kinds = {}
        for place, record in enumerate(graph.records):
            kind = self._get_kind(record, graph.snodes[place])
            if kind is not None:
                self.kinds[place] = kind
        gathers = [place for place, kind in self.kinds.items() if kind == "all_gather"]
        #: By place of a gather, the buffer names that are its memory.
        self._memory = self._find_memory(gathers) if gathers else {}
        self._drop_escaping()

    def _get_kind(self, record, snode):
        overload = getattr(snode.node, "op_overload", None)
        if record.kind != "start" or record.lane == "unknown group" or overload is None:
            return None
        namespace, _, name = overload._schema.name.partition("::")
        kind = _OPS.get(name) if namespace == "_c10d_functional" else None
        if kind is None or len(snode.node.inputs) != 1:
            return None
        layout = get_layout(snode.node)
        if layout.device.type not in self._devices or not _can_have_lanes(record.lane, layout.device):
            return None
        if not all(getattr(size, "is_Integer", isinstance(size, int)) for size in [*layout.size, *layout.stride]):
            return None
        size = _get_bytes(layout)
        if kind == "all_gather" and size < self._least_bytes:
            return None
        if self._costs is not None and not self._costs.is_measured(record.lane, kind, size, _MEASURED[kind]):
            return None
        if kind == "all_gather" and any(choice.get(kind) == _COPY for choice in self.choices):
            self.missing = self.missing or find_missing()
            return None if self.missing else kind
        return kind

    def get_choices(self):
        """The numbers of those of `choices` that differ for the kinds that there are."""
        kinds, different = set(self.kinds.values()), {}
        for number, choice in enumerate(self.choices):
            different.setdefault(tuple(sorted((kind, choice[kind]) for kind in kinds & choice.keys())), number)
        return list(different.values())

    def _find_memory(self, gathers):
        """By buffer name, the place of the gather whose result it is, or is a view of."""
        graph, result = self.graph, {}
        for place in gathers:
            for name in graph.snodes[place].get_buffer_names():
                result[name] = place
        for snode in graph.snodes:
            for buffer in snode.get_outputs():
                names = {*buffer.get_aliases(), *buffer.get_mutations()}
                for name in graph._find_memory(snode, names):
                    if name in result:
                        result.setdefault(buffer.get_name(), result[name])
        return result

    def _drop_escaping(self):
        """What the caller gets outlives the run, so that it stays in memory of its own."""
        from torch._inductor.virtualized import V

        scheduler = self.graph.snodes[0].scheduler
        for name in V.graph.get_output_names():
            name = scheduler.mutation_real_name.get(name, name)
            self.kinds.pop(self._memory.get(name), None)

    def assign(self, number):
        """Gives the candidates the lanes of the choice of this number."""
        choice = self.choices[number]
        for record in self.graph.records:
            record.choice = None
        for place, kind in self.kinds.items():
            self.graph.records[place].choice = choice.get(kind)

    def describe(self):
        """A line for each kind of collective that has a lane of its own, and for what is missing."""
        import torch

        missing = [f"all_gather has no copy engines: PyTorch {torch.__version__} has no {self.missing}"] if self.missing else []
        chosen = {kind: self.graph.records[place].choice for place, kind in self.kinds.items()}
        return [f"{kind} runs {lane}" for kind, lane in sorted(chosen.items()) if lane is not None] + missing

    def get_lifetimes(self, order):
        """By place of a gather, the first and the last place in `order`, scheduler nodes, where its result lives."""
        graph, lives = self.graph, {}
        position = {snode: number for number, snode in enumerate(order)}
        ends = self._find_ends(position)
        for number, snode in enumerate(order):
            names = {dep.name for dep in snode.read_writes.reads if not getattr(dep, "is_fake", False)}
            names.update(snode.get_buffer_names())
            for name in names:
                place = self._memory.get(graph.snodes[0].scheduler.mutation_real_name.get(name, name))
                if place is None:
                    place = self._memory.get(name)
                if place in self.kinds:
                    first, last = lives.get(place, (number, number))
                    lives[place] = min(first, number), max(last, ends.get(number, number))
        return lives

    def _find_ends(self, position):
        """By position of a start, that of its last wait: until then it may read what it was given."""
        ends = {}
        for place, record in enumerate(self.graph.records):
            for start in record.awaits:
                begin = position[self.graph.snodes[start]]
                ends[begin] = max(ends.get(begin, begin), position[self.graph.snodes[place]])
        return ends


def _can_have_lanes(name, device):
    """Whether a process group has other ranks, and NCCL where its tensors are on GPUs."""
    import torch.distributed as dist
    from torch.distributed import distributed_c10d as c10d

    if len(_groups.get_group_ranks(name)) < 2:
        return False
    if device.type == "cpu":
        return True
    nccl = getattr(dist, "ProcessGroupNCCL", None)
    return nccl is not None and isinstance(c10d._resolve_process_group(name)._get_backend(device), nccl)


def _get_bytes(layout):
    size = 1
    for extent in layout.size:
        size *= int(extent)
    return size * layout.dtype.itemsize
