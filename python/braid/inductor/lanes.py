# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which lane each collective of a graph takes, chosen by what the whole graph takes, and the plan of it in the generated code.

A lane is a process group that the first run makes beside one of the program's (`braid._lanes`). Gathers go by copy engines, which take
no multiprocessors from compute; their results stand in registered memory. Reductions have few thread blocks.
"""

import hashlib
import json
from typing import NamedTuple

from .. import _torch
from .._agreement import number_groups


class Lane(NamedTuple):
    transport: str = "default"
    max_ctas: int = 0

    def __str__(self):
        limit = f" with at most {self.max_ctas} thread blocks" if self.max_ctas else ""
        return "by copy engines" if self.transport == "copy" else f"in a lane of its own{limit}"


_COPY = Lane("copy")

#: What is tried for a graph, by kind of collective; the program's own lanes are tried first.
CHOICES = (
    {"all_gather": _COPY},
    {"all_gather": _COPY, "reduce_scatter": Lane()},
    {"all_gather": _COPY, "reduce_scatter": Lane(max_ctas=16)},
    {"all_gather": _COPY, "reduce_scatter": Lane(max_ctas=8)},
)

#: The fewest bytes of a result for which a gather takes copy engines: below, their start takes longer than a kernel.
_LEAST_BYTES = 1 << 20

#: The lane whose time a profile has to have for collectives of a kind to leave the program's.
_MEASURED = {"all_gather": _COPY, "reduce_scatter": Lane()}

#: Where lanes may gain something.
_DEVICES = {"cuda"}

_OPS = {"all_gather_into_tensor": "all_gather", "reduce_scatter_tensor": "reduce_scatter"}


class Candidates:
    """The collectives of a `SchedulerGraph` that may take a lane of their own."""

    def __init__(self, graph, costs, is_forced):
        """`is_forced`: also on CPUs, small ones, and where nobody has measured copy engines."""
        self.graph = graph
        #: The `braid.schedule.Graph` with all collectives in the program's lanes.
        self.as_it_came = None
        self._costs = None if is_forced else costs
        self._devices = {"cuda", "cpu"} if is_forced else _DEVICES
        self._least_bytes = 0 if is_forced else _LEAST_BYTES
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
        layout = snode.node.layout
        if layout.device.type not in self._devices or not _can_have_lanes(record.lane, layout.device):
            return None
        sizes = [*layout.size, *layout.stride]
        if not all(getattr(size, "is_Integer", isinstance(size, int)) for size in sizes):
            return None
        if kind == "all_gather" and _get_bytes(layout) < self._least_bytes:
            return None
        if self._costs is not None and not self._costs.is_measured(record.lane, kind, _get_bytes(layout), _MEASURED[kind]):
            return None
        return kind

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

    def assign(self, choice):
        """Gives the candidates the lanes of `choice`, one of `CHOICES` or an empty one."""
        for record in self.graph.records:
            record.choice = None
        for place, kind in self.kinds.items():
            self.graph.records[place].choice = choice.get(kind)

    def describe(self):
        """A line for each kind of collective that has a lane of its own."""
        chosen = {kind: self.graph.records[place].choice for place, kind in self.kinds.items()}
        return [f"{kind} runs {lane}" for kind, lane in sorted(chosen.items()) if lane is not None]

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

    if len(_torch.get_group_ranks(name)) < 2:
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


class Plan:
    """What the generated code of a graph has to know of its lanes."""

    def __init__(self, candidates):
        graph = candidates.graph
        chosen = [place for place in sorted(candidates.kinds) if graph.records[place].choice is not None]
        self.groups, numbers = number_groups(graph.records[place].lane for place in chosen)
        self._candidates, self._scheduler = candidates, graph.snodes[0].scheduler
        self._places, self.snodes, self.planned = chosen, [], []
        self.device = graph.snodes[chosen[0]].node.layout.device.type
        for place, number in zip(chosen, numbers):
            snode, lane = graph.snodes[place], graph.records[place].choice
            node = snode.node
            entry = {
                "op": node.op_overload._schema.name.partition("::")[2],
                "group": number,
                "transport": lane.transport,
                "max_ctas": lane.max_ctas,
            }
            if lane.transport == "copy":
                entry["shape"] = [int(size) for size in node.layout.size]
                entry["dtype"] = str(node.layout.dtype).removeprefix("torch.")
            self.snodes.append(snode)
            self.planned.append(entry)

    def to_text(self):
        """The plan as the generated code has it, with the lifetimes of results: of the order that all passes have left."""
        lives = self._candidates.get_lifetimes(self._scheduler.nodes)
        for place, entry in zip(self._places, self.planned):
            if entry["transport"] == "copy":
                entry["first"], entry["last"] = lives[place]
        return self._dump()

    def _dump(self):
        return json.dumps({"device": self.device, "groups": self.groups, "planned": self.planned})

    def write(self):
        """Has the generated code run the collectives in their lanes."""
        from torch._inductor.utils import DelayReplaceLine
        from torch._inductor.virtualized import V

        wrapper = V.graph.wrapper_code
        while getattr(wrapper, "parent_wrapper", None) is not None:
            wrapper = wrapper.parent_wrapper
        name = f"braid_lanes_{hashlib.sha256(self._dump().encode()).hexdigest()[:16]}"
        wrapper.header.writeline("from braid._lanes import Lanes as BraidLanes")
        # Passes behind this one may change the order.
        wrapper.header.writeline(DelayReplaceLine("PLAN", lambda: repr(self.to_text()), f"{name} = BraidLanes(PLAN)"))
        wrapper.lines.insert(0, f"{name}.begin()")
        for number, (snode, entry) in enumerate(zip(self.snodes, self.planned)):
            snode.node.python_kernel_name = f"{name}[{number}]"
            if entry["transport"] == "copy":
                # The memory is another's after the last reader.
                V.graph.never_reuse_buffers.update(snode.get_buffer_names())


def can_write():
    """Whether the code of the graph that is being compiled can run collectives in lanes."""
    from torch._inductor.virtualized import V

    graph = V.graph
    if getattr(graph, "wrapper_code", None) is None or not hasattr(graph, "never_reuse_buffers"):
        return False
    return not (graph.aot_mode or graph.cpp_wrapper or getattr(graph, "fx_wrapper", False))
