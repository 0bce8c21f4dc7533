"""Operations that share a launch: what may, and what the caller predicts for it."""

# REQUIRES: package
# RUN: %package_python -W ignore %s

import unittest

from braid.schedule import Graph, choose_launches

LATENCY = 10


def make_graph():
    """Three starts, of which the last one depends on the first one, and one that has nobody to share with."""
    graph = Graph()
    starts = [graph.start(name, LATENCY + 1) for name in "ab"]
    first = graph.wait("of a", starts[0])
    starts.append(graph.start("c", LATENCY + 1, order_after=[first]))
    alone = graph.start("alone", LATENCY + 1, lane="another")
    return graph, starts, alone


class Launches(unittest.TestCase):
    def choose(self, predict):
        graph, starts, alone = make_graph()
        items = [(start, 0, 1) for start in starts] + [(alone, 1, 1)]
        return [[node.name for node in launch] for launch in choose_launches(graph, items, predict)]

    def test_what_saves_a_latency(self):
        seen = []

        def predict(launches):
            seen.append(launches)
            saved = LATENCY * sum(len(launch) - 1 for launch in launches)
            return 100 - saved, 44 - saved, 0

        self.assertEqual(self.choose(predict), [["a", "b"]])
        self.assertEqual(seen[0], [])

    def test_what_makes_the_graph_longer(self):
        self.assertEqual(self.choose(lambda launches: (100 + len(launches), 44, 0)), [])

    def test_an_error_of_the_caller(self):
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            self.choose(lambda launches: (1 // 0, 0, 0))

    def test_by_sizes(self):
        graph, starts, _ = make_graph()
        launches = choose_launches(graph, [(start, 0, 4) for start in starts], full=8)
        self.assertEqual([[node.name for node in launch] for launch in launches], [["a", "b"]])

    def test_nothing_to_share(self):
        graph, starts, _ = make_graph()
        self.assertEqual(choose_launches(graph, [(starts[0], 0, 1)], None), [])


if __name__ == "__main__":
    unittest.main()
