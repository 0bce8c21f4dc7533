#!/usr/bin/env python3
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How much of braid.schedule.schedule is not the search: the border between Python and the library.

    python_schedule.py [--nodes=100000] [--repeat=3]

Needs the package braid. Times are processor time of this process, so that others on the machine do not count; the
median of the repetitions. The step of equal layers is the cheapest one to search: the first algorithm that is tried is
optimal. That of layers of random costs takes as many steps as the search has.
"""

import argparse
import random
import statistics
import time

from braid import _native, schedule


def make_graph(nodes, spread=0):
    """Layers that gather a weight, compute two matmuls and reduce a gradient, about so many nodes in all.

    Costs of layers differ by so many ns at most.
    """
    generator = random.Random(0)
    graph = schedule.Graph(live_bytes=1 << 30)
    last = None
    for layer in range(nodes // 7):
        more = generator.randint(0, spread)
        gather = graph.start(f"gather {layer}", 300 + more, lane="shards", bytes=1 << 20)
        weight = graph.wait(f"weight {layer}", gather)
        product = graph.compute(f"product {layer}", 500, bytes=1 << 16, after=[weight, *([last] if last else [])])
        gradient = graph.compute(f"gradient {layer}", 400 + more // 2, bytes=1 << 20, after=product)
        reduce = graph.start(f"reduce {layer}", 350, lane="replicas", bytes=1 << 20, after=gradient)
        reduced = graph.wait(f"reduced {layer}", reduce)
        graph.compute(f"update {layer}", 50, bytes=1 << 20, after=reduced, output=True)
        last = product
    return graph


class Clock:
    """Adds up the processor time of the library's search."""

    def __init__(self):
        self.seconds = 0.0
        self._call = _native.call

    def __enter__(self):
        def call(name, *arguments):
            begin = time.thread_time()
            try:
                return self._call(name, *arguments)
            finally:
                if name == "braid_search":
                    self.seconds += time.thread_time() - begin

        _native.call = call
        return self

    def __exit__(self, *error):
        _native.call = self._call


def measure(nodes, spread):
    """Seconds: of building the graph, of `schedule`, and of the search in that."""
    begin = time.process_time()
    graph = make_graph(nodes, spread)
    built = time.process_time()
    with Clock() as search:
        # Whoever asks for a schedule keeps it: freeing it does not count.
        found = schedule.schedule(graph)
        end = time.process_time()
    del found
    return built - begin, end - built, search.seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print("| layers | nodes | building the graph | schedule | of it the search | outside of it |")
    print("|---|---|---|---|---|---|")
    for name, spread in (("equal", 0), ("random costs", 500)):
        runs = [measure(options.nodes, spread) for _ in range(options.repeat)]
        build, whole, search = (statistics.median(times) for times in zip(*runs))
        share = statistics.median((whole - search) / whole for _, whole, search in runs)
        print(
            f"| {name} | {options.nodes:,} | {build:.2f} s | {whole:.2f} s | {search:.2f} s | {share:.1%} |", flush=True
        )


if __name__ == "__main__":
    main()
