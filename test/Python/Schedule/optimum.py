# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The search beside CP-SAT, the constraint solver of OR-Tools, on random graphs of the textbook machine.

    optimum.py [--sizes=10,14,20] [--graphs=2] [--seed=0] [--work=1]

Graphs are random ones and, every second, chains that orders interleave. For each size, and for graphs without a limit,
with one on memory, with one on operations in flight and with the program's order of starts, the oracle says between
which makespans the optimum lies. No bound of Braid's may be above it, no makespan below it, an order that Braid calls
optimal has to be the optimum, and each order has to be legal, with the makespan that Braid says. The last line says how
far from the optimum the search ends."""

# REQUIRES: ortools
# RUN: %ortools_python %s

import argparse
import dataclasses
import random
import sys
from dataclasses import dataclass, field

from braid import schedule
from braid.schedule.problem import Problem
from ortools.sat.python import cp_model


@dataclass
class Instance:
    """A problem, in the words of the simulator and not in those of Braid's code."""

    #: By node: "compute", "start" or "wait"; nanoseconds; the lane of a start.
    kinds: list = field(default_factory=list)
    costs: list = field(default_factory=list)
    lanes: list = field(default_factory=list)
    #: By node, the starts that it awaits.
    awaits: list = field(default_factory=list)
    #: Pairs of nodes that keep this order.
    edges: list = field(default_factory=list)
    #: (bytes, users, whether it lives to the end), and by node what lives while it runs.
    buffers: list = field(default_factory=list)
    transients: dict = field(default_factory=dict)
    live_bytes: int = 0
    max_memory: int = None
    max_in_flight: int = None
    keep_order: bool = False

    def add(self, kind, cost=0, lane=None, awaits=(), after=()):
        node = len(self.kinds)
        self.kinds.append(kind)
        self.costs.append(cost)
        self.lanes.append(lane)
        self.awaits.append(tuple(awaits))
        self.edges += [(before, node) for before in sorted({*awaits, *after})]
        return node

    @property
    def starts(self):
        return [node for node, kind in enumerate(self.kinds) if kind == "start"]

    @property
    def limits(self):
        return {"max_memory": self.max_memory, "max_in_flight": self.max_in_flight, "keep_order": self.keep_order}

    def to_graph(self):
        graph = schedule.Graph(live_bytes=self.live_bytes)
        nodes = []
        for index, kind in enumerate(self.kinds):
            awaits = [nodes[start] for start in self.awaits[index]]
            before = [nodes[a] for a, b in self.edges if b == index]
            if kind == "start":
                made = graph.start(f"s{index}", self.costs[index], lane=self.lanes[index], order_after=before)
            elif kind == "wait":
                made = graph.wait(f"w{index}", awaits, order_after=before)
            else:
                made = graph.compute(f"c{index}", self.costs[index], awaits=awaits, order_after=before)
            nodes.append(made)
        for size, users, escapes in self.buffers:
            graph.buffer(size, [nodes[user] for user in users], escapes=escapes)
        for node, size in self.transients.items():
            graph.transient(nodes[node], size)
        return graph


def make_instance(rng, size):
    """A random graph of `size` nodes."""
    instance = Instance(live_bytes=rng.choice([0, 100]))
    lanes = [f"lane {number}" for number in range(rng.randint(1, 3))]
    pending = []
    while len(instance.kinds) < size:
        known = range(len(instance.kinds))
        after = rng.sample(known, min(len(known), rng.choice([0, 1, 1, 2])))
        room = size - len(instance.kinds)
        if pending and (rng.random() < 0.35 or room <= len(pending)):
            awaited = rng.sample(pending, rng.choice([1, 1, min(2, len(pending))]))
            pending = [start for start in pending if start not in awaited]
            if rng.random() < 0.2:
                instance.add("compute", rng.randint(1, 60), awaits=awaited, after=after)
            else:
                instance.add("wait", awaits=awaited, after=after)
        elif room > 1 and rng.random() < 0.4:
            start = instance.add("start", rng.choice([0, *range(5, 80, 5)]), rng.choice(lanes), after=after)
            # Some operations nobody awaits.
            if rng.random() < 0.9:
                pending.append(start)
        else:
            instance.add("compute", rng.choice([0, *range(1, 70, 3)]), after=after)
    add_memory(rng, instance)
    return instance


def make_micro_batches(rng, size):
    """Chains of compute and communication that share the stream and the lanes: what orders can interleave."""
    instance = Instance()
    last = [None] * rng.randint(3, 6)
    while len(instance.kinds) < size - 3:
        chain = rng.randrange(len(last))
        before = [last[chain]] if last[chain] is not None else []
        product = instance.add("compute", rng.randint(5, 60), after=before)
        start = instance.add("start", rng.randint(5, 60), f"lane {rng.randint(1, 2)}", after=[product])
        last[chain] = instance.add("wait", awaits=[start])
    instance.add("compute", rng.randint(1, 60), after=[node for node in last if node is not None])
    add_memory(rng, instance)
    return instance


