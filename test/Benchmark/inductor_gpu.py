#!/usr/bin/env python3
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inductor's schedulers beside braid.inductor on GPUs: milliseconds of a training step.

    torchrun --nproc-per-node 2 inductor_gpu.py [--machine NAME] [--steps "tensor parallel,..."] [--limit SECONDS]

Needs GPUs (or `--device=cpu`, which tries everything but the times of GPUs), PyTorch 2.11 to 2.13 and the package braid. Each step (test/Inputs/torch_steps.py) is compiled by Inductor
with each scheduler. All variants run in turn in one process for each GPU, in a new order each round; the times are
medians of CUDA events, the maximum over ranks. The gradients of all variants are compared with those of the first one.
Inductor chooses kernels without measuring them, so that variants differ in nothing but their order: two variants of the
same order show how much noise there is.

With a profile of the machine there is a variant that knows how collectives slow products down. On two GPUs the groups of the hybrid step, of shards and of
replicas, are both ranks: two communicators with the collectives of a hybrid step, on a grid that is too small for one.
"""

import hashlib
import os
import random
import statistics
import sys
import time
import traceback
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "Inputs"))

import torch
import torch.distributed as dist
import torch.utils._runtime_estimation
import torch_steps
from braid.inductor import overlap
from figures import record, write_json
from torch._inductor import config
from torch._inductor.compile_fx import compile_fx
from torch.fx.experimental.proxy_tensor import make_fx


class Device:
    """Where steps run, and its clock."""

    def __init__(self, kind, rank):
        self.is_gpu = kind == "cuda"
        self.device = torch.device(kind, rank) if self.is_gpu else torch.device(kind)
        if self.is_gpu:
            torch.cuda.set_device(rank)

    def get_name(self):
        return torch.cuda.get_device_name() if self.is_gpu else "CPU"

    def start_group(self):
        if self.is_gpu:
            dist.init_process_group("nccl", device_id=self.device)
        else:
            dist.init_process_group("gloo")

    def free(self):
        if self.is_gpu:
            torch.cuda.empty_cache()

    def synchronize(self):
        if self.is_gpu:
            torch.cuda.synchronize()

    def measure(self, variant, inputs):
        """Milliseconds of the device and of the host, for one run."""
        dist.barrier()
        self.synchronize()
        events = [torch.cuda.Event(enable_timing=True) for _ in range(2)] if self.is_gpu else []
        if events:
            events[0].record()
        start = time.perf_counter()
        variant.function(*inputs)
        launched = (time.perf_counter() - start) * 1e3
        if events:
            events[1].record()
        self.synchronize()
        return (events[0].elapsed_time(events[1]) if events else launched), launched

    def get_peak_mib(self, variant, inputs):
        if not self.is_gpu:
            return 0.0
        torch.cuda.reset_peak_memory_stats()
        variant.run(inputs)
        return torch.cuda.max_memory_allocated() / 2**20


def reorder(*passes):
    return {"reorder_for_compute_comm_overlap": True, "reorder_for_compute_comm_overlap_passes": list(passes)}


class Variant:
    """A step as one scheduler compiles it."""

    #: Inductor chooses kernels by measuring them, which makes variants differ in more than their order.
    measures_kernels = False

    def __init__(self, step, patch):
        self.step, self.patch = step, dict(patch)
        self.function = self.digest = None
        passes = self.patch.get("reorder_for_compute_comm_overlap_passes")
        if passes:
            self.patch.update(reorder(*passes, lambda snodes: self.record(snodes)))
        elif not self.patch and not self.measures_kernels:
            # Inductor's overlap on FX graphs does not run in this mode.
            self.patch["deterministic"] = True

    def record(self, snodes):
        """The last pass over scheduler nodes: remembers a digest of the order."""
        self.digest = hashlib.sha256(" ".join(snode.get_name() for snode in snodes).encode()).hexdigest()[:8]
        if not self.measures_kernels:
            # Before, this would keep Inductor from calling any of these passes.
            config.deterministic = True
        return snodes

    def compile(self, inputs):
        patch = {"fx_graph_cache": False, "deterministic": False, **self.patch}
        if not self.measures_kernels:
            patch["triton.autotune_pointwise"] = False
        with config.patch(patch):
            graph = make_fx(self.step, tracing_mode="fake", _allow_non_fake_inputs=True)(*inputs)
            self.function = compile_fx(graph, list(inputs))
            self.run(inputs)

    def capture(self, inputs):
        """Makes a CUDA graph of it, which the host launches at once."""
        graph = torch.cuda.CUDAGraph()
        # Other threads, such as the watchdog of NCCL, may ask for events meanwhile.
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            results = self.function(*inputs)

        def replay(*_):
            graph.replay()
            return results

        self.function = replay

    def run(self, inputs):
        return self.function(*inputs)


def get_overlap_on_graphs(options, **settings):
    """Inductor's overlap on FX graphs, which estimates costs with what it knows about a GPU."""
    settings["enable_overlap_scheduling"] = True
    if options.device == "cpu":
        # The pass would measure a GPU, and asks for its memory.
        settings.update({"enable_fusion_regions": False, "compute_estimator": "analytical"})
        torch.utils._runtime_estimation.get_gpu_dram_gbps = lambda: 100
    return {f"aten_distributed_optimizations.{name}": value for name, value in settings.items()}


