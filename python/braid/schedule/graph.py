# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs: what may be reordered."""

import heapq
import math
from array import array
from operator import attrgetter

from .. import _native
from ..errors import CycleError, ScheduleError

_KINDS = {"compute": _native.COMPUTE, "start": _native.START, "wait": _native.WAIT, "opaque": _native.OPAQUE}
_LINKS = {None: -1, "own": -1, "intra-node": 0, "inter-node": 1, "spine": 2}
# Sums of this many must not overflow 64 bits.
_MOST = 1 << 61


def _amount(value, what, name):
    """A cost or a number of bytes, rounded to a whole one."""
    if type(value) is int:
        result = value
    elif isinstance(value, (bool, str)) or value is None:
        raise ScheduleError(f"{name}: found {what} {value!r}, expected a number")
    else:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ScheduleError(f"{name}: found {what} {value!r}, expected a number") from None
        if not math.isfinite(number):
            raise ScheduleError(f"{name}: found {what} {value!r}, expected a finite number")
        # What takes time takes at least one.
        result = max(1, round(number)) if number > 0 else math.floor(number)
    if result < 0:
        raise ScheduleError(f"{name}: found {what} {value!r}, expected at least 0")
    if result > _MOST:
        raise ScheduleError(f"{name}: found {what} {value!r}, expected at most 2^61")
    return result


class Node:
    """One node of a graph; what `Graph`'s methods return."""

    __slots__ = ("graph", "index", "name", "kind", "cost", "lane", "bytes", "awaits", "output", "demand")

    def __init__(self, graph, index, name, kind, cost, lane, size, awaits, output, demand):
        self.graph = graph
        #: Its place in the sequence in which nodes were added.
        self.index = index
        self.name = name
        #: "compute", "start", "wait" or "opaque".
        self.kind = kind
        #: Nanoseconds, of a start those of its operation.
        self.cost = cost
        self.lane = lane
        self.bytes = size
        self.awaits = awaits
        self.output = output
        self.demand = demand

    def __repr__(self):
        return f"<{self.kind} {self.name}>"