def add_memory(rng, instance):
    size = len(instance.kinds)
    for node in range(size):
        if rng.random() < 0.7:
            readers = [b for a, b in instance.edges if a == node]
            others = rng.sample(range(size), rng.choice([0, 0, 1]))
            instance.buffers.append((rng.randint(1, 100), sorted({node, *readers, *others}), rng.random() < 0.1))
        if instance.kinds[node] == "compute" and rng.random() < 0.2:
            instance.transients[node] = rng.randint(1, 60)


def simulate(instance, order):
    """The makespan and the peak of `order`, which has to be legal."""
    assert sorted(order) == list(range(len(instance.kinds))), f"{order} does not have each node once"
    place = {node: number for number, node in enumerate(order)}
    for before, after in instance.edges:
        assert place[before] < place[after], f"node {before} stands behind node {after}"
    starts = [node for node in order if instance.kinds[node] == "start"]
    assert not instance.keep_order or starts == sorted(starts), "the starts have another order"
    stream, free, ends, in_flight = 0, {}, {}, {}
    live, peak = instance.live_bytes, 0
    for node in order:
        lane = instance.lanes[node]
        if instance.kinds[node] == "start":
            flying = in_flight.setdefault(lane, set())
            flying.add(node)
            limit = instance.max_in_flight
            assert limit is None or len(flying) <= limit, f"{len(flying)} operations in flight at node {node}"
            ends[node] = free[lane] = max(stream, free.get(lane, 0)) + instance.costs[node]
        else:
            stream = max([stream, *(ends[start] for start in instance.awaits[node])]) + instance.costs[node]
            for start in instance.awaits[node]:
                in_flight[instance.lanes[start]].discard(start)
        uses = [(size, [place[user] for user in users], escapes) for size, users, escapes in instance.buffers]
        live += sum(size for size, users, _ in uses if min(users) == place[node])
        peak = max(peak, live + instance.transients.get(node, 0))
        live -= sum(size for size, users, escapes in uses if max(users) == place[node] and not escapes)
    assert instance.max_memory is None or peak <= instance.max_memory, f"{peak} bytes live at once"
    return max([stream, *ends.values()], default=0), peak


@dataclass(frozen=True)
class Optimum:
    """No order takes less than `least`; `order` takes `makespan`. None of both without an order; `least` is None if
    it is proven that there is none."""

    least: int
    makespan: int
    order: list

    @property
    def is_proven(self):
        return self.least == self.makespan


def add_hint(model, instance, ns, order, begin, operation):
    """Tells the solver when each node of `order` begins, in ticks."""
    stream, free, ends = 0, {}, {}
    for node in order:
        lane, ticks = instance.lanes[node], instance.costs[node] * ns
        if instance.kinds[node] == "start":
            model.add_hint(begin[node], stream)
            began = max(stream, free.get(lane, 0))
            model.add_hint(operation[node], began)
            ends[node] = free[lane] = began + ticks
            stream += 1
        else:
            stream = max([stream, *(ends[start] for start in instance.awaits[node])])
            model.add_hint(begin[node], stream)
            stream += ticks + 1


