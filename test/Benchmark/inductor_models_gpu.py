#!/usr/bin/env python3
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of models of transformers on GPUs: Inductor's schedulers beside braid.inductor.

    torchrun --nproc-per-node 4 inductor_models_gpu.py --model=llama --parallelism=fsdp --tokens=4096 --output=figures

Needs GPUs (or `--device=cpu`, which tries everything but the times of GPUs), PyTorch 2.11 to 2.13, transformers and the package braid.
A step is forward, loss and backward. All variants run in turn in one process for each GPU, in a new order each round: single steps behind
a barrier, and then steps in a row. Times are medians, of the slowest rank. The kernels of one step, and which of them run
outside of compiled graphs, come from PyTorch's profiler.

`--beside=FOLDER:COUNT`, with an empty folder, lets COUNT benchmarks start at once on the same GPUs: they compile beside each other, which
is most of their time, and each measures alone.

`--reference` runs the step in float32 without a compiler as well, and gives the distance of each variant's gradients from these.

`--zero-cta=GIB` gives the program's process group NCCL's zero-CTA policy, and steps so much registered memory, so that gathers of all
variants go by copy engines.
"""

import argparse
import contextlib
import copy
import os
import random
import statistics
import sys
import time
import traceback
import types
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "Inputs"))

import torch
import torch.distributed as dist
import torch.nn.functional as F
from figures import record, write_json
from real_models.parallel import PARALLELISMS
from real_models.zoo import MODELS
from torch._inductor import config
from torch.distributed.tensor import DTensor, Replicate

WARM_UPS = 2


def attend(module, query, key, value, attention_mask, scaling=None, **_):
    """Causal attention of the whole sequence: a mask would have the length that a rank has of values between blocks."""
    # PyTorch 2.11 counts no operations of attention with grouped heads.
    key, value = (each.repeat_interleave(query.shape[1] // each.shape[1], dim=1) for each in (key, value))
    found = F.scaled_dot_product_attention(query, key, value, is_causal=True, scale=scaling)
    return found.transpose(1, 2).contiguous(), None


def make_config(parallelism, options):
    import transformers

    transformers.AttentionInterface.register("whole_sequence", attend)
    attention = "whole_sequence" if parallelism == "sp" else "sdpa"
    common = dict(
        hidden_size=options.width, num_hidden_layers=options.layers, num_attention_heads=options.heads, vocab_size=options.vocabulary,
        max_position_embeddings=options.tokens, use_cache=False, attn_implementation=attention, tie_word_embeddings=False,
    )  # fmt: skip
    if options.model == "gpt_neox":
        more = dict(intermediate_size=4 * options.width, attention_dropout=0.0, hidden_dropout=0.0)
        return transformers.GPTNeoXConfig(**common, **more)
    common |= dict(intermediate_size=options.inner, num_key_value_heads=max(options.heads // 4, 1))
    if options.model == "mixtral":
        return transformers.MixtralConfig(**common, num_local_experts=options.experts, experts_implementation="batched_mm")
    return transformers.LlamaConfig(**common)


def loss_of_step(module, tokens, positions):
    logits = module(input_ids=tokens, position_ids=positions, use_cache=False).logits
    return F.cross_entropy(logits[:, :-1].flatten(0, 1).float(), tokens[:, 1:].flatten())


def reorder(*passes):
    return {"reorder_for_compute_comm_overlap": True, "reorder_for_compute_comm_overlap_passes": list(passes)}


def get_newest():
    settings = {"enable_overlap_scheduling": True, "collective_bucketing": True, "insert_overlap_deps": True}
    return {f"aten_distributed_optimizations.{name}": value for name, value in settings.items()}


def get_async_tensor_parallel():
    """Inductor's matmuls in parts; symmetric memory of all process groups."""
    from torch.distributed import distributed_c10d as c10d
    from torch.distributed._symmetric_memory import enable_symm_mem_for_group

    for group in list(c10d._world.pg_names.values()):
        enable_symm_mem_for_group(group)
    return {"_micro_pipeline_tp": True}