def get_variants(step, options):
    """The variants, and the passes of Braid in them."""
    passes = {"braid, no contention": overlap.with_options(machine=options.machine, profile=None)}
    if options.profile:
        passes["braid"] = overlap.with_options(machine=options.machine, profile=options.profile)
    settings = {
        "as it comes": {},
        "Inductor's three": reorder("sink_waits", "raise_comms", "reorder_compute_for_overlap"),
        "the recommended three": reorder(
            "reorder_communication_preserving_peak_memory",
            "sink_waits_iterative",
            "reorder_communication_preserving_peak_memory",
        ),
        "Inductor on FX": get_overlap_on_graphs(options),
        "Inductor's buckets": get_overlap_on_graphs(options, collective_bucketing=True, insert_overlap_deps=True),
        **{name: reorder(ordered) for name, ordered in passes.items()},
    }
    wanted = options.variants or list(settings)
    unknown = [name for name in wanted if name not in settings]
    if unknown:
        raise SystemExit(f"--variants: found {', '.join(unknown)}, expected some of {', '.join(settings)}")
    return {name: Variant(step, patch) for name, patch in settings.items() if name in wanted}, passes


def measure(variants, inputs, rounds, device):
    """By name of the compiled functions: the medians of device and host in ms, and the quartiles of the device.

    The variants of a round run in turn, in an order that each round draws anew, the same on all ranks.
    """
    times, host = {name: [] for name in variants}, {name: [] for name in variants}
    draw = random.Random(0)
    for number in range(rounds + 3):
        for name in draw.sample(list(variants), len(variants)):
            device_ms, host_ms = device.measure(variants[name], inputs)
            if number >= 3:
                times[name].append(device_ms)
                host[name].append(host_ms)
    figures = [[statistics.median(host[name]), *statistics.quantiles(times[name], n=4)] for name in variants]
    figures = torch.tensor(figures, device=device.device)
    dist.all_reduce(figures, op=dist.ReduceOp.MAX)
    names = ("host_ms", "first_quartile", "ms", "third_quartile")
    return {name: dict(zip(names, row)) for name, row in zip(variants, figures.tolist())}


def flatten(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for one in value for tensor in flatten(one)]


def run_step(name, options, device):
    """Figures by variant, how gradients differ, and what Braid says."""
    step, inputs = torch_steps.STEPS[name](
        options.layers,
        options.width,
        options.tokens,
        lambda *shape: torch.randn(*shape, dtype=torch.bfloat16, device=device.device) * 0.02,
    )
    variants, passes = get_variants(step, options)
    notes, seconds, compiled = {}, {}, {}
    for title, variant in variants.items():
        begin = time.time()
        try:
            variant.compile(inputs)
            compiled[title] = variant
        except Exception as error:  # a variant that this version lacks
            traceback.print_exc()
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
    del first, results
    if options.graphs:
        for variant in compiled.values():
            variant.capture(inputs)
    found = measure(compiled, inputs, options.rounds, device)
    for title, figures in found.items():
        figures["peak_mib"] = device.get_peak_mib(compiled[title], inputs)
        figures["order"] = compiled[title].digest
        figures["compile_s"] = seconds[title]
    return found, differ, notes


def main():
    parser = torch_steps.make_parser(__doc__)
    parser.add_argument("--profile", help='a file of braid-calibrate, or "shipped"')
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument(
        "--measure-kernels",
        action="store_true",
        help="let Inductor choose kernels by measuring them, as it does unless told otherwise",
    )
    parser.add_argument("--graphs", action="store_true", help="measure CUDA graphs, which take the host little time")
    parser.add_argument("--limit", type=float, default=600, help="seconds after which no further step begins")
    parser.add_argument("--steps", default=",".join(torch_steps.STEPS))
    parser.add_argument(
        "--variants", type=lambda names: names.split(","), help='some of them, "as it comes" among these: names with commas between'
    )
    parser.add_argument("--output", help="a file for the figures as JSON")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    begin = time.time()
    rank = int(os.environ["LOCAL_RANK"])
    device = Device(options.device, rank)
    device.start_group()
    torch.manual_seed(rank)
    Variant.measures_kernels = options.measure_kernels
    found = {"gpu": device.get_name(), "torch": torch.__version__, "ranks": dist.get_world_size()}
    for name in options.steps.split(","):
        # All ranks have to agree on whether there is time.
        late = torch.tensor([float(time.time() - begin > options.limit)], device=device.device)
        dist.all_reduce(late, op=dist.ReduceOp.MAX)
        if late.item():
            break
        figures, differ, notes = run_step(name, options, device)
        found[name] = {"figures": figures, "differ": differ, "notes": notes}
        device.free()
        if rank:
            continue
        print(f"\n{name}: differences {differ}; {notes}\n")
        print("| scheduler | ms | quartiles | host ms | peak MiB | compile s | order |\n|---|---|---|---|---|---|---|")
        for variant, row in figures.items():
            record(f"{name}, {variant}", row["ms"], "ms")
            print(
                f"| {variant} | {row['ms']:.3f} | {row['first_quartile']:.3f} to {row['third_quartile']:.3f} "
                f"| {row['host_ms']:.3f} | {row['peak_mib']:.0f} | {row['compile_s']:.1f} | {row['order']} |",
                flush=True,
            )
        if options.output:
            write_json(options.output, found)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
