"""Orders that stay good where collectives take longer than predicted."""

# REQUIRES: package
# RUN: %package_python %s

import unittest

from braid._margin import search_with_margin, slower_collectives
from braid.schedule import Graph, schedule
from braid.schedule.problem import Problem
from braid.schedule.result import Schedule


def make_graph():
    """A gather, a matmul that needs it, and work that can stand before the matmul: a little, or much."""
    graph = Graph()
    gather = graph.start("gather", 100)
    wait = graph.wait("wait", [gather])
    product = graph.compute("product", 100, after=[wait])
    short = graph.compute("short", 100)
    long = graph.compute("long", 150)
    graph.compute("end", 10, after=[product, short, long])
    return graph


def order_by(graph, *names):
    number = {node.name: node.index for node in graph.nodes}
    problem = Problem(graph, None)
    return Schedule(problem, problem.to_native([number[name] for name in names]), "by hand")


class Margin(unittest.TestCase):
    def test_slower_collectives_end_with_the_block(self):
        graph = make_graph()
        with self.assertRaises(ZeroDivisionError), slower_collectives(graph, 1.5):
            self.assertEqual([node.cost for node in graph.nodes if node.kind == "start"], [150])
            self.assertEqual([node.cost for node in graph.nodes if node.name == "short"], [100])
            1 / 0
        self.assertEqual([node.cost for node in graph.nodes if node.kind == "start"], [100])

    def test_of_two_equal_orders_the_careful_one_counts(self):
        graph = make_graph()
        # Both hide the gather as predicted. If it takes longer, only the second one does.
        tight = ("gather", "short", "wait", "product", "long", "end")
        careful = ("gather", "long", "wait", "product", "short", "end")
        answers = iter([tight, careful])
        found = search_with_margin(graph, None, 0.5, lambda: order_by(graph, *next(answers)))
        self.assertEqual(found.names, list(careful))
        self.assertEqual(found.makespan, 360)

    def test_a_careful_order_that_costs_more_than_it_saves_does_not_count(self):
        graph = make_graph()
        tight = ("gather", "short", "wait", "product", "long", "end")
        exposed = ("short", "long", "gather", "wait", "product", "end")
        answers = iter([tight, exposed])
        found = search_with_margin(graph, None, 0.5, lambda: order_by(graph, *next(answers)))
        self.assertEqual(found.names, list(tight))

    def test_a_careful_order_that_nobody_takes_does_not_count(self):
        graph = make_graph()
        tight = ("gather", "short", "wait", "product", "long", "end")
        careful = ("gather", "long", "wait", "product", "short", "end")
        answers = iter([tight, careful])
        found = search_with_margin(graph, None, 0.5, lambda: order_by(graph, *next(answers)), lambda makespan: makespan < 360)
        self.assertEqual(found.names, list(tight))

    def test_without_a_margin_there_is_one_search(self):
        graph, calls = make_graph(), []

        def search():
            calls.append(1)
            return schedule(graph)

        self.assertEqual(search_with_margin(graph, None, 0, search).makespan, 360)
        self.assertEqual(len(calls), 1)


if __name__ == "__main__":
    unittest.main()
