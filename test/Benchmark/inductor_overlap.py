# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inductor's schedulers beside braid.inductor: makespans by the same simulator, and what they cost.

    inductor_overlap.py [--layers N] [--width N] [--tokens N] [--ranks N] [--machine NAME]
        [--profile auto|none] [--large]

Needs PyTorch 2.11 to 2.13 and the package braid; no GPU: the process group is a fake one, tensors are empty, and
compiles end behind the scheduler. Costs are Braid's models for the machine, for all schedulers alike; where Braid has a
profile of the machine (h100x8, h200x8), they are those of the profile, and all orders are simulated with contention, unless
--profile=none. --large times graphs of about 1,000 and 10,000 nodes instead, where Inductor's own time is that of the
whole compile up to the scheduler's passes; with the default options, and with a search for any gain. Times are
processor time.
"""

import os
import sys
import time
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "Inputs"))

import torch
import torch_steps
from braid.inductor import Overlap
from braid.inductor.costs import Costs
from braid.inductor.nodes import SchedulerGraph
from braid.schedule import Schedule
from braid.schedule.problem import Problem
from figures import record

#: What users set, in Inductor's names.
PASSES = {
    "sink_waits": ["sink_waits"],
    "raise_comms": ["raise_comms"],
    "reorder_compute_for_overlap": ["reorder_compute_for_overlap"],
    "reorder_communication_preserving_peak_memory": ["sink_waits", "reorder_communication_preserving_peak_memory"],
    "the recommended three": [
        "reorder_communication_preserving_peak_memory",
        "sink_waits_iterative",
        "reorder_communication_preserving_peak_memory",
    ],
}


def run_inductor(names, snodes):
    from torch._inductor import comms

    for name in names:
        snodes = getattr(comms, name)(snodes)
    return snodes


def make_overlap(options):
    return Overlap(estimates="braid", machine=options.machine, profile=None if options.profile == "none" else "auto")


class Comparison:
    """Simulates what each scheduler makes of one step."""

    def __init__(self, name, options):
        self.name = name
        self.overlap = make_overlap(options)
        self.ordered = self.overlap.with_options(keep_order=True)
        self.unlimited = self.overlap.with_options(memory_budget=None)
        self.rows = []

    def __call__(self, snodes):
        import torch._inductor.config as config

        graph = SchedulerGraph(snodes)
        costs = Costs(self.overlap, graph).get()
        machine = self.overlap.get_machine() if self.overlap.has_contention() else None
        problem = Problem(graph.build(costs, keep_order=False), machine)
        ms = {snode: cost[0] / 1e6 for snode, cost in zip(snodes, costs)}
        place = {snode: index + 1 for index, snode in enumerate(snodes)}

        def simulate(name, function):
            begin = time.process_time()
            order = function(list(snodes))
            seconds = time.process_time() - begin
            native = problem.to_native([0] + [place[snode] for snode in order])
            self.rows.append((name, Schedule(problem, native, name), seconds))

        simulate("as it comes", list)
        with config.patch(estimate_op_runtime=ms.get):
            # The iterative passes ask the nodes themselves.
            for snode in snodes:
                snode.override_estimated_runtime = ms[snode]
            for name, passes in PASSES.items():
                simulate(name, lambda given, passes=passes: run_inductor(passes, given))
            for snode in snodes:
                snode.override_estimated_runtime = None
        simulate("braid.inductor.overlap", self.overlap)
        simulate("... keep_order=True", self.ordered)
        simulate("... memory_budget=None", self.unlimited)
        for used in (self.overlap, self.ordered, self.unlimited):
            if used.reason:
                raise SystemExit(f"{self.name}: braid.inductor kept the order: {used.reason}")
        return snodes

    def print(self):
        bound = self.rows[-1][1].bound
        print(f"\n{self.name}: {len(self.rows[0][1].order) - 1} nodes, no order takes less than {bound / 1e6:.3f} ms\n")
        for name, schedule, seconds in self.rows:
            record(f"{self.name}, {name}, makespan over the bound", schedule.makespan / bound, "")
        print("| scheduler | makespan | exposed | peak | took |")
        print("|---|---|---|---|---|")
        for name, schedule, seconds in self.rows:
            print(
                f"| {name} | {schedule.makespan / 1e6:.3f} ms | {schedule.exposed / 1e6:.3f} ms "
                f"| {schedule.peak / 2**20:.0f} MiB | {seconds * 1e3:.1f} ms |"
            )


def new(*shape):
    return torch.empty(*shape, dtype=torch.bfloat16)


def compare(options):
    for name, make in torch_steps.STEPS.items():
        step, inputs = make(options.layers, options.width, options.tokens, new)
        comparison = Comparison(name, options)
        torch_steps.compile_until_scheduled(step, inputs, [comparison])
        comparison.print()


def time_large(options):
    from torch._inductor import comms

    print("| nodes | Inductor up to its passes | braid.inductor.overlap | ... min_gain=0 | reorder_compute_for_overlap |")
    print("|---|---|---|---|---|")
    for layers in (20, 200):
        step, inputs = torch_steps.fully_sharded(layers, 64, 128, new)
        overlap = make_overlap(options)
        searching = overlap.with_options(min_gain=0)
        times = {}

        def measure(snodes):
            times["before"] = time.process_time()
            for name, reorder in (
                ("braid", overlap),
                ("search", searching),
                ("inductor", comms.reorder_compute_for_overlap),
            ):
                begin = time.process_time()
                reorder(snodes)
                times[name] = time.process_time() - begin
            return snodes

        begin = time.process_time()
        snodes = torch_steps.compile_until_scheduled(step, inputs, [measure])[0]
        for used in (overlap, searching):
            if used.reason:
                raise SystemExit(f"braid.inductor kept the order: {used.reason}")
        record(f"the pass on {len(snodes)} nodes", times["braid"], "s")
        print(
            f"| {len(snodes)} | {times['before'] - begin:.2f} s | {times['braid']:.2f} s | {times['search']:.2f} s "
            f"| {times['inductor']:.2f} s |",
            flush=True,
        )


def main():
    parser = torch_steps.make_parser(__doc__)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--profile", choices=["auto", "none"], default="auto")
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch_steps.start_fake_group(options.ranks)
    if options.large:
        time_large(options)
    else:
        compare(options)


if __name__ == "__main__":
    main()
