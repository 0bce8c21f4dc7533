# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the order of collectives with `deterministic=True`, which knows no costs of compute, gives up beside the one that costs decide.

    inductor_deterministic.py [--models NAMES] [--parallelisms NAMES] [--layers N] [--width N] [--tokens N]
        [--ranks N] [--json FILE]

Needs PyTorch 2.11 to 2.13, transformers and the package braid; no GPU and no C++ compiler. The graphs of a training step are
those of the real models of the tests, with larger layers; one process computes them eagerly, and Inductor comes up to
its passes over scheduler nodes. Both orders are simulated with the shipped profile of h100x8 and with contention. A
row is the sum over the graphs with collectives of a model.
"""

import argparse
import copy
import os
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "Inputs"))

import torch
from braid import _agreement, _groups
from braid.inductor import Overlap
from figures import write_json
from real_models import late, sizes
from torch_steps import Stop

MODELS = ("llama", "mixtral", "gpt_neox", "bert", "t5", "vit")
DEFAULTS = {"estimates": "braid", "machine": "h100x8"}


def start_group(ranks):
    """Makes this process one of `ranks` that look for orders in a store, though it is alone."""
    store = torch.distributed.HashStore()

    class Alone(_agreement.Store):
        def __init__(self):
            self._store = store

    late.start_group(ranks)
    _groups.has_other_ranks = lambda: True
    _agreement.Store = Alone


class Recorder:
    """A backend that computes graphs as they are, and keeps them with what is needed to compile them later."""

    def __init__(self):
        self.graphs = []

    def __call__(self, module, inputs):
        from torch._inductor.compile_fx import compile_fx

        return compile_fx(module, inputs, inner_compile=self.compile)

    def compile(self, module, example_inputs, **options):
        from torch._inductor.virtualized import V

        context = torch._guards.TracingContext.try_get()
        self.graphs.append((copy.deepcopy(module), list(example_inputs), options, V.fake_mode, context))

        def run(inputs):
            values = list(inputs)
            inputs.clear()
            return module(*values)

        run._boxed_call = True
        return run


def record(case):
    from real_models.compare import Compiled, Distributed

    recorder = Recorder()
    Distributed(case, 0).run_compiled(Compiled(), recorder)
    return recorder.graphs


def schedule(graph, overlap):
    """Compiles one of `Recorder.graphs` up to the pass; it has the schedules."""
    from torch._inductor.compile_fx import compile_fx_inner
    from torch._inductor.virtualized import V

    module, inputs, options, fake_mode, context = graph

    def run(snodes):
        overlap(snodes)
        raise Stop

    with (
        torch._inductor.config.patch(
            reorder_for_compute_comm_overlap=True, reorder_for_compute_comm_overlap_passes=[run], fx_graph_cache=False, compile_threads=1
        ),
        torch._guards.tracing(context),
        V.set_fake_mode(fake_mode),
    ):
        try:
            compile_fx_inner(copy.deepcopy(module), inputs, **options)
        except Exception as error:
            if "Stop" not in f"{type(error).__name__} {error}":
                raise


def measure(case):
    """Milliseconds of the step's graphs with collectives: as they come, by costs, and by the collectives alone."""
    times = [0, 0, 0]
    for graph in record(case):
        found = []
        for deterministic in (False, True):
            overlap = Overlap(deterministic=deterministic, **DEFAULTS)
            schedule(graph, overlap)
            if overlap.reason is not None and "no collective" not in overlap.reason:
                raise SystemExit(f"{case}: braid.inductor kept the order: {overlap.reason}")
            found.append(overlap)
        if found[0].last is not None:
            makespans = [found[0].before.makespan, found[0].last.makespan, found[1].last.makespan]
            times = [time + makespan / 1e6 for time, makespan in zip(times, makespans)]
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--parallelisms", default="ddp,fsdp,hsdp,tp,sp")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--json", help="file for the rows")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    sizes.WIDTH, sizes.HEADS, sizes.TOKENS = arguments.width, 2 * arguments.ranks, arguments.tokens
    # The models take their sizes now.
    from real_models.compare import Case
    from real_models.parallel import PARALLELISMS

    start_group(arguments.ranks)
    rows = []
    print("| model | as it comes | by costs | deterministic | by costs | deterministic |")
    print("|---|---|---|---|---|---|")
    for model in arguments.models.split(","):
        for parallelism in arguments.parallelisms.split(","):
            PARALLELISMS[parallelism].ranks = arguments.ranks
            case = Case(model, parallelism, layers=arguments.layers)
            if not (case.fits() and case.is_whole):
                continue
            before, costs, alone = measure(case)
            gains = [100 * (1 - time / before) if before else 0 for time in (costs, alone)]
            print(
                f"| {model} {parallelism} | {before:.3f} | {costs:.3f} | {alone:.3f} | {gains[0]:.1f} % | {gains[1]:.1f} % |",
                flush=True,
            )
            rows.append({"model": model, "parallelism": parallelism, "as_it_comes": before, "costs": costs, "deterministic": alone})
            if arguments.json:
                write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