class Graph:
    """Compute, starts, waits and what orders them.

    Nodes are added in program order, which is the order that schedules are compared with.

    Parameters
    ----------
    live_bytes : int
        Bytes that live throughout: weights, arguments.
    """

    def __init__(self, live_bytes=0):
        self.nodes = []
        self.live_bytes = _amount(live_bytes, "live_bytes", "graph")
        self._edges = array("q")
        # By node, the nodes that read what it computes.
        self._readers = []
        self._lanes = {}
        self._buffers = []
        self._transients = {}
        self._has_demands = False
        # Some edge does not lead to a node that was added later.
        self._leads_back = False

    def __len__(self):
        return len(self.nodes)

    def __repr__(self):
        return f"<Graph of {len(self.nodes)} nodes, {len(self._edges) // 2} edges>"

    def compute(self, name, cost, *, bytes=0, after=(), order_after=(), awaits=(), output=False, demand=None):
        """Adds work of the compute stream.

        Parameters
        ----------
        name : str
        cost : int or float
            Nanoseconds that it takes alone.
        bytes : int
            Size of what it computes, which lives until the last node that reads it.
        after : iterable of Node
            Nodes whose results it reads.
        order_after : iterable of Node
            Nodes that it only has to stay after.
        awaits : iterable of Node
            Starts that it awaits inside of itself.
        output : bool
            What it computes outlives the graph.
        demand : dict, optional
            What it takes of a machine that is shared: ``arithmetic_ns``, ``tiles``, ``memory_bytes`` and
            ``blocks``, the multiprocessors that its kernel holds until it ends, -1 for all
            (`Machine.matmul`); of a start ``memory_bytes``, ``link_bytes``, ``multiprocessors``,
            ``blocks``, those of a cluster, and ``one_way``, true if its data moves in one direction
            (`Machine.collective`).

        Returns
        -------
        Node

        Raises
        ------
        ScheduleError
            A cost or a size that is negative, NaN or infinite, or a node of another graph.
        """
        return self._add("compute", name, cost, None, bytes, after, order_after, awaits, output, demand)

    def opaque(self, name, cost=0, *, bytes=0, after=(), order_after=(), awaits=(), output=False, demand=None):
        """Adds work with unknown effects, which is never moved to fill a gap."""
        return self._add("opaque", name, cost, None, bytes, after, order_after, awaits, output, demand)

    def start(
        self, name, cost, *, lane="lane", link=None, bytes=0, after=(), order_after=(), output=False, demand=None
    ):
        """Adds the start of an operation that runs beside the compute stream.

        Parameters
        ----------
        cost : int or float
            Nanoseconds of the operation.
        lane : str
            What orders it: operations of one lane (a communicator) run one after the other.
        link : {None, "own", "intra-node", "inter-node", "spine"}
            The link that the operations of the lane share with others on a machine that is shared
            (`CollectiveTime.link`).

        The other parameters are those of `compute`.
        """
        if not isinstance(lane, str):
            raise ScheduleError(f"{name}: found the lane {lane!r}, expected a name")
        _native.encode(lane, "the lane", f"{name}: ")
        if not (link is None or isinstance(link, str)) or link not in _LINKS:
            raise ScheduleError(
                f"{name}: found the link {link!r}, expected one of: {' '.join(filter(None, _LINKS))}"
            )
        known = self._lanes.setdefault(lane, _LINKS[link])
        if link is not None and known != _LINKS[link]:
            raise ScheduleError(f"{name}: found the link {link!r}, but lane {lane!r} has another one already")
        return self._add("start", name, cost, lane, bytes, after, order_after, (), output, demand)

    def wait(self, name, start, *, after=(), order_after=(), output=False):
        """Adds a wait, which holds the stream until the operation of `start`, a node or several, has ended."""
        awaits = [start] if isinstance(start, Node) else list(start)
        return self._add("wait", name, 0, None, 0, after, order_after, awaits, output, None)

    def order(self, before, after):
        """Keeps the node `after` after the node `before`."""
        edge = self._own(before, "order"), self._own(after, "order")
        self._edges.extend(edge)
        self._leads_back |= edge[0] >= edge[1]

    def buffer(self, bytes, users, *, escapes=False):
        """Adds memory that lives from the first to the last of its users in an order.

        Nodes' own ``bytes`` are buffers already; this is for memory that several nodes use in place.
        """
        users = sorted({self._own(user, "buffer") for user in users})
        if not users:
            raise ScheduleError("buffer: found no users, expected at least one")
        self._buffers.append((_amount(bytes, "bytes", "buffer"), users, bool(escapes)))

    def transient(self, node, bytes):
        """Adds memory that lives while `node` runs."""
        index = self._own(node, "transient")
        self._transients[index] = self._transients.get(index, 0) + _amount(bytes, "bytes", self.nodes[index].name)

    @classmethod
    def from_networkx(cls, digraph, *, live_bytes=0):
        """A graph for a ``networkx.DiGraph``.

        Nodes have the attributes ``kind`` ("compute" unless given), ``cost`` (ns; waits need none), and
        the parameters of the method of that kind, where ``awaits`` names a node or several (of a wait: the
        starts before it, unless given). An edge with ``order_only=True`` carries no data. The nodes' sequence is
        the program order, as far as the edges allow it.

        Raises
        ------
        CycleError
            The edges form a cycle, which the message names.
        ScheduleError
            The graph is undirected or has parallel edges, or an attribute is invalid.
        """
        if not getattr(digraph, "is_directed", lambda: False)():
            raise ScheduleError(f"found {digraph!r}, expected a directed graph")
        if getattr(digraph, "is_multigraph", lambda: False)():
            raise ScheduleError(f"found {digraph!r}, expected a graph without parallel edges")
        keys = list(digraph.nodes)
        number = {key: index for index, key in enumerate(keys)}
        edges = [(number[a], number[b]) for a, b in digraph.edges]
        order = _sort([str(key) for key in keys], edges)
        graph = cls(live_bytes)
        nodes = {}
        for index in order:
            key = keys[index]
            attributes = dict(digraph.nodes[key])
            kind = attributes.pop("kind", "compute")
            name = str(attributes.pop("name", key))
            if not isinstance(kind, str) or kind not in _KINDS:
                raise ScheduleError(f"{name}: found the kind {kind!r}, expected one of: {' '.join(_KINDS)}")
            after, order_after = [], []
            for before in digraph.predecessors(key):
                only = digraph.edges[before, key].get("order_only", False)
                (order_after if only else after).append(nodes[before])
            awaits = attributes.pop("awaits", None)
            if awaits is None:
                awaits = [node for node in after if kind == "wait" and node.kind == "start"]
            else:
                awaits = _get_keys(awaits, number, name)
                for start in awaits:
                    if not _has(nodes, start):
                        raise ScheduleError(f"{name}: found that it awaits {start!r}, expected a node before it")
                awaits = [nodes[start] for start in awaits]
            if kind == "wait":
                attributes.pop("cost", None)
                attributes["start"] = awaits
            elif kind in ("compute", "opaque"):
                attributes["awaits"] = awaits
            if kind != "wait" and "cost" not in attributes:
                raise ScheduleError(f"{name}: found no cost, expected nanoseconds")
            try:
                nodes[key] = getattr(graph, kind)(name, after=after, order_after=order_after, **attributes)
            except TypeError as error:
                raise ScheduleError(f"{name}: found attributes that a {kind} does not have: {error}") from None
        return graph

    def _own(self, node, name):
        if not isinstance(node, Node) or node.graph is not self:
            raise ScheduleError(f"{name}: found {node!r}, expected a node of this graph")
        return node.index

    def _add(self, kind, name, cost, lane, size, after, order_after, awaits, output, demand):
        name = str(name)
        _native.encode(name, "the name")
        index = len(self.nodes)
        cost = _amount(cost, "cost", name)
        size = _amount(size, "bytes", name)
        if isinstance(after, Node):
            after = (after,)
        if isinstance(order_after, Node):
            order_after = (order_after,)
        before = [self._own(node, name) for node in after]
        ordered = [self._own(node, name) for node in order_after]
        awaited = tuple(self._own(node, name) for node in awaits)
        for start in awaited:
            if self.nodes[start].kind != "start":
                raise ScheduleError(f"{name}: found that it awaits {self.nodes[start]!r}, expected a start")
        if kind == "wait" and not awaited:
            raise ScheduleError(f"{name}: found a wait for nothing, expected a start")
        if demand is not None:
            demand = self._check_demand(demand, name)
            self._has_demands = True
        node = Node(self, index, name, kind, cost, lane, size, awaited, bool(output), demand)
        edges = self._edges
        for other in before:
            edges.append(other)
            edges.append(index)
            self._readers[other].append(index)
        for other in ordered:
            edges.append(other)
            edges.append(index)
        for start in awaited:
            if start not in before:
                edges.append(start)
                edges.append(index)
                self._readers[start].append(index)
        self._readers.append([])
        self.nodes.append(node)
        return node

    @staticmethod
    def _check_demand(demand, name):
        fields = ("arithmetic_ns", "tiles", "memory_bytes", "link_bytes", "multiprocessors", "blocks", "one_way")
        if not isinstance(demand, dict):
            # What `Machine.collective` or `Machine.matmul` says.
            found = {field: getattr(demand, field) for field in fields if hasattr(demand, field)}
            if not found:
                raise ScheduleError(
                    f"{name}: found the demand {demand!r}, expected a dict, or what Machine.collective or "
                    "Machine.matmul returns"
                )
            demand = found
        for field in demand:
            if field not in fields:
                raise ScheduleError(f"{name}: found the demand {field!r}, expected one of: {' '.join(fields)}")
        blocks = demand.get("blocks", 0)
        if blocks != -1:
            blocks = _amount(blocks, "blocks", name)
        one_way = demand.get("one_way", False)
        if not isinstance(one_way, bool):
            raise ScheduleError(f"{name}: found one_way {one_way!r}, expected True or False")
        return (*(_amount(demand.get(field, 0), field, name) for field in fields[:-2]), blocks, one_way)

    def _program_order(self):
        """The nodes in an order that all edges follow: the order in which they were added if that is one."""
        if not self._leads_back:
            return None
        edges = self._edges
        pairs = list(zip(edges[::2], edges[1::2]))
        return _sort([node.name for node in self.nodes], pairs)

    def _get_buffers(self):
        """All memory: arrays of bytes, of where the users of each begin, of users, of what escapes."""
        nodes, readers_of = self.nodes, self._readers
        # Lists while they grow: arrays box each number twice.
        sizes, begin, users, escapes = [], [0], [], []
        for size, of_buffer, escapes_graph in self._buffers:
            sizes.append(size)
            users += of_buffer
            begin.append(len(users))
            escapes.append(escapes_graph)
        # By node, whether readers behind it count as well: a wait or a start.
        passes_on = bytes(map({"wait", "start"}.__contains__, map(attrgetter("kind"), nodes)))
        for index, (node, readers) in enumerate(zip(nodes, readers_of)):
            size = node.bytes
            if not size:
                continue
            users.append(index)
            users += readers
            output = node.output
            for reader in readers:
                if not passes_on[reader]:
                    continue
                other = nodes[reader]
                if other.kind == "start":
                    # The operation reads its operand until it has ended.
                    users += [waiter for waiter in readers_of[reader] if reader in nodes[waiter].awaits]
                elif index in other.awaits:
                    # What the operation has brought is read behind the wait.
                    users += readers_of[reader]
                    output |= other.output
            sizes.append(size)
            begin.append(len(users))
            escapes.append(output)
        return array("q", sizes), array("q", begin), array("q", users), array("B", escapes)