def solve(instance, work, seed, hint=None):
    """What CP-SAT finds within `work`, in its deterministic seconds. `hint`: an order to begin with."""
    size = len(instance.kinds)
    # Each node takes one tick more on the stream, so that nodes without cost have a place as well, and two never the
    # same. No path has more ticks than there are nodes: a nanosecond has more than that.
    ns = size + 1
    horizon = sum(instance.costs) * ns + 2 * size
    model = cp_model.CpModel()
    begin = [model.new_int_var(0, horizon, f"begin {node}") for node in range(size)]
    makespan = model.new_int_var(0, horizon, "makespan")
    end, slots = [], []
    for node, cost in enumerate(instance.costs):
        length = 1 + (0 if instance.kinds[node] == "start" else cost * ns)
        end.append(begin[node] + length)
        slots.append(model.new_fixed_size_interval_var(begin[node], length, f"slot {node}"))
        model.add(makespan >= end[node])
    model.add_no_overlap(slots)
    for before, after in instance.edges:
        model.add(begin[after] >= end[before])

    # Operations of a lane run in the order of their starts.
    operation = {node: model.new_int_var(0, horizon, f"operation {node}") for node in instance.starts}
    operation_end = {node: operation[node] + instance.costs[node] * ns for node in instance.starts}
    for node in instance.starts:
        model.add(operation[node] >= begin[node])
        model.add(makespan >= operation_end[node])
    for number, first in enumerate(instance.starts):
        for second in instance.starts[number + 1 :]:
            if instance.keep_order:
                model.add(begin[second] >= end[first])
            if instance.lanes[first] != instance.lanes[second]:
                continue
            is_first = model.new_bool_var(f"{first} before {second}")
            for one, other, holds in ((first, second, is_first), (second, first, ~is_first)):
                model.add(begin[other] >= end[one]).only_enforce_if(holds)
                model.add(operation[other] >= operation_end[one]).only_enforce_if(holds)
    for node, awaited in enumerate(instance.awaits):
        for start in awaited:
            model.add(begin[node] >= operation_end[start])

    def add_life(name, first, last):
        """Something that lives at least from the least of `first` to the largest of `last`."""
        left, right = (model.new_int_var(0, horizon, f"{name} {side}") for side in ("begin", "end"))
        length = model.new_int_var(0, horizon, f"{name} length")
        for value in first:
            model.add(left <= value)
        for value in last:
            model.add(right >= value)
        return model.new_interval_var(left, length, right, name)

    if instance.max_memory is not None:
        lives = []
        for number, (_, users, escapes) in enumerate(instance.buffers):
            last = [horizon] if escapes else [end[user] for user in users]
            lives.append(add_life(f"buffer {number}", [begin[user] for user in users], last))
        lives += [slots[node] for node in instance.transients]
        demands = [size for size, _, _ in instance.buffers] + list(instance.transients.values())
        capacity = instance.max_memory - instance.live_bytes
        if capacity < 0:
            return Optimum(None, None, None)
        model.add_cumulative(lives, demands, capacity)
    if instance.max_in_flight is not None:
        for lane in set(instance.lanes) - {None}:
            flights = []
            for start in instance.starts:
                if instance.lanes[start] != lane:
                    continue
                awaiters = [node for node, awaited in enumerate(instance.awaits) if start in awaited]
                # To the first that awaits it.
                until = horizon
                if awaiters:
                    until = model.new_int_var(0, horizon, f"awaited {start}")
                    model.add_min_equality(until, [begin[node] for node in awaiters])
                flights.append(add_life(f"flight {start}", [begin[start]], [until]))
            model.add_cumulative(flights, [1] * len(flights), instance.max_in_flight)

    model.minimize(makespan)
    add_hint(model, instance, ns, hint or (), begin, operation)
    solver = cp_model.CpSolver()
    # Neither the load nor the number of cores changes what is found.
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.max_deterministic_time = work
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return Optimum(None, None, None)
    # An order takes `ns` ticks for each nanosecond, and at most one more for each node.
    least = max(0, -int(-(solver.best_objective_bound - size) // ns))
    if status == cp_model.UNKNOWN:
        return Optimum(least, None, None)
    assert status in (cp_model.OPTIMAL, cp_model.FEASIBLE), solver.status_name(status)
    order = sorted(range(size), key=lambda node: solver.value(begin[node]))
    found = simulate(instance, order)[0]
    return Optimum(found if status == cp_model.OPTIMAL else least, found, order)


@dataclass(frozen=True)
class Claim:
    """What Braid says of a problem."""

    makespan: int
    peak: int
    bound: int
    is_optimal: bool
    order: list


def find_faults(instance, claim, optimum):
    """What is wrong with a claim, as texts."""
    try:
        makespan, peak = simulate(instance, claim.order)
    except AssertionError as error:
        return [f"the order is not legal: {error}"]
    faults = []
    if makespan != claim.makespan:
        faults.append(f"the order takes {makespan} ns, not {claim.makespan}")
    if peak != claim.peak:
        faults.append(f"the order needs {peak} bytes, not {claim.peak}")
    if optimum.least is None:
        return faults + ["CP-SAT proves that there is no order"]
    if makespan < optimum.least:
        faults.append(f"the order takes {makespan} ns, CP-SAT proves that none is below {optimum.least}")
    shortest = min(makespan, optimum.makespan if optimum.makespan is not None else makespan)
    if claim.bound > shortest:
        faults.append(f"the bound is {claim.bound} ns, above an order of {shortest}")
    if claim.is_optimal and claim.makespan > shortest:
        faults.append(f"the order is called optimal, but one takes {shortest} ns")
    return faults


def get_variants(rng, instance):
    """The instance without limits, and with one each."""
    free = schedule.schedule(instance.to_graph())
    yield "free", instance
    limit = rng.randint(int(0.75 * free.peak), free.peak)
    yield "memory", dataclasses.replace(instance, max_memory=limit)
    yield "in flight", dataclasses.replace(instance, max_in_flight=rng.randint(1, 2))
    yield "order kept", dataclasses.replace(instance, keep_order=True)


def describe(optimum):
    if optimum.least is None:
        return "no order"
    if optimum.is_proven:
        return f"optimum {optimum.makespan}"
    known = f" to {optimum.makespan}" if optimum.makespan is not None else ""
    return f"optimum from {optimum.least}{known}"


def compare(name, instance, work, seed):
    """Prints a line for an instance. Returns what is wrong, and the search's makespan over the optimum or None."""
    graph = instance.to_graph()
    try:
        found = schedule.schedule(graph, **instance.limits)
    except schedule.MemoryLimitError as error:
        optimum = solve(instance, work, seed)
        known = describe(optimum)
        print(f"{name}: {known}, search none{' (proven)' if error.proven else ''}")
        if optimum.order is not None and error.proven:
            return [f"{error}, but CP-SAT has found one"], None
        return [], None
    except schedule.ScheduleError as error:
        optimum = solve(instance, work, seed)
        known = describe(optimum)
        print(f"{name}: {known}, search none")
        # Graphs of this size are searched exactly.
        if optimum.order is not None and len(instance.kinds) <= 16:
            return [f"{error}, but CP-SAT has found one"], None
        return [], None
    claim = Claim(found.makespan, found.peak, found.bound, found.optimal, found.order)
    optimum = solve(instance, work, seed, found.order)
    faults = find_faults(instance, claim, optimum)
    if optimum.order is not None:
        problem = Problem(graph, **instance.limits)
        known = problem.summarize(problem.to_native(optimum.order)).makespan_ns
        if known != optimum.makespan:
            faults.append(f"Braid simulates {known} ns for an order of {optimum.makespan} ns")
    said = ", optimal" if claim.is_optimal else ""
    print(f"{name}: {describe(optimum)}, search {claim.makespan}, bound {claim.bound}{said}")
    return faults, claim.makespan / optimum.makespan if optimum.is_proven and optimum.makespan else None


def check_checker():
    """What is wrong is found: on a graph whose optimum is known by hand."""
    instance = Instance()
    gather = instance.add("start", 300, "world")
    gathered = instance.add("wait", awaits=[gather])
    product = instance.add("compute", 500)
    reduced = instance.add("wait", awaits=[instance.add("start", 300, "world")])
    instance.add("compute", 100, after=[gathered, product, reduced])
    instance.buffers.append((64, [gather, gathered], False))
    optimum = solve(instance, 1, 0)
    assert (optimum.least, optimum.makespan) == (700, 700), optimum
    right = Claim(700, 64, 700, True, [0, 3, 2, 1, 4, 5])
    assert not find_faults(instance, right, optimum)
    for fault, wrong in {
        "takes 700 ns, not 699": {"makespan": 699},
        "needs 64 bytes, not 63": {"peak": 63},
        "the bound is 701 ns": {"bound": 701},
        "node 0 stands behind node 1": {"order": [1, 0, 3, 2, 4, 5]},
        "called optimal": {"order": [0, 1, 2, 3, 4, 5], "makespan": 1200},
    }.items():
        faults = find_faults(instance, dataclasses.replace(right, **wrong), optimum)
        assert any(fault in found for found in faults), (fault, faults)
    # Above what one order takes, below what all do.
    too_short = dataclasses.replace(optimum, least=701, makespan=701)
    assert any("none is below 701" in found for found in find_faults(instance, right, too_short))
    limited = dataclasses.replace(instance, max_memory=63)
    assert solve(limited, 1, 0).least is None
    in_order = dataclasses.replace(instance, max_in_flight=1)
    assert solve(in_order, 1, 0).makespan == 900, solve(in_order, 1, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10,14,20", help="nodes of the graphs")
    parser.add_argument("--graphs", type=int, default=2, help="graphs of each size")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=float, default=1, help="CP-SAT's deterministic seconds for each problem")
    options = parser.parse_args()
    check_checker()
    faults, ratios, count = [], [], 0
    for size in map(int, options.sizes.split(",")):
        for number in range(options.graphs):
            rng = random.Random(f"{options.seed}/{size}/{number}")
            make = make_micro_batches if number % 2 else make_instance
            for variant, instance in get_variants(rng, make(rng, size)):
                name = f"{size} nodes, graph {number}, {variant}"
                found, ratio = compare(name, instance, options.work, options.seed)
                faults += [f"{name}: {fault}" for fault in found]
                count += 1
                if ratio is not None:
                    ratios.append(ratio - 1)
    assert ratios, "no optimum is known"
    print(
        f"{count} problems, {len(ratios)} with a known optimum: the search is {100 * sum(ratios) / len(ratios):.2f} % "
        f"above in the mean, {100 * max(ratios):.2f} % at most, and at the optimum of {ratios.count(0)}"
    )
    if faults:
        sys.exit("\n".join(faults))


main()