def get_braid(options, **more):
    import braid.inductor

    return braid.inductor.options(machine=options.machine, profile=options.profile, **more)


#: By name what a variant sets of Inductor. A name with GRAPH behind it is the same in one CUDA graph of the whole step, one with TREES
#: with `mode="reduce-overhead"`, CUDA graphs that Inductor records.
VARIANTS = {
    "plain": lambda options: {},
    "three": lambda options: reorder("sink_waits", "raise_comms", "reorder_compute_for_overlap"),
    "newest": lambda options: get_newest(),
    "async": lambda options: get_async_tensor_parallel(),
    "order": lambda options: get_braid(options, lanes=False),
    "lanes": lambda options: get_braid(options),
    "few lanes": lambda options: get_braid(options, lanes={"all_gather": "copy", "reduce_scatter": 4, "all_reduce": 4}),
    "sums": lambda options: get_braid(options, reassociate=True),
    "all lanes": lambda options: get_braid(options, lanes=True),
    # Autograd copies gradients behind the backward.
    "lanes with copies outside": lambda options: {**get_braid(options), "joint_custom_post_pass": None},
    "careless lanes": lambda options: get_braid(options, margin=0),
}
GRAPH, TREES = " graph", " trees"


class Step:
    """The training step of a model on this rank."""

    def __init__(self, name, options, rank, device):
        self.device = device
        self.reference = None
        parallelism = PARALLELISMS[name]
        torch.manual_seed(0)
        torch.set_default_dtype(torch.bfloat16)
        import transformers

        # The host would draw billions of weights for a minute.
        with device:
            module = transformers.AutoModelForCausalLM.from_config(make_config(name, options))
        torch.set_default_dtype(torch.float32)
        self.module = parallelism.distribute(MODELS[options.model], module, dist.get_world_size(), True)
        generator = torch.Generator().manual_seed(rank if parallelism.own_inputs else 0)
        shape = (1, options.tokens)
        self.tokens = torch.randint(0, options.vocabulary, shape, generator=generator).to(device)
        self.positions = torch.arange(options.tokens, device=device)[None]
        self.pool = None
        if options.zero_cta:
            self._register(int(options.zero_cta * 2**30))

    def _register(self, size):
        """Registers so much memory with the process group, and moves parameters there, where steps allocate as well.

        It is one segment: PyTorch registers those of a pool by their addresses, whose order is another one on each rank, and NCCL takes
        the same sizes alone.
        """
        # The first collective makes the communicator.
        dist.all_reduce(torch.zeros(1, device=self.device))
        backend = dist.group.WORLD._get_backend(self.device)
        self.pool = torch.cuda.MemPool(backend.mem_allocator)
        with self.allocate():
            torch.empty(size, dtype=torch.uint8, device=self.device)
        backend.register_mem_pool(self.pool, symm=True)
        with self.allocate():
            for parameter in self.module.parameters():
                local = parameter._local_tensor if isinstance(parameter, DTensor) else parameter.data
                local.set_(local.clone())

    def allocate(self):
        """The memory that a step allocates is registered. Autograd's own threads would not take it."""
        stack = contextlib.ExitStack()
        if self.pool is not None:
            stack.enter_context(torch.cuda.use_mem_pool(self.pool))
            stack.enter_context(torch.autograd.set_multithreading_enabled(False))
        return stack

    def run(self, function):
        torch.compiler.cudagraph_mark_step_begin()
        for parameter in self.module.parameters():
            parameter.grad = None
        with self.allocate():
            loss = function(self.module, self.tokens, self.positions)
            loss.backward()
        return loss

    def get_gradients(self, module=None):
        """This rank's part of each gradient, in float32. All ranks call this together."""
        for parameter in (module or self.module).parameters():
            value = parameter.grad
            if isinstance(value, DTensor):
                # A part of a sum says nothing.
                value = value.redistribute(placements=[Replicate() if each.is_partial() else each for each in value.placements]).to_local()
            if value is not None:
                yield value.float()

    def get_digest(self, loss):
        """A text that tells bits of the loss and of the gradients. All ranks call this together."""
        bits = [value.view(torch.int32).sum(dtype=torch.int64) for value in [loss.detach().float(), *self.get_gradients()]]
        total = (torch.stack(bits) * torch.arange(1, len(bits) + 1, device=self.device)).sum()
        dist.all_reduce(total)
        return f"{total.item() & (1 << 48) - 1:012x}"

    def run_reference(self):
        """Keeps the loss and the gradients of the step in float32."""
        module = copy.deepcopy(self.module).float()
        # A copy of a DTensor has the gradient of an earlier step.
        for parameter in module.parameters():
            parameter.grad = None
        loss = loss_of_step(module, self.tokens, self.positions)
        loss.backward()
        self.reference = loss.item(), list(self.get_gradients(module))
        del module, loss
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def compare(self, loss):
        """The distances of the loss and of the gradients from those in float32, as parts of these. All ranks call this together."""
        if self.reference is None:
            return {}
        expected, gradients = self.reference
        pairs = zip(self.get_gradients(), gradients, strict=True)
        sums = torch.stack([torch.stack([(found - each).square().sum(), each.square().sum()]) for found, each in pairs])
        dist.all_reduce(sums)
        names = [name for name, parameter in self.module.named_parameters() if parameter.grad is not None]
        errors = dict(zip(names, (sums[:, 0] / sums[:, 1]).sqrt().tolist(), strict=True))
        worst = max(errors, key=errors.get)
        total = sums.sum(0)
        return {
            "loss_error": abs(loss - expected) / abs(expected),
            "gradient_error": (total[0] / total[1]).sqrt().item(),
            "worst_gradient_error": errors[worst],
            "worst_gradient": worst,
        }

    def synchronize(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()


class Variant:
    """A compiled step, and what is known of it."""

    def __init__(self, name, options):
        self.name = name
        self.patch = {"fx_graph_cache": False, **VARIANTS[name.removesuffix(TREES)](options)}
        if name.endswith(TREES):
            self.patch |= torch._inductor.list_mode_options("reduce-overhead")
        passes = self.patch.get("reorder_for_compute_comm_overlap_passes") or [None]
        self.overlap = None if isinstance(passes[0], str) else passes[0]
        # Each variant has a function of its own, because torch.compile keeps what it has compiled with the code object.
        code = loss_of_step.__code__.replace(co_name="loss_" + name.replace(" ", "_"))
        self.function = torch.compile(types.FunctionType(code, loss_of_step.__globals__), fullgraph=True)
        self.figures, self.schedules = {}, []
        if self.overlap is not None:
            # Inductor copies settings, and a method with its object.
            self.patch["reorder_for_compute_comm_overlap_passes"] = [self.overlap, lambda snodes: self._note(snodes)]

    def _note(self, snodes):
        if self.overlap.last is not None:
            self.schedules.append((self.overlap.before, self.overlap.last))
        self.figures.setdefault("notes", []).append(self.overlap.reason or self.overlap.notes)
        return snodes

    def run(self, step):
        step.run(self.function)

    def compile(self, step):
        begin = time.time()
        with config.patch(self.patch):
            for _ in range(WARM_UPS + 1):
                loss = step.run(self.function)
        step.synchronize()
        squares = sum(float(gradient.square().sum()) for gradient in step.get_gradients())
        self.figures |= {"loss": loss.item(), "squared_gradient": squares, "compile_s": time.time() - begin, "bits": step.get_digest(loss)}
        self.figures |= step.compare(loss.item())
        if self.schedules:
            for name, number in (("before", 0), ("predicted", 1)):
                self.figures[name] = sum(schedules[number].makespan for schedules in self.schedules) / 1e6
            self.figures["bound"] = sum(last.bound for _, last in self.schedules) / 1e6


class Graph:
    """A step of a compiled variant as one CUDA graph."""

    def __init__(self, variant, step):
        self.figures = {name: variant.figures[name] for name in ("before", "predicted", "bound") if name in variant.figures}
        begin = time.time()
        self.graph = torch.cuda.CUDAGraph()
        for _ in range(WARM_UPS):
            step.run(variant.function)
        step.synchronize()
        dist.barrier()
        step.synchronize()
        # Other threads, such as the watchdog of NCCL, may ask for events meanwhile.
        more = {} if step.pool is None else {"pool": step.pool.id}
        with torch.cuda.graph(self.graph, stream=torch.cuda.current_stream(), capture_error_mode="thread_local", **more):
            self.loss = step.run(variant.function)
        self.gradients = [(parameter, parameter.grad) for parameter in step.module.parameters()]
        self.run(step)
        step.synchronize()
        squares = sum(float(gradient.square().sum()) for gradient in step.get_gradients())
        loss = self.loss.item()
        self.figures |= {"loss": loss, "squared_gradient": squares, "compile_s": time.time() - begin, "bits": step.get_digest(self.loss)}
        self.figures |= step.compare(loss)

    def run(self, step):
        for parameter, gradient in self.gradients:
            parameter.grad = gradient
        self.graph.replay()


class Turns:
    """Lets benchmarks that run beside each other use the GPUs in turn. A rank waits on the host, so that the GPUs are free meanwhile."""

    #: The reference, the times of kernels, those of steps.
    PHASES = 3

    def __init__(self, beside, rank, deadline):
        folder, count = beside.rsplit(":", 1) if beside else ("", "1")
        self.folder, self.count, self.deadline = folder, int(count), deadline
        self.own, self.phase = f"{os.environ.get('MASTER_PORT')}.{rank}", 0

    @contextlib.contextmanager
    def take(self, until_all=False):
        """Begins when all benchmarks have come here, and those whose names stand before have ended. `until_all`: ends when all have ended."""
        self.phase += 1
        if self.count > 1:
            ranks = self.count * dist.get_world_size()
            self._mark("here")
            self._wait(lambda: len(self._list("here")) >= ranks)
            before = [name for name in self._list("here") if name.split(".")[0] < self.own.split(".")[0]]
            self._wait(lambda: set(before) <= set(self._list("done")))
        try:
            yield
        finally:
            if self.count > 1:
                self._mark("done")
                if until_all:
                    self._wait(lambda: len(self._list("done")) >= ranks)

    def leave(self):
        """Nobody waits any longer for this benchmark, whose ranks end."""
        port = self.own.split(".")[0]
        for self.phase in range(1, self.PHASES + 1) if self.count > 1 else ():
            for rank in range(dist.get_world_size()):
                self.own = f"{port}.{rank}"
                self._mark("here")
                self._mark("done")

    def _mark(self, word):
        with open(os.path.join(self.folder, f"{word}{self.phase}.{self.own}"), "w", encoding="utf-8"):
            pass

    def _list(self, word):
        start = f"{word}{self.phase}."
        return sorted(name.removeprefix(start) for name in os.listdir(self.folder) if name.startswith(start))

    def _wait(self, is_over):
        while not is_over() and time.time() < self.deadline:
            time.sleep(0.05)


class Run:
    """All variants of a step, and the file of their figures."""

    def __init__(self, name, options, step, rank, begin, turns):
        self.name, self.options, self.step, self.rank, self.turns = name, options, step, rank, turns
        self.variants, self.failed = {}, {}
        self.begin = begin

    def run(self):
        is_gpu = self.step.device.type == "cuda"
        asked = self.options.variants.split(",")
        # A graph is captured of a variant that is compiled, when all are.
        names = list(dict.fromkeys([*(name.removesuffix(GRAPH) for name in asked), *asked]))
        with_braid = [name for name in names if any(word in name for word in ("lanes", "order", "sums"))]
        if with_braid and is_gpu:
            # What this compile lacks of times is measured for the others.
            self.compile(with_braid[0])
        # Collectives that wait for a rank which compiles are kernels of a GPU, too.
        with self.turns.take(until_all=True):
            if with_braid and is_gpu:
                self.measure_kernels()
        with self.turns.take(until_all=True):
            if self.options.reference:
                self.step.run_reference()
        # Seconds of the longest so far, of those that compile and of those that only record a graph.
        longest = {False: 0, True: 0}
        for name in names:
            # What is compiled is to be timed.
            is_graph, function = name.endswith(GRAPH), name.removesuffix(GRAPH)
            if is_graph and function not in self.variants:
                self.failed[name] = f"left out, as {function} has not been compiled"
                continue
            if self.is_late(2 * longest[is_graph]):
                self.failed[name] = f"left out: {self.options.limit:g} s do not suffice"
                continue
            begin = time.time()
            self.compile(name)
            longest[is_graph] = max(longest[is_graph], time.time() - begin)
        with self.turns.take():
            self.measure()
            self.profile()
        self.print()

    def is_late(self, ahead=0):
        """Whether the limit will be over in `ahead` seconds, on any rank."""
        late = torch.tensor([float(time.time() + ahead - self.begin > self.options.limit)], device=self.step.device)
        dist.all_reduce(late, op=dist.ReduceOp.MAX)
        return bool(late.item())

    def compile(self, name):
        try:
            if name.endswith(GRAPH):
                self.variants[name] = Graph(self.variants[name.removesuffix(GRAPH)], self.step)
            else:
                variant = Variant(name, self.options)
                variant.compile(self.step)
                self.variants[name] = variant
        except Exception as error:  # The others may do.
            self.failed[name] = repr(error)[-400:]
            if self.rank == 0:
                traceback.print_exc(limit=-3)
        self.write()
        if self.rank == 0:
            self.print_prediction(name)

    def print_prediction(self, name):
        """Before anything is measured."""
        figures = self.variants[name].figures if name in self.variants else {}
        words = [f"{key} {figures[key]:.4g}" for key in ("before", "predicted", "bound", "compile_s") if key in figures]
        print(f"compiled {self.name}, {name}: {', '.join(words) or self.failed.get(name)}", flush=True)

    def measure_kernels(self):
        """The times of PyTorch's kernels, of what has been compiled with Braid so far."""
        from braid.inductor import kernel_times

        begin = time.time()
        count = kernel_times.measure()
        torch.cuda.empty_cache()
        if self.rank == 0:
            print(f"{count} kernels measured in {time.time() - begin:.1f} s", flush=True)

    def measure(self):
        draw, single, rows = random.Random(0), {}, {}
        names = list(self.variants)
        for number in range(self.options.rounds + 1):
            for name in draw.sample(names, len(names)):
                single.setdefault(name, []).append(self._time(name, 1))
            if self.is_late():
                break
        for _ in range(self.options.rows):
            for name in draw.sample(names, len(names)):
                rows.setdefault(name, []).append(self._time(name, 5) / 5)
            if self.is_late():
                break
        for name in names:
            times = single[name][1:] or single[name]
            values = [statistics.median(times), min(times), statistics.median(rows.get(name) or [0])]
            figures = torch.tensor(values, device=self.step.device)
            dist.all_reduce(figures, op=dist.ReduceOp.MAX)
            self.variants[name].figures |= dict(zip(("ms", "least_ms", "in_a_row_ms"), figures.tolist()))
        self.write()

    def _time(self, name, steps):
        run = self.variants[name].run
        dist.barrier()
        self.step.synchronize()
        if self.step.device.type == "cpu":
            begin = time.perf_counter()
            for _ in range(steps):
                run(self.step)
            return (time.perf_counter() - begin) * 1e3
        events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        events[0].record()
        for _ in range(steps):
            run(self.step)
        events[1].record()
        torch.cuda.synchronize()
        return events[0].elapsed_time(events[1])

    def profile(self):
        """Of one step of each variant: its kernels, and the peak memory."""
        for name, variant in self.variants.items():
            if self.is_late():
                return
            if self.step.device.type == "cuda":
                torch.cuda.reset_peak_memory_stats()
                variant.run(self.step)
                variant.figures["peak_gib"] = torch.cuda.max_memory_allocated() / 2**30
            variant.figures["kernels"] = self._get_kernels(variant)
            self.write()

    def _get_kernels(self, variant):
        from torch.profiler import ProfilerActivity, profile

        dist.barrier()
        self.step.synchronize()
        is_gpu = self.step.device.type == "cuda"
        with profile(activities=[ProfilerActivity.CPU, *[ProfilerActivity.CUDA] * is_gpu]) as found:
            begin = time.perf_counter()
            variant.run(self.step)
            host = (time.perf_counter() - begin) * 1e3
            self.step.synchronize()
        outside = {} if isinstance(variant, Graph) else get_kernels_outside(found)
        if not is_gpu:
            return {"host": host, "outside": outside}
        intervals = {False: [], True: []}
        by_name = {}
        for event in found.events():
            if event.device_type != torch.autograd.DeviceType.CUDA or getattr(event, "is_user_annotation", False):
                continue
            interval = event.time_range.start / 1e3, event.time_range.end / 1e3
            intervals[is_communication(event.name)].append(interval)
            by_name[event.name[:80]] = by_name.get(event.name[:80], 0) + interval[1] - interval[0]
        compute, communication = (unite(intervals[kind]) for kind in (False, True))
        everything = unite(compute + communication)
        length = get_length(everything)
        return {
            "compute": get_length(compute),
            "communication": get_length(communication),
            "both": get_length(compute) + get_length(communication) - length,
            "idle": everything[-1][1] - everything[0][0] - length,
            "host": host,
            "outside_ms": sum(ms for _, ms in outside.values()),
            "outside": outside,
            "longest": dict(sorted(by_name.items(), key=lambda item: -item[1])[:12]),
        }

    def write(self):
        if self.rank or not self.options.output:
            return
        found = {name: variant.figures for name, variant in self.variants.items()}
        gpu = torch.cuda.get_device_name() if self.step.device.type == "cuda" else "CPU"
        head = {"gpu": gpu, "ranks": dist.get_world_size(), "torch": torch.__version__, "options": vars(self.options)}
        write_json(f"{self.options.output}.{self.name}.json", {**head, "failed": self.failed, "variants": found})

    def print(self):
        if self.rank:
            return
        print(f"{self.options.model}, {self.name}", flush=True)
        for name, variant in self.variants.items():
            figures = dict(variant.figures)
            if "ms" in figures:
                record(f"{self.options.model} {self.name}, {name}", figures["ms"], "ms")
            kernels = figures.pop("kernels", {})
            notes = figures.pop("notes", "")
            words = [f"{key} {value}" if isinstance(value, str) else f"{key} {value:.4g}" for key, value in figures.items()]
            words += [f"{key} {value:.1f}" for key, value in kernels.items() if key not in ("longest", "outside")]
            print(f"{name}: {', '.join(words)} {notes}", flush=True)
            for kernel, (count, ms) in kernels.get("outside", {}).items():
                print(f"  outside of graphs: {ms:.3f} ms, {count} x {kernel}", flush=True)
        print(self.failed, flush=True)


def is_communication(name):
    return any(word in name for word in ("nccl", "symm", "PtoP", "barrier", "put_signal", "wait_signal"))


def get_kernels_outside(found):
    """By name (count, ms) of what a profiled step runs outside of compiled graphs: kernels, and on CPUs the ops of PyTorch."""
    events = found.profiler.kineto_results.events()
    graphs = [(each.start_ns(), each.end_ns()) for each in events if each.name().startswith("## Call CompiledFxGraph")]
    on_gpu = [each for each in events if each.device_type() == torch.autograd.DeviceType.CUDA and not each.is_user_annotation()]
    on_host = [each for each in events if each.device_type() != torch.autograd.DeviceType.CUDA]
    # A kernel has the number of the call that launches it.
    launches = {each.correlation_id(): each.start_ns() for each in on_host if each.name().startswith(("cuda", "cu"))}
    calls = [(each, launches.get(each.correlation_id())) for each in on_gpu]
    calls = calls or [(each, each.start_ns()) for each in on_host if each.name().startswith(("aten::", "c10d::", "triton"))]
    result = {}
    for each, begin in calls:
        if begin is not None and not any(start <= begin < end for start, end in graphs):
            count, ms = result.get(each.name()[:80], (0, 0))
            result[each.name()[:80]] = count + 1, ms + each.duration_ns() / 1e6
    return dict(sorted(result.items(), key=lambda item: -item[1][1])[:12])


def unite(intervals):
    """The union of intervals, as intervals that do not meet."""
    result = []
    for begin, end in sorted(intervals):
        if result and begin <= result[-1][1]:
            result[-1][1] = max(result[-1][1], end)
        else:
            result.append([begin, end])
    return result


def get_length(intervals):
    return sum(end - begin for begin, end in intervals)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=("llama", "gpt_neox", "mixtral"), default="llama")
    parser.add_argument("--parallelism", default="fsdp", help=f"of: {', '.join(PARALLELISMS)}; one after the other")
    parser.add_argument("--variants", default="plain,newest,order,lanes,newest graph,lanes graph", help=f"of: {', '.join(VARIANTS)}, each with {GRAPH!r} or {TREES!r} behind it too")
    sizes = dict(layers=4, experts=8, width=4096, inner=14336, heads=32, vocabulary=32000, tokens=4096, rounds=8, rows=3)
    for name, value in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--machine", help="the one of the GPUs unless given")
    parser.add_argument("--profile", default="auto", help='a file of braid-calibrate, "shipped", or "auto"')
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--limit", type=float, default=600, help="seconds in which variants have to be compiled and timed; what does not fit is left out")
    parser.add_argument("--beside", help="FOLDER:COUNT of benchmarks that start at once")
    parser.add_argument("--reference", action="store_true", help="compare with float32")
    parser.add_argument("--zero-cta", type=float, default=0, metavar="GIB", help="registered memory for copy engines in the program's own groups")
    parser.add_argument("--output", help="the figures go to OUTPUT.PARALLELISM.json")
    return parser.parse_args()


def main():
    options = parse_arguments()
    warnings.simplefilter("ignore")
    rank = int(os.environ["RANK"])
    is_gpu = options.device == "cuda"
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if is_gpu else torch.device("cpu")
    if is_gpu:
        torch.cuda.set_device(device)
        # Gradients are added up on the stream of the first step, which is to be that of a capture.
        torch.cuda.set_stream(torch.cuda.Stream())
    backend_options = {}
    if options.zero_cta:
        nccl = dist.ProcessGroupNCCL.Options()
        nccl.config.cta_policy = 2  # NCCL_CTA_POLICY_ZERO
        backend_options = {"pg_options": nccl}
    dist.init_process_group("nccl" if is_gpu else "gloo", **backend_options)
    begin, runs = time.time(), []
    turns = Turns(options.beside, rank, begin + options.limit)
    try:
        for name in options.parallelism.split(","):
            torch._dynamo.reset()
            run = Run(name, options, Step(name, options, rank, device), rank, begin, turns)
            # Their CUDA graphs stay: to end one may wait for collectives of another rank.
            runs.append(run)
            if not run.is_late():
                run.run()
    finally:
        turns.leave()
    # Groups whose collectives a CUDA graph has recorded do not end by themselves.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
