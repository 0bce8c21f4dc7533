#!/usr/bin/env python3
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inductor's schedulers beside braid.inductor on GPUs: milliseconds of a training step.

    torchrun --nproc-per-node 2 inductor_gpu.py [--machine NAME] [--steps "tensor parallel,..."] [--limit SECONDS]

Needs GPUs, PyTorch 2.11 to 2.13 and the package braid. Each step (test/Inputs/torch_steps.py) is compiled by Inductor
with each scheduler. All variants run in turn in one process for each GPU; the times are medians of CUDA events, the
maximum over ranks. The gradients of all variants are compared with those of the first one.

With a profile of the machine the last variant has a plan as well: limits of thread blocks and multiprocessors. On two
GPUs the groups of the hybrid step, of shards and of replicas, are both ranks: two communicators with the collectives of
a hybrid step, on a grid that is too small for one.
"""

import argparse
import contextlib
import json
import os
import statistics
import sys
import time
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "Inputs"))

import torch
import torch.distributed as dist
import torch_steps
from braid.inductor import overlap
from torch._inductor import config
from torch._inductor.compile_fx import compile_fx
from torch.fx.experimental.proxy_tensor import make_fx


def reorder(*passes):
    return {"reorder_for_compute_comm_overlap": True, "reorder_for_compute_comm_overlap_passes": list(passes)}


class Variant:
    """A step as one scheduler compiles it, and what holds while it runs."""

    def __init__(self, step, patch, plan=None):
        self.step, self.patch = step, patch
        self.active = plan.active if plan else contextlib.nullcontext
        self.function = None

    def compile(self, inputs):
        with self.active(), config.patch(fx_graph_cache=False, **self.patch):
            graph = make_fx(self.step, tracing_mode="fake", _allow_non_fake_inputs=True)(*inputs)
            self.function = compile_fx(graph, list(inputs))
            self.run(inputs)

    def run(self, inputs):
        with self.active():
            return self.function(*inputs)


def get_variants(step, options):
    """The variants without a plan, and the passes of Braid in them."""
    ordered = overlap.with_options(machine=options.machine)
    estimated = overlap.with_options(machine=options.machine, estimates="braid")
    settings = {
        "as it comes": {},
        "the seeds' three": reorder("sink_waits", "raise_comms", "reorder_compute_for_overlap"),
        "the recommended three": reorder(
            "reorder_communication_preserving_peak_memory",
            "sink_waits_iterative",
            "reorder_communication_preserving_peak_memory",
        ),
        "Inductor on FX": {"aten_distributed_optimizations.enable_overlap_scheduling": True},
        "braid": reorder(ordered),
        "braid, own estimates": reorder(estimated),
    }
    variants = {name: Variant(step, patch) for name, patch in settings.items()}
    return variants, {"braid": ordered, "braid, own estimates": estimated}


def get_planned_variant(name, step, inputs, options):
    """The variant with the plan that the model finds best, and the pass in it."""
    planner = overlap.with_options(machine=options.machine, profile=options.profile, plan=True)
    torch_steps.compile_until_scheduled(step, inputs, [planner])
    plan = planner.plan
    if plan is None:
        raise RuntimeError(f"found no plan: {planner.reason}")
    planned, _ = torch_steps.STEPS[name](
        options.layers,
        options.width,
        options.tokens,
        lambda *shape: None,
        group=plan.new_group().group_name,
        new_group=plan.new_group,
    )
    ordered = planner.with_options(plan=plan)
    return Variant(planned, reorder(ordered), plan), ordered, plan


def measure(variants, inputs, rounds):
    """Medians in ms of the compiled functions, the variants of a round in turn."""
    times = {name: [] for name in variants}
    for number in range(rounds + 3):
        for name, variant in variants.items():
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            dist.barrier()
            torch.cuda.synchronize()
            with variant.active():
                begin.record()
                variant.function(*inputs)
                end.record()
            torch.cuda.synchronize()
            if number >= 3:
                times[name].append(begin.elapsed_time(end))
    medians = torch.tensor([statistics.median(times[name]) for name in variants], device="cuda")
    dist.all_reduce(medians, op=dist.ReduceOp.MAX)
    return dict(zip(variants, medians.tolist()))


def flatten(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for one in value for tensor in flatten(one)]


def run_step(name, options):
    """Milliseconds by variant, how gradients differ, seconds of compiling, and what Braid says."""
    step, inputs = torch_steps.STEPS[name](
        options.layers,
        options.width,
        options.tokens,
        lambda *shape: torch.randn(*shape, dtype=torch.bfloat16, device="cuda") * 0.02,
    )
    variants, passes = get_variants(step, options)
    notes, seconds, compiled = {}, {}, {}
    if options.profile:
        try:
            planned, passes["braid, plan"], plan = get_planned_variant(name, step, inputs, options)
            variants["braid, plan"] = planned
        except Exception as error:  # what this version of PyTorch does not take
            notes["braid, plan"] = repr(error)[:300]
    for title, variant in variants.items():
        begin = time.time()
        try:
            variant.compile(inputs)
            compiled[title] = variant
        except Exception as error:  # a variant that this version lacks
            notes[title] = repr(error)[:300]
        seconds[title] = time.time() - begin
    for title, used in passes.items():
        if used.reason:
            notes[title] = f"kept the order: {used.reason}"
        elif used.last:
            notes[title] = {
                "predicted ms": used.last.makespan / 1e6,
                "before": used.before.makespan / 1e6,
                "bound": used.last.bound / 1e6,
            }
    if isinstance(notes.get("braid, plan"), dict):
        notes["braid, plan"].update(
            {"blocks": plan.max_ctas, "carveout": plan.carveout, "without": plan.makespan_without / 1e6}
        )
    first = [value.clone() for value in flatten(compiled["as it comes"].run(inputs))]
    differ = {}
    for title, variant in compiled.items():
        results = [value.clone() for value in flatten(variant.run(inputs))]
        if not all(torch.equal(a, b) for a, b in zip(first, results)):
            differ[title] = {
                "of the largest element": max(
                    float((a - b).abs().max() / a.abs().max().clamp(min=1e-30)) for a, b in zip(first, results)
                ),
                "repeats": all(torch.equal(a, b) for a, b in zip(results, flatten(variant.run(inputs)))),
            }
    del first
    return measure(compiled, inputs, options.rounds), differ, seconds, notes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--machine", default="h100x8")
    parser.add_argument("--profile", help='a file of braid-calibrate, or "shipped": measure a plan, too')
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--limit", type=float, default=600, help="seconds after which no further step begins")
    parser.add_argument("--steps", default=",".join(torch_steps.STEPS))
    parser.add_argument("--output", help="a file for the figures as JSON")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    begin = time.time()
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    torch.manual_seed(rank)
    found = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "ranks": dist.get_world_size()}
    for name in options.steps.split(","):
        # All ranks have to agree on whether there is time.
        late = torch.tensor([float(time.time() - begin > options.limit)], device="cuda")
        dist.all_reduce(late, op=dist.ReduceOp.MAX)
        if late.item():
            break
        times, differ, seconds, notes = run_step(name, options)
        found[name] = {"ms": times, "differ": differ, "compile_s": seconds, "notes": notes}
        torch.cuda.empty_cache()
        if rank:
            continue
        print(f"\n{name}: differences {differ}; {notes}\n\n| scheduler | ms | compile s |\n|---|---|---|")
        for variant, ms in times.items():
            print(f"| {variant} | {ms:.3f} | {seconds[variant]:.1f} |", flush=True)
        if options.output:
            with open(options.output, "w", encoding="utf-8") as stream:
                json.dump(found, stream, indent=1)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
