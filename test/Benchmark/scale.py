#!/usr/bin/env python3
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of Llama-like models on clusters of up to thousands of GPUs, predicted.

    scale.py [--model=8b] [--gpus=8,64,512,4096] [--shard=0] [--tp=1] [--tokens=16384] [--sequence=8192]
             [--recompute=none|attention|all] [--machine=h100x8] [--profile=auto] [--effort=low]
    scale.py --results=docs/performance/results/scale.json

All ranks run the same program, so one rank is simulated. Its groups are ranks with a stride: those of tensor
parallelism (with sequence parallelism) are neighbours; those that shard weights (--shard, 0: all) are as many ranks
apart as tensor parallelism takes, and replicas of the shards (HSDP) as many as both take. The machine says which
groups leave a node or a leaf switch. A line is one step of `tokens` a data-parallel rank:

    in a row      each collective where its operands are made, its wait right behind its start
    FSDP's order  that of FSDP2: gathers start a layer early, reductions are awaited a layer late
    Braid         the order that braid.schedule finds in the memory of the machine
    one a weight  the same with a gather and a reduction for each weight, not for each layer
    in two steps  the same with gathers and reductions between nodes and within them, one after the other
"""

import argparse
import json
import tempfile
import time
from dataclasses import dataclass, replace

from braid import schedule
from figures import write_json


@dataclass(frozen=True)
class Model:
    """Sizes of a model, whose weights have 2 bytes an element."""

    layers: int
    width: int
    hidden: int
    key_width: int
    vocabulary: int
    #: Matrices of the MLP: 3 with a gate, else 2.
    matrices: int = 3

    def weights(self):
        """The rows and columns of the weights of a layer, by how tensor parallelism splits them."""
        whole = {"qkv": (self.width, self.width + 2 * self.key_width), "out": (self.width, self.width)}
        return whole | {"up": (self.width, (self.matrices - 1) * self.hidden), "down": (self.hidden, self.width)}

    def parameters(self):
        return self.layers * sum(rows * columns for rows, columns in self.weights().values()) + (
            2 * self.vocabulary * self.width
        )


MODELS = {
    "8b": Model(32, 4096, 14336, 1024, 128256),
    "70b": Model(80, 8192, 28672, 1024, 128256),
    "405b": Model(126, 16384, 53248, 1024, 128256),
    # MosaicML's MPT: no gate, as many heads for keys as for queries.
    "mpt-1b": Model(24, 2048, 8192, 2048, 50368, 2),
    "mpt-3b": Model(32, 2560, 10240, 2560, 50368, 2),
    "mpt-13b": Model(40, 5120, 20480, 5120, 50368, 2),
    "mpt-30b": Model(48, 7168, 28672, 7168, 50368, 2),
    "mpt-70b": Model(64, 9216, 36864, 9216, 50368, 2),
}


@dataclass(frozen=True)
class Setting:
    """What is trained where; `tokens` of a data-parallel rank, in sequences of `sequence`."""

    model: Model
    machine: schedule.Machine
    gpus: int
    shard: int
    tp: int = 1
    tokens: int = 16384
    sequence: int = 8192
    recompute: str = "attention"
    element: str = "bf16"
    #: Steps that share one update of the weights.
    accumulate: int = 1
    #: How collectives are launched: one a weight, one a layer, one a layer in two steps.
    form: str = "combined"
    #: The order in which nodes are added.
    prefetches: bool = False


class Step:
    """Builds the graph of a step of one rank."""

    def __init__(self, setting):
        self.setting, self.machine, self.model = setting, setting.machine, setting.model
        self.graph = schedule.Graph(live_bytes=self.state_bytes())
        self.costs, self.waits, self.last = {}, [], None
        large = self.machine.matmul(8192, 8192, 8192)
        #: Operations in a ns of large matmuls.
        self.rate = 2 * 8192**3 / large.ns

    def state_bytes(self):
        """Weights, gradients and two moments in f32 on this rank."""
        return 16 * self.model.parameters() // (self.setting.shard * self.setting.tp)

    # Compute.

    def compute(self, name, ns, demand, after, size=0):
        after = [node for node in [*after, self.last] if node]
        self.last = self.graph.compute(name, ns, demand=demand, after=after, bytes=size)
        return self.last

    def matmul(self, name, rows, columns, depth, after=(), size=0):
        key = rows, columns, depth
        if key not in self.costs:
            self.costs[key] = self.machine.matmul(rows, columns, depth, self.setting.element)
        return self.compute(name, self.costs[key].ns, self.costs[key], after, size)

    def elementwise(self, name, size, after=()):
        return self.compute(name, size / self.machine.memory_bandwidth * 1e9, {"memory_bytes": size}, after)

    def attention(self, name, matmuls, part):
        """Causal attention, whose `matmuls` reach the `part` of a large matmul's rate (docs/design/cost-models.md)."""
        operations = matmuls * self.setting.tokens * self.setting.sequence * self.model.width / self.setting.tp
        ns = operations / (self.rate * part)
        return self.compute(name, ns, {"arithmetic_ns": ns}, ())

    # Collectives.

    def collective(self, name, kind, whole, ranks, stride, lane, after=()):
        """Starts a collective of `whole` bytes; a shard of it is `whole` / `ranks`."""
        if ranks <= 1:
            return None
        part = whole // ranks
        sizes = {"all_gather": (part, whole), "reduce_scatter": (whole, part), "all_reduce": (whole, whole)}[kind]
        key = kind, whole, ranks, stride
        if key not in self.costs:
            self.costs[key] = self.machine.collective(kind, *sizes, ranks=ranks, stride=stride)
        found = self.costs[key]
        return self.graph.start(
            name, found.ns, lane=f"{lane}, {found.link}", link=found.link, bytes=sizes[1], after=after, demand=found
        )

    def wait(self, start, name=None):
        return self.graph.wait(name or f"{start.name} waits", start) if start else None

    def split(self, ranks, stride):
        """The strides and sizes of the two steps of a collective, or None if it has one."""
        inside = max(1, self.machine.ranks_per_node // stride)
        if self.setting.form != "split" or inside <= 1 or ranks <= inside:
            return None
        return (ranks // inside, stride * inside), (inside, stride)

    def parts(self, weights):
        """The launches for weights of so many elements."""
        return weights if self.setting.form == "single" else [sum(weights)]

    def gather(self, name, weights):
        """Starts the gathers of a layer's weights; call what it returns to await them."""
        tp, shard = self.setting.tp, self.setting.shard
        starts = []
        for index, elements in enumerate(self.parts(weights)):
            whole = 2 * elements // tp
            steps = self.split(shard, tp)
            if steps:
                (across, far), (inside, near) = steps
                first = self.collective(f"{name}.{index} across", "all_gather", whole // inside, across, far, "shard")
                starts.append((index, whole, inside, near, first))
            else:
                starts.append(self.collective(f"{name}.{index}", "all_gather", whole, shard, tp, "shard"))

        def await_all():
            result = []
            for start in starts:
                if isinstance(start, tuple):
                    index, whole, inside, near, first = start
                    ready = self.wait(first)
                    start = self.collective(f"{name}.{index} inside", "all_gather", whole, inside, near, "node", [ready])
                result.append(self.wait(start))
            return [node for node in result if node]

        return await_all

    def reduce(self, name, weights, after):
        """Reduces gradients in f32 over shards and replicas; call what it returns to await them."""
        tp, shard, replicas = self.setting.tp, self.setting.shard, self.setting.gpus // (
            self.setting.tp * self.setting.shard
        )
        starts = []
        for index, elements in enumerate(self.parts(weights)):
            whole, ready = 4 * elements // tp, after
            steps = self.split(shard, tp)
            if steps:
                (across, far), (inside, near) = steps
                first = self.collective(f"{name}.{index} inside", "reduce_scatter", whole, inside, near, "node", ready)
                ready = [self.wait(first)]
                start = self.collective(
                    f"{name}.{index} across", "reduce_scatter", whole // inside, across, far, "shard", ready
                )
            else:
                start = self.collective(f"{name}.{index}", "reduce_scatter", whole, shard, tp, "shard", ready)
            if replicas > 1:
                ready = [self.wait(start)] if start else after
                start = self.collective(
                    f"{name}.{index} replicas", "all_reduce", whole // shard, replicas, tp * shard, "replicas", ready
                )
            starts.append(start)
        return lambda: self.waits.extend(self.wait(start) for start in starts if start)

    def exchange(self, name, kind):
        """A gather or a reduction of activations in tensor parallelism, which the next op needs."""
        whole = 2 * self.setting.tokens * self.model.width
        after = [self.last] if self.last else []
        start = self.collective(name, kind, whole, self.setting.tp, 1, "tensor", after)
        return [self.wait(start)] if start else []

    # Layers.

    def shapes(self):
        """The rows and columns of a layer's weights on this rank."""
        tp, result = self.setting.tp, {}
        for name, (rows, columns) in self.model.weights().items():
            result[name] = (rows // tp, columns) if name in ("out", "down") else (rows, columns // tp)
        return result

    def forward(self, layer, weights, saved=0):
        tokens, width, tp = self.setting.tokens, self.model.width, self.setting.tp
        shapes, hidden = self.shapes(), self.model.hidden // tp
        self.elementwise(f"{layer} norm", 2 * 2 * tokens * width // tp)
        self.matmul(f"{layer} qkv", tokens, shapes["qkv"][1], width, weights + self.exchange(f"{layer} ag1", "all_gather"), saved)
        block = self.last
        self.attention(f"{layer} attention", 2, 0.5)
        self.matmul(f"{layer} out", tokens, width, shapes["out"][0])
        self.elementwise(f"{layer} norm2", 5 * 2 * tokens * width // tp, self.exchange(f"{layer} rs1", "reduce_scatter"))
        self.matmul(f"{layer} up", tokens, shapes["up"][1], width, self.exchange(f"{layer} ag2", "all_gather"))
        self.elementwise(f"{layer} act", self.model.matrices * 2 * tokens * hidden)
        self.matmul(f"{layer} down", tokens, width, hidden)
        self.elementwise(f"{layer} add", 3 * 2 * tokens * width // tp, self.exchange(f"{layer} rs2", "reduce_scatter"))
        return block

    def backward(self, layer, weights, saved):
        """The gradients of a layer; `saved` is the node whose result they read."""
        tokens, width, tp = self.setting.tokens, self.model.width, self.setting.tp
        shapes, hidden = self.shapes(), self.model.hidden // tp
        recompute = self.setting.recompute
        after = [*weights, saved]
        if recompute == "all":
            self.forward(f"{layer} again", weights)
        gradients = []

        def both(name, rows, columns):
            self.matmul(f"{layer} d{name}", tokens, rows, columns, after)
            gradients.append(self.matmul(f"{layer} w{name}", rows, columns, tokens, after, 2 * rows * columns))

        self.exchange(f"{layer} dag2", "all_gather")
        both("down", hidden, width)
        self.elementwise(f"{layer} dact", (2 * self.model.matrices - 1) * 2 * tokens * hidden)
        both("up", width, shapes["up"][1])
        self.elementwise(f"{layer} dnorm2", 6 * 2 * tokens * width // tp, self.exchange(f"{layer} drs2", "reduce_scatter"))
        self.exchange(f"{layer} dag1", "all_gather")
        both("out", width // tp, width)
        if recompute == "attention":
            self.attention(f"{layer} attention again", 2, 0.5)
        self.attention(f"{layer} dattention", 5, 0.4)
        both("qkv", width, shapes["qkv"][1])
        self.elementwise(f"{layer} dnorm", 6 * 2 * tokens * width // tp, self.exchange(f"{layer} drs1", "reduce_scatter"))
        return gradients

    def saved_bytes(self):
        """Activations of a layer that wait for the backward pass."""
        tokens, tp = self.setting.tokens, self.setting.tp
        if self.setting.recompute == "all":
            return 2 * tokens * self.model.width // tp
        return 2 * tokens * (6 * self.model.width + self.model.matrices * self.model.hidden) // tp

    def build(self):
        model, setting = self.model, self.setting
        layer = [rows * columns for rows, columns in model.weights().values()]
        table = [model.vocabulary * model.width]
        units = [("table", table), *((f"layer {i}", layer) for i in range(model.layers)), ("head", table)]
        backward = list(reversed(units[1:]))
        visits = [(name, weights, False) for name, weights in units]
        visits += [(f"{name} back", weights, True) for name, weights in backward]
        ahead = {}
        saved, pending = {}, []
        for place, (name, weights, is_back) in enumerate(visits):
            arrives = ahead.pop(place, None) or self.gather(f"{name} gather", weights)
            ready = arrives()
            if setting.prefetches and place + 1 < len(visits):
                ahead[place + 1] = self.gather(f"{visits[place + 1][0]} gather", visits[place + 1][1])
            gradients = self.visit(name, ready, is_back, saved)
            if is_back:
                done = self.reduce(f"{name} reduce", weights, gradients)
                for before in pending:
                    before()
                pending = [done]
                if not setting.prefetches:
                    pending.pop()()
        for before in pending:
            before()
        # Adam reads and writes the state in f32, once for all accumulated steps.
        size = 2 * self.state_bytes() // setting.accumulate
        self.elementwise("update", size, [wait for wait in self.waits if wait])
        return self.graph

    def visit(self, name, ready, is_back, saved):
        model, tokens, tp = self.model, self.setting.tokens, self.setting.tp
        if name == "table":
            self.elementwise(name, 2 * 2 * tokens * model.width // tp, ready)
            return []
        if name.startswith("head"):
            columns = model.vocabulary // tp
            if not is_back:
                self.matmul(name, tokens, columns, model.width, ready, 2 * tokens * columns)
                self.elementwise("loss", 10 * tokens * columns)
                return []
            self.matmul("head d", tokens, model.width, columns, ready)
            return [self.matmul("head w", model.width, columns, tokens, (), 2 * model.width * columns)]
        if not is_back:
            saved[name] = self.forward(name, ready, self.saved_bytes())
            return []
        return self.backward(name, ready, saved[name.removesuffix(" back")])


def predict(setting, effort, forms=("combined", "single", "split")):
    """The milliseconds of a setting by order and form of launches, and figures of Braid's order."""

    def build(**change):
        graph = Step(replace(setting, **change)).build()
        return graph, schedule.schedule(graph, setting.machine, algorithm="list").program

    begin = time.monotonic()
    row = build()[1]
    result = {"row": row.makespan / 1e6, "row_exposed": row.exposed / 1e6}
    for form in forms:
        graph, order = build(prefetches=True, form=form)
        # Memory as FSDP's order takes it, or what is free on the GPU.
        limit = max(order.peak, int(0.95 * setting.machine.memory_bytes))
        found = schedule.schedule(graph, setting.machine, max_memory=limit, effort=effort)
        result[form] = found.makespan / 1e6
        if form == "combined":
            result |= {"prefetched": order.makespan / 1e6, "exposed": found.exposed / 1e6, "bound": found.bound / 1e6}
            result |= {"peak": found.peak / 2**30, "nodes": len(graph)}
    result["seconds"] = time.monotonic() - begin
    result["rate"] = setting.tokens / setting.tp / min(result[form] for form in forms) * 1e3
    return result


TITAN = "pytorch/torchtitan benchmarks/llama3_h100_202412_torchtitan.md"
TRAINY = "pytorch/torchtitan benchmarks/llama3_8b_h200_2025-06_torchtitan.md"
MOSAIC = "mosaicml/llm-foundry scripts/train/benchmarking/README.md"
#: Published tokens/s/GPU: the model, GPUs, ranks of tensor parallelism, tokens and their sequences, what is computed
#: again, the steps of an update, elements of matmuls, the machine, the figure, and its source.
PUBLISHED = [
    ("8b", 8, 1, 16384, 8192, "attention", 1, "bf16", "h100x8", 6667, TITAN),
    ("8b", 128, 1, 16384, 8192, "attention", 1, "bf16", "h100x8", 6514, TITAN),
    ("8b", 32, 1, 16384, 8192, "attention", 1, "f8", "h200x8", 10938, TRAINY),
    ("8b", 64, 1, 16384, 8192, "attention", 1, "f8", "h200x8", 10753, TRAINY),
    ("70b", 256, 8, 131072, 8192, "all", 1, "f8", "h100x8", 829, TITAN),
    ("mpt-1b", 16, 1, 40960, 2048, "none", 1, "bf16", "h100x8", 46037, MOSAIC),
    ("mpt-1b", 64, 1, 40960, 2048, "none", 1, "bf16", "h100x8", 44402, MOSAIC),
    ("mpt-13b", 8, 1, 4096, 2048, "none", 1, "bf16", "h100x8", 4792, MOSAIC),
    ("mpt-13b", 64, 1, 4096, 2048, "none", 1, "bf16", "h100x8", 4800, MOSAIC),
    ("mpt-30b", 32, 1, 28672, 2048, "all", 3, "bf16", "h100x8", 2308, MOSAIC),
    ("mpt-70b", 64, 1, 16384, 2048, "all", 4, "bf16", "h100x8", 1039, MOSAIC),
]
#: Other steps: the model, GPUs, shards (0: all), ranks of tensor parallelism, tokens, what is computed again, the
#: ports of a leaf switch whose spine has a quarter of the bandwidth (0: none).
WHAT_IF = [
    *(("8b", gpus, 0, 1, 16384, "attention", 0) for gpus in (8, 64, 512, 4096)),
    *(("8b", 4096, 64, 1, 16384, "attention", ports) for ports in (0, 64)),
    *(("8b", gpus, 0, 1, 4096, "attention", 0) for gpus in (64, 512)),
    *(("70b", gpus, 0, 8, 32768, "all", 0) for gpus in (512, 4096)),
    ("405b", 4096, 0, 8, 16384, "all", 0),
]


def get_machine(options, leaf_ports=0):
    """The machine of the options, with a spine behind leaf switches of so many ports."""
    if not leaf_ports:
        return schedule.Machine(options.machine, options.profile)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        network = {"leaf_ports": leaf_ports, "oversubscription": 4}
        json.dump({"base": options.machine, "name": options.machine, "network": network}, file)
        file.flush()
        # A file is another machine, unless it says that its GPUs are those of a profile.
        return schedule.Machine(file.name, "shipped" if options.profile == "auto" else options.profile)


def name_layout(gpus, shard, tp):
    """How a model is spread, as its users call it."""
    shards = shard or gpus // tp
    name = f"FSDP {shards}" if shards * tp == gpus else f"HSDP {gpus // (shards * tp)}x{shards}"
    return name + (f", TP {tp}" if tp > 1 else "")


def write_results(options):
    """Writes the rows of the tables of docs/performance/scale.md into the file of the options."""
    with open(options.results, encoding="utf-8") as file:
        results = json.load(file)
    rows = []
    for name, gpus, tp, tokens, sequence, recompute, accumulate, element, machine, published, source in PUBLISHED:
        setting = Setting(MODELS[name], schedule.Machine(machine), gpus, gpus // tp, tp, tokens, sequence, recompute,
                          element, accumulate)
        found = predict(setting, options.effort, forms=("combined",))
        # What is published has the order of FSDP.
        speed = tokens / tp / found["prefetched"] * 1e3
        rows.append({"kind": "published", "step": f"{name}, {name_layout(gpus, 0, tp)}", "gpus": gpus, "rate": speed,
                     "element": element, "machine": machine, "published": published, "source": source})
    for name, gpus, shard, tp, tokens, recompute, ports in WHAT_IF:
        setting = Setting(MODELS[name], get_machine(options, ports), gpus, shard or gpus // tp, tp, tokens, 8192, recompute)
        if tokens < setting.sequence:
            setting = replace(setting, sequence=tokens)
        step = f"{name}, {name_layout(gpus, shard, tp)}, {tokens:,} tokens" + (", spine 4:1" if ports else "")
        rows.append({"kind": "what-if", "step": step, "gpus": gpus} | predict(setting, options.effort))
    results["rows"] = [{key: round(value, 2) if isinstance(value, float) else value for key, value in row.items()}
                       for row in rows]
    write_json(options.results, results)


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--model", default="8b", choices=MODELS)
    parser.add_argument("--gpus", default="8,64,512,4096")
    parser.add_argument("--shard", type=int, default=0)
    parser.add_argument("--tp", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=16384)
    parser.add_argument("--sequence", type=int, default=8192)
    parser.add_argument("--recompute", default="attention", choices=("none", "attention", "all"))
    parser.add_argument("--machine", default="h100x8")
    parser.add_argument("--profile", default="auto")
    parser.add_argument("--effort", default="low", choices=("low", "default", "high"))
    parser.add_argument("--results")
    return parser.parse_args(arguments)


def main():
    options = parse()
    if options.results:
        return write_results(options)
    machine = get_machine(options)
    print("| GPUs | in a row, ms | FSDP's order | Braid | one a weight | in two steps | exposed | bound | tokens/s/GPU | s |")
    print("|---" * 10 + "|")
    for gpus in map(int, options.gpus.split(",")):
        shard = options.shard or gpus // options.tp
        if gpus % (shard * options.tp):
            raise SystemExit(f"found {gpus} GPUs, expected a multiple of {shard} shards of {options.tp} ranks")
        setting = Setting(MODELS[options.model], machine, gpus, shard, options.tp, options.tokens, options.sequence,
                          options.recompute)
        found = predict(setting, options.effort)
        cells = [found[name] for name in ("row", "prefetched", "combined", "single", "split", "exposed", "bound")]
        print(f"| {gpus} | " + " | ".join(f"{value:.1f}" for value in cells) +
              f" | {found['rate']:.0f} | {found['seconds']:.1f} |", flush=True)


if __name__ == "__main__":
    main()
