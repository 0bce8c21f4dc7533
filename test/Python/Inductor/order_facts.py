"""What Inductor knows of scheduler nodes is true of the order that braid.inductor returns."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import tracemalloc
import unittest
from unittest import mock

import torch
import torch._inductor.config as config
import torch.distributed._functional_collectives as funcol
import torch_steps
from braid.inductor import Overlap, order_facts
from braid.inductor.ancestors import Ancestors, Order
from braid.inductor.nodes import SchedulerGraph
from braid.inductor.order_facts import _get_leaves, _get_parents
from real_models.orders import _get_edges, draw_order, drawn
from torch.utils._ordered_set import OrderedSet

FACTS = ("ancestors", "min_order", "max_order")


def schedule_step(name, *passes):
    new = lambda *shape: torch.empty(*shape, dtype=torch.bfloat16)  # noqa: E731
    step, inputs = torch_steps.STEPS[name](2, 256, 64, new)
    return torch_steps.compile_until_scheduled(step, inputs, passes)


def get_facts(snodes):
    """All facts by node and name, as they can be compared."""
    found = {}
    for snode in snodes:
        for one in {id(one): one for one in [*_get_leaves(snode), *_get_parents(snode)]}.values():
            for fact in FACTS:
                if hasattr(one, fact):
                    value = getattr(one, fact)
                    found[one.get_name(), fact] = set(value) if fact == "ancestors" else value
        for buffer in snode.get_outputs():
            planned = buffer.mpi_buffer
            found[buffer.get_name(), "memory"] = (
                planned.size_alloc,
                planned.size_free,
                {one.get_name() for one in planned.succ_nodes},
                {one.get_name() for one in planned.succ_nodes_for_ordering},
            )
        found[snode.get_name(), "dependences"] = set(snode.unmet_dependencies)
    return found


def gather_twice(x, w):
    """What gathers that are done again in backward leave: in the program's order all that the first gather needs is done before
    the sum, which may then overwrite `y`."""
    y = x @ w
    product = y @ w
    first = funcol.all_gather_tensor(product, 0, "0")
    second = funcol.all_gather_tensor(w, 0, "0")
    return first, product, second[: len(y)] + y


class SumFirst(Overlap):
    """Runs the sum of `gather_twice`, and what it needs, before all else."""

    def find_order(self, graph, agreement=None):
        before = _get_edges(graph)
        waits = {node.index for node in graph.nodes if node.kind == "wait"}
        left, first = [node for node in range(len(before)) if waits & before[node]], set()
        while left:
            node = left.pop()
            first.add(node)
            left.extend(before[node] - first)
        return sorted(range(len(before)), key=lambda node: (node not in first, node))


class OrderFacts(unittest.TestCase):
    def check_legal(self, order):
        """Ancestors are the nodes that a leaf depends on, and all of them come before it."""
        scheduler, known = order[0].scheduler, {}
        for leaf in (leaf for snode in order for leaf in _get_leaves(snode)):
            expected = set()
            for dep in leaf.unmet_dependencies:
                name = scheduler.name_to_buf[dep.name].defining_op_name()
                self.assertIn(name, known, f"{leaf.get_name()} stands before {name}")
                expected |= {name} | known[name]
            known[leaf.get_name()] = expected
            self.assertEqual(set(leaf.ancestors), expected)
        for snode in order:
            for parent in _get_parents(snode):
                self.assertEqual(set(parent.ancestors), set().union(*(known[x.get_name()] for x in _get_leaves(parent))))

    def check_chain(self, order):
        """Each collective depends on the one before it in the order, and on no other one for its order."""
        graph, before = SchedulerGraph(order), None
        for snode, record in zip(order, graph.records):
            if record.kind == "start":
                # Not those on what read before where it writes in place.
                self.assertEqual({dep.name for dep in record.dropped}, set(before.get_buffer_names()) if before else set())
                before = snode

    def test_the_order_as_it_came_has_the_facts_of_inductor(self):
        def run(snodes):
            before = get_facts(snodes)
            # Inductor's dependences may name the wait of the collective before.
            with mock.patch.object(order_facts._Renewal, "_renew_dependences"):
                order_facts.renew(SchedulerGraph(snodes), snodes)
            after = get_facts(snodes)
            self.assertEqual(before.keys(), after.keys())
            for key in before:
                # Before, places are those before nodes were fused and dead ones removed.
                if key[1] not in ("min_order", "max_order"):
                    self.assertEqual(before[key], after[key], key)
            return snodes

        for name in ("fully sharded", "mixture of experts"):
            self.assertEqual(len(schedule_step(name, run)), 1)

    def test_random_orders(self):
        for name in ("hybrid sharded", "mixture of experts"):
            found = set()

            def run(snodes):
                for seed in range(6):
                    overlap = drawn(Overlap, seed)
                    order = overlap(snodes)
                    self.assertIsNone(overlap.reason)
                    self.assertEqual(overlap.moved, 1)
                    self.check_legal(order)
                    self.check_chain(order)
                    found.add(tuple(snode.get_name() for snode in order))
                return snodes

            self.assertEqual(len(schedule_step(name, run)), 1)
            self.assertGreater(len(found), 3)

    def test_what_is_not_known_keeps_order_and_facts(self):
        def run(snodes):
            before = get_facts(snodes)

            class Illegal(Overlap):
                def find_order(self, graph, agreement=None):
                    # Uses stand before what computes their operands.
                    return [0, *range(len(snodes), 0, -1)]

            overlap = Illegal(agree=False)
            self.assertEqual(overlap(snodes), snodes)
            self.assertIn("found an order in which", overlap.reason)
            self.assertEqual(before, get_facts(snodes))
            return snodes

        self.assertEqual(len(schedule_step("fully sharded", run)), 1)

    def test_a_buffer_that_a_later_node_reads(self):
        inputs = torch.randn(4, 4), torch.randn(4, 4)

        def run():
            torch._dynamo.reset()
            overlap = SumFirst(agree=False, keep_order=False)
            with config.patch(
                reorder_for_compute_comm_overlap=True, reorder_for_compute_comm_overlap_passes=[overlap],
                fx_graph_cache=False, compile_threads=1,
            ):  # fmt: skip
                found = torch.compile(gather_twice, fullgraph=True)(*inputs)
            self.assertIsNone(overlap.reason)
            return found

        # What a fake group has gathered are any numbers, or none.
        torch.testing.assert_close(run()[1], inputs[0] @ inputs[1] @ inputs[1])
        with mock.patch.object(order_facts, "renew"), self.assertRaises(UnboundLocalError):
            run()

    def test_ancestors(self):
        names = [f"op{place}" for place in range(10)]
        order = Order(names)
        make = lambda: Ancestors(0b1000010110, order)  # noqa: E731
        expected = OrderedSet(["op1", "op2", "op4", "op9"])
        other = OrderedSet(["op2", "op3", "op9", "no op"])
        self.assertEqual(list(make()), list(expected))
        self.assertEqual(len(make()), 4)
        self.assertEqual([name in make() for name in (*names, "no op")], [name in expected for name in (*names, "no op")])
        for one, two in ((make(), other), (other, make())):
            self.assertEqual(one & two, OrderedSet(["op2", "op9"]))
            self.assertEqual(one | two, expected | other)
        self.assertEqual(make() - other, expected - other)
        self.assertEqual(make().union(other), expected | other)
        self.assertFalse(Ancestors(0, order))
        changed = make()
        changed.update(other)
        changed -= OrderedSet(["op1"])
        self.assertEqual(set(changed), {"op2", "op3", "op4", "op9", "no op"})
        self.assertEqual(len(changed), 5)
        self.assertNotIn("op1", changed)

    def test_ancestors_of_large_graphs(self):
        """All names of all sets would be 50 million."""
        order = Order([f"op{place}" for place in range(10_000)])
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        found = [Ancestors((1 << place) - 1, order) for place in range(10_000)]
        self.assertIn("op9998", found[-1])
        self.assertEqual(found[-1] & OrderedSet(["op5", "op9999"]), OrderedSet(["op5"]))
        self.assertLess(tracemalloc.get_traced_memory()[1], 20 << 20)

    def test_an_order_that_comes_back(self):
        """A framework asks for two orders, and takes the one as it came after all."""
        first, second = drawn(Overlap, 1), Overlap(estimates="braid", keep_order=True, min_gain=0)
        orders = schedule_step("fully sharded", first, second)
        self.assertIsNone(second.reason)
        self.assertEqual(len(orders), 2)

    def test_a_collective_that_writes_in_place_stays_behind_those_that_read(self):
        seen = []

        def step(x, w):
            y = torch.relu(x @ w)
            gathered = funcol.all_gather_tensor(y, 0, "0")
            # Nothing else reads y, so that Inductor reduces it in place.
            return gathered, funcol.all_reduce(y, "sum", "0")

        def run(snodes):
            graph = SchedulerGraph(snodes)
            places = {record.name: place for place, record in enumerate(graph.records)}
            kinds = {place: str(snode.node.python_kernel_name) for place, snode in enumerate(snodes)
                     if graph.records[place].kind == "start"}  # fmt: skip
            (gather,) = [place for place, name in kinds.items() if "gather" in name]
            (reduce,) = [place for place, name in kinds.items() if "all_reduce" in name]
            (wait,) = [places[record.name] for record in graph.records if record.awaits == [gather]]
            written = {name for buffer in snodes[reduce].get_outputs() for name in buffer.get_mutations()}
            read = {dep.name for dep in snodes[gather].read_writes.reads}
            seen.append((bool(written & read), {gather, wait} <= graph.records[reduce].before))
            for seed in range(20):
                order = draw_order(graph.build([(1, None, None)] * len(snodes), False), seed)
                if seen[-1][0]:
                    self.assertLess(order.index(wait + 1), order.index(reduce + 1))
            return snodes

        torch_steps.compile_until_scheduled(step, [torch.empty(8, 8), torch.empty(8, 8)], [run])
        self.assertEqual(len(seen), 1)
        # Where Inductor reduces a copy, nothing orders the two.
        self.assertEqual(seen[0][0], seen[0][1])


if __name__ == "__main__":
    torch_steps.start_fake_group(8)
    unittest.main()
