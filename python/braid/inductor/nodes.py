# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inductor's scheduler nodes as a graph.

Node 0 of the graph stands for the beginning, from where inputs that can be freed live; the
scheduler node at place i of Inductor's order is node i + 1.
"""

from collections import defaultdict

from .. import _torch_ops
from .._torch import KeepOrder
from ..schedule import Graph


class Record:
    """What the graph has to know of one scheduler node."""

    __slots__ = ("name", "kind", "lane", "choice", "before", "sequence", "dropped", "awaits")

    def __init__(self, name, kind):
        self.name = name
        self.kind = kind
        self.lane = None
        #: The `Lane` that it takes instead of that of its process group.
        self.choice = None
        #: Places of the nodes that it has to stay after; of the collective before it, whose order counts for
        #: nothing but itself; of the starts that it awaits.
        self.before = set()
        self.sequence = set()
        #: The dependences of Inductor that only keep collectives in order.
        self.dropped = []
        self.awaits = []


def get_kinds(snodes):
    """What scheduler nodes are: "start", "wait", "compute", or "effect" that nothing which communicates may pass."""
    from torch._inductor import ir
    from torch._inductor.scheduler import GroupedSchedulerNode
    from torch._inductor.utils import contains_collective, contains_wait

    # Ops whose regions may have collectives.
    regions = tuple(
        getattr(ir, name) for name in ("Conditional", "WhileLoop", "InvokeSubgraph") if hasattr(ir, name)
    )

    def get_kind(snode):
        if isinstance(snode, GroupedSchedulerNode):
            # Its nodes stay together, whatever they are.
            inside = contains_collective(snode) or contains_wait(snode)
            return "effect" if inside else "compute"
        if contains_collective(snode):
            overload = getattr(snode.node, "op_overload", None)
            # Sends and receives, whose partners run other graphs, and `shard_dim_alltoall`, which Inductor takes as
            # synchronous.
            is_own = _torch_ops.get_name(overload)[0] in ("_c10d_functional", "_dtensor")
            return "effect" if is_own and not _torch_ops.is_collective(overload) else "start"
        if contains_wait(snode):
            return "wait"
        if isinstance(snode.node, regions) or any(_has_effect(inner) for inner in snode.get_nodes()):
            return "effect"
        return "compute"

    return [get_kind(snode) for snode in snodes]


def _has_effect(snode):
    """True if a node, none of fused ones, does more than to compute and to write what its dependences say."""
    import torch

    if _is_check(snode):
        return False
    overload = getattr(snode.node, "op_overload", None)
    if isinstance(overload, (torch._ops.OpOverload, torch._ops.HigherOrderOperator)):
        return _torch_ops.has_effect(overload)
    return snode.has_side_effects()


def get_origin(node):
    """The node of the FX graph that an IR node computes; None if it is not one alone.

    Inductor does not say so for kernels with several results, such as attention, and calls a matmul the collective that adds up its result
    in place: there it is the one node that calls the same op.
    """
    origin = node.get_origin_node()
    overload = getattr(node, "op_overload", None)
    if overload is None or _calls(origin, overload):
        return origin
    found = [each for each in node.get_origins() if _calls(each, overload)]
    return found[0] if len(found) == 1 else origin


def _calls(origin, overload):
    """Whether a node of the FX graph calls an op by any of its overloads: `aten.mm.out` computes `aten.mm.default`."""
    return getattr(getattr(origin, "target", None), "overloadpacket", None) is overload.overloadpacket


def _is_check(snode):
    """True for a check of a size that comes from data."""
    from torch._inductor import ir

    return isinstance(snode.node, ir.AssertScalar)


def _may_draw(snode):
    """True if a node, none of fused ones, may take numbers from a random generator."""
    overload = getattr(snode.node, "op_overload", None)
    if overload is None:
        return False
    origin = get_origin(snode.node)
    if origin is not None and origin.target is overload:
        # Its operands say whether it draws.
        return _torch_ops.get_behaviour(origin).draws
    return _torch_ops.may_draw(overload) or origin is not None and _torch_ops.get_behaviour(origin).draws


def _returns_operand(graph):
    """Whether a result of a lowered region is an operand or a view of one."""
    from torch._inductor import ir

    for result in graph.graph_outputs if graph else ():
        while isinstance(result, (ir.BaseView, ir.MutableBox)):
            result = result.unwrap_view() if isinstance(result, ir.BaseView) else result.data
        if isinstance(result, ir.Buffer) and result.get_name() in graph.graph_inputs:
            return True
    return False


class SchedulerGraph:
    """Reads scheduler nodes. Raises `KeepOrder` for what it does not know."""

    def __init__(self, snodes):
        self.snodes = snodes
        self._find_producers()
        self.records = [Record(snode.get_name(), kind) for snode, kind in zip(snodes, get_kinds(snodes))]
        self.has_collectives = any(record.kind == "start" for record in self.records)
        if not self.has_collectives:
            return
        self._check_streams()
        self._check_regions()
        from torch._inductor.dependencies import WeakDep

        for place, snode in enumerate(snodes):
            self._read_dependences(place, snode, WeakDep)
        starts = [place for place, record in enumerate(self.records) if record.kind == "start"]
        for first, second in zip(starts, starts[1:]):
            self.records[second].sequence.add(first)
        self._order_side_effects()
        self._order_writes()
        self._order_random()
        self._order_checks()
        self._read_memory()

    def _find_producers(self):
        self.producer = {}
        for place, snode in enumerate(self.snodes):
            for name in snode.get_buffer_names():
                self.producer[name] = place

    def _check_streams(self):
        scheduler = getattr(self.snodes[0], "scheduler", None)
        if getattr(scheduler, "_multi_stream_nodes", False):
            raise KeepOrder("found nodes on streams that the program names, expected one stream")

    def _check_regions(self):
        """Inductor reuses a buffer whose last reader it has seen, and takes results of nested regions for new ones: those that are operands
        would be overwritten in another order."""
        for snode in self.snodes:
            for region in getattr(snode.node, "get_subgraphs", list)():
                if _returns_operand(region.graph):
                    raise KeepOrder(f"{snode.get_name()}: found a nested region with an operand among its results, for whose memory "
                                    "Inductor knows one reader too few")  # fmt: skip

    def _read_dependences(self, place, snode, weak_type):
        record = self.records[place]
        for dep in snode.unmet_dependencies:
            producer = self.producer.get(dep.name)
            if producer is None:
                raise KeepOrder(f"{record.name}: found a dependence on {dep.name}, which no node computes")
            if producer == place:
                continue
            is_weak = isinstance(dep, weak_type)
            if is_weak and getattr(dep, "is_fake", False) and self._only_orders(record, place, producer):
                record.dropped.append(dep)
                continue
            if producer > place:
                raise KeepOrder(f"{record.name}: found a dependence on {dep.name}, which is computed behind it")
            record.before.add(producer)
            if record.kind == "wait" and not is_weak:
                record.awaits.extend(self._find_starts(producer))
        if record.kind == "wait":
            record.awaits = sorted(set(record.awaits))
            if not record.awaits:
                # Of an operation that was started elsewhere: it may take any time.
                record.kind = "effect"
        if record.kind == "start":
            record.lane = self.get_group(snode)

    def _only_orders(self, record, place, producer):
        """Whether a dependence that carries no data only keeps two collectives in order.

        Inductor has each collective depend on what the one before has written, which names its wait where that comes
        first. What writes in place has the same kind of dependence on those that read before.
        """
        kind = self.records[producer].kind
        if record.kind != "start" or kind not in ("start", "wait"):
            return False
        return not self._overwrites(self.snodes[place], self.snodes[producer])

    def _overwrites(self, snode, reader):
        """Whether `snode` writes in place what `reader` reads."""
        written = self._get_written(snode)
        return bool(written) and not self._find_memory(snode, written).isdisjoint(self._find_memory(snode, self._get_read(reader)))

    @staticmethod
    def _get_written(snode):
        """The names of the buffers that it writes in place."""
        return {name for buffer in snode.get_outputs() for name in buffer.get_mutations()}

    @staticmethod
    def _get_read(snode):
        return {dep.name for dep in snode.read_writes.reads if not getattr(dep, "is_fake", False)}

    @staticmethod
    def _find_memory(snode, names):
        """The buffers whose memory the buffers of these names are, or are views of."""
        scheduler, found, left = snode.scheduler, set(), list(names)
        while left:
            name = left.pop()
            if name in found:
                continue
            found.add(name)
            if name in scheduler.mutation_real_name:
                left.append(scheduler.mutation_real_name[name])
            if name in scheduler.name_to_buf:
                left.extend(scheduler.name_to_buf[name].get_aliases())
        return found

    def _find_starts(self, producer):
        """The starts that a wait for what `producer` computes awaits: itself, or behind parts of its result."""
        from torch._inductor import ir

        record = self.records[producer]
        if record.kind == "start":
            return [producer]
        if isinstance(self.snodes[producer].node, ir.MultiOutput):
            return [start for before in record.before for start in self._find_starts(before)]
        return []

    @staticmethod
    def get_group(snode):
        """The name of the process group of a collective; those of torchrec have none that can be seen."""
        arguments = getattr(snode.node, "constant_args", None) or ()
        names = [argument for argument in arguments[-1:] if isinstance(argument, str)]
        return names[0] if names else "unknown group"

    def _order_side_effects(self):
        """Keeps collectives and waits from passing an op with unknown effects: peers may be waiting in it."""
        last_effect, since = None, []
        for place, record in enumerate(self.records):
            if record.kind == "compute":
                continue
            if last_effect is not None:
                record.before.add(last_effect)
            if record.kind == "effect":
                record.before.update(since)
                last_effect, since = place, []
            else:
                since.append(place)

    def _order_writes(self):
        """Keeps what writes memory in place in order with all that reads or writes it.

        Inductor does so for accesses by one name. It misses those by other views where an op makes views, as ops without kernels do.
        """
        if not any(buffer.get_mutations() for snode in self.snodes for buffer in snode.get_outputs()):
            return
        writer, readers = {}, defaultdict(list)
        for place, (snode, record) in enumerate(zip(self.snodes, self.records)):
            # A wait only completes what its start writes, and parts of one result have waits of their own.
            if record.kind == "wait":
                continue
            written, read = (self._find_memory(snode, find(snode)) for find in (self._get_written, self._get_read))
            for name in written | read:
                if name in writer:
                    record.before.add(writer[name])
            for name in written:
                record.before.update(readers.pop(name, ()))
                writer[name] = place
            for name in read - written:
                readers[name].append(place)

    def _order_random(self):
        """Ops that may draw random numbers stay in order."""
        last = None
        for place, snode in enumerate(self.snodes):
            if any(_may_draw(inner) for inner in snode.get_nodes()):
                if last is not None:
                    self.records[place].before.add(last)
                last = place

    def _order_checks(self):
        """Keeps checks of a size that comes from data before the users of the size."""
        checked = {}
        if not any(_is_check(inner) for snode in self.snodes for inner in snode.get_nodes()):
            return
        for place, snode in enumerate(self.snodes):
            used, is_check = set(), False
            for inner in snode.get_nodes():
                is_check |= _is_check(inner)
                if inner.node is not None:
                    used.update(inner.node.get_free_symbol_uses(unbacked_only=True))
            for symbol in used:
                if is_check:
                    checked.setdefault(symbol, []).append(place)
                else:
                    self.records[place].before.update(checked.get(symbol, ()))

    def _read_memory(self):
        """(bytes, users, escapes) of all buffers, as Inductor's `compute_memory_timeline` counts them."""
        from torch._inductor.memory import get_freeable_input_buf
        from torch._inductor.virtualized import V
        from torch.utils._ordered_set import OrderedSet

        place_of = {snode: place for place, snode in enumerate(self.snodes)}
        outputs = set(V.graph.get_output_names())
        self.buffers = []
        inputs = get_freeable_input_buf(self.snodes, OrderedSet(V.graph.graph_inputs.keys()))
        for name, buffer in inputs.items():
            users = [place_of[user] + 1 for user in buffer.mpi_buffer.succ_nodes if user in place_of]
            self._add_buffer(buffer.mpi_buffer.size_free, [0, *users], name in outputs)
        for place, snode in enumerate(self.snodes):
            for buffer in snode.get_outputs():
                planned = buffer.mpi_buffer
                users = [place_of[user] + 1 for user in planned.succ_nodes if user in place_of]
                if planned.size_free and not planned.size_alloc:
                    # A part of a result, which was allocated with the whole.
                    users.extend(before + 1 for before in self.records[place].before)
                self._add_buffer(planned.size_free, [place + 1, *users], buffer.get_name() in outputs)

    def _add_buffer(self, size, users, escapes):
        if size > 0:
            self.buffers.append((int(size), users, escapes))

    def count_eager_collectives(self):
        """The collectives that Inductor has for calls of any op."""
        return sum(_torch_ops.is_collective(getattr(snode.node, "op_overload", None)) for snode in self.snodes)

    def build(self, costs, keep_order):
        """The `Graph`, where `costs` has (ns, demand, link) of each node.

        `keep_order`: collectives keep their order, over all process groups.
        """
        graph = Graph()
        nodes = [graph.compute("beginning", 0)]
        for record, (cost, demand, link) in zip(self.records, costs):
            places = record.before | record.sequence if keep_order else record.before
            before = [nodes[place + 1] for place in sorted(places)] or [nodes[0]]
            if record.kind == "start":
                lane = record.lane if record.choice is None else f"{record.lane} {record.choice}"
                added = graph.start(record.name, cost, lane=lane, link=link, order_after=before, demand=demand)
            elif record.kind == "wait":
                added = graph.wait(record.name, [nodes[place + 1] for place in record.awaits], order_after=before)
            elif record.kind == "effect":
                added = graph.opaque(record.name, cost, order_after=before, demand=demand)
            else:
                added = graph.compute(record.name, cost, order_after=before, demand=demand)
            nodes.append(added)
        for size, users, escapes in self.buffers:
            graph.buffer(size, [nodes[user] for user in users], escapes=escapes)
        return graph