def _get_keys(awaits, number, name):
    """The keys of a digraph that the attribute `awaits` has: one, or several."""
    if isinstance(awaits, str) or _has(number, awaits):
        return [awaits]
    try:
        keys = list(awaits)
    except TypeError:
        raise ScheduleError(f"{name}: found awaits={awaits!r}, expected a node or several") from None
    # A set of texts has another sequence in each process.
    return sorted(keys, key=lambda key: number.get(key, -1)) if isinstance(awaits, (set, frozenset)) else keys


def _has(keys, key):
    """Whether a dict has a key; lists and sets are none."""
    try:
        return key in keys
    except TypeError:
        return False


def _sort(names, edges):
    """A topological order that keeps the nodes' sequence where it can."""
    count = len(names)
    successors = [[] for _ in range(count)]
    missing = [0] * count
    for before, after in edges:
        if before == after:
            raise CycleError(f"found that {names[before]} has to stay after itself, expected no cycle")
        successors[before].append(after)
        missing[after] += 1
    ready = [index for index in range(count) if not missing[index]]
    heapq.heapify(ready)
    order = []
    while ready:
        index = heapq.heappop(ready)
        order.append(index)
        for after in successors[index]:
            missing[after] -= 1
            if not missing[after]:
                heapq.heappush(ready, after)
    if len(order) == count:
        return order
    raise CycleError(f"found the cycle {_find_cycle(names, edges, set(order))}, expected none")


def _find_cycle(names, edges, done):
    before = {}
    for source, target in edges:
        if source not in done and target not in done:
            before[target] = source
    node = next(iter(before))
    place = {}
    while node not in place:
        place[node] = len(place)
        node = before[node]
    cycle = list(place)[place[node] :][::-1]
    shown = [names[index] for index in cycle[:20]]
    if len(cycle) > 20:
        shown.append("...")
    return " -> ".join(shown + [shown[0]])
