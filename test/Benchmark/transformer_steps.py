#!/usr/bin/env python3
"""Writes a training step of a transformer as one rank of an SPMD program runs it.

    transformer_steps.py STRATEGY [--layers=16] [--micro-batches=1] [--ranks=8]
        [--nodes=1] [--vary=SEED] > step.mlir

STRATEGY is how the step is split between ranks:

    ddp   every rank has all weights; an all-reduce a layer in the backward pass
    fsdp  weights are sharded over all ranks: all-gather before, reduce-scatter
          after each layer, in the backward pass once more
    hsdp  sharded within a node, replicated across nodes: two communicators
    tp    every matrix is split over the ranks: an all-reduce after attention and
          after the MLP, forward and backward
    tp-sp the same with sequence parallelism: all-gather before, reduce-scatter
          after, instead of each all-reduce
    moe   experts are spread over the ranks: all-to-all before and after the MLP
    pp    a stage of a pipeline: receives from the rank before, sends to the next

Everything is written in the order that a tracer would write it: each collective
where its operands are made, each wait right behind its start, micro-batches one
after the other. bf16. --vary draws the width of each layer's MLP anew, so that
no two layers cost the same.
"""

import argparse
import random
import sys

STRATEGIES = ["ddp", "fsdp", "hsdp", "tp", "tp-sp", "moe", "pp"]
HEADER = """#rows = affine_map<(m, n, k) -> (m, k)>
#rows_t = affine_map<(m, n, k) -> (k, m)>
#columns = affine_map<(m, n, k) -> (k, n)>
#columns_t = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>
"""


def tensor(rows, columns):
    return f"tensor<{rows}x{columns}xbf16>"


class Step:
    """The text of a function that is written op by op. A value is a name with
    its rows and columns."""

    def __init__(self, options):
        self.options = options
        self.arguments, self.lines, self.results = [], [], []
        self.count = 0

    def name(self, what):
        self.count += 1
        return f"%{what}{self.count}"

    def argument(self, what, rows, columns):
        value = (self.name(what), rows, columns)
        self.arguments.append(f"{value[0]}: {tensor(rows, columns)}")
        return value

    def emit(self, text):
        self.lines.append("  " + text)

    def matmul(self, a, b, transpose_a=False, transpose_b=False):
        """a b, either of them transposed."""
        rows, depth = (a[2], a[1]) if transpose_a else a[1:]
        other, columns = (b[2], b[1]) if transpose_b else b[1:]
        assert depth == other, (a, b)
        kind = tensor(rows, columns)
        empty, result = self.name("e"), self.name("m")
        self.emit(f"{empty} = tensor.empty() : {kind}")
        maps = ["#rows_t" if transpose_a else "#rows", "#columns_t" if transpose_b else "#columns", "#result"]
        self.emit(f"{result} = linalg.matmul indexing_maps = [{', '.join(maps)}] "
                  f"ins({a[0]}, {b[0]} : {tensor(*a[1:])}, {tensor(*b[1:])}) outs({empty} : {kind}) -> {kind}")
        return (result, rows, columns)

    def pointwise(self, op, *operands):
        result = self.name("p")
        self.emit(f"{result} = {op} {', '.join(value[0] for value in operands)} : {tensor(*operands[0][1:])}")
        return (result, *operands[0][1:])

    def fused(self, kernel, operands, rows, columns):
        """A fused kernel, such as attention: it reads its operands and writes its result."""
        result = self.name("k")
        types = ", ".join(tensor(*value[1:]) for value in operands)
        self.emit(f'{result} = comm.compute "{kernel}"({", ".join(value[0] for value in operands)}) '
                  f": ({types}) -> {tensor(rows, columns)}")
        return (result, rows, columns)

    def collective(self, text, operands, shapes, group, label, suffix=""):
        """One launch for all operands, and a wait for each."""
        token = self.name("t")
        several = f":{len(operands)}" if len(operands) > 1 else ""
        given = ", ".join(tensor(*value[1:]) for value in operands)
        made = ", ".join(tensor(*shape) for shape in shapes)
        types = given if given == made else f"{given} -> {made}"
        self.emit(f'{token}{several} = comm.{text} {", ".join(value[0] for value in operands)} on @{group}{suffix} '
                  f'{{comm.label = "{label}"}} : {types}')
        results = []
        for index, shape in enumerate(shapes):
            result = self.name("r")
            source = f"{token}#{index}" if several else token
            self.emit(f"{result} = comm.wait {source} : !comm.token<{tensor(*shape)}>")
            results.append((result, *shape))
        return results

    def all_reduce(self, operands, group, label):
        return self.collective("all_reduce sum", operands, [value[1:] for value in operands], group, label)

    def all_gather(self, operands, group, size, label):
        shapes = [(value[1] * size, value[2]) for value in operands]
        return self.collective("all_gather", operands, shapes, group, label, " dim 0")

    def reduce_scatter(self, operands, group, size, label):
        shapes = [(value[1] // size, value[2]) for value in operands]
        return self.collective("reduce_scatter sum", operands, shapes, group, label, " dim 0")

    def all_to_all(self, operand, group, label):
        return self.collective("all_to_all", [operand], [operand[1:]], group, label)[0]

    def text(self):
        ranks, per_node = self.options.ranks, self.options.ranks // self.options.nodes
        nodes = [list(range(first, first + per_node)) for first in range(0, ranks, per_node)]
        across = [list(range(first, ranks, per_node)) for first in range(per_node)]
        body = "\n".join(self.lines)
        results = ", ".join(value[0] for value in self.results)
        types = ", ".join(tensor(*value[1:]) for value in self.results)
        return (f"{HEADER}comm.group @world all\ncomm.group @node {nodes}\ncomm.group @replicas {across}\n\n"
                f"func.func @step({', '.join(self.arguments)}) -> ({types}) {{\n{body}\n"
                f"  return {results} : {types}\n}}\n")


class Model:
    """The layers of the transformer and how they are split."""

    def __init__(self, step, options):
        self.step, self.options = step, options
        self.strategy = options.strategy
        per_node = options.ranks // options.nodes
        # Matrices are split within a node, where links are fast.
        self.split = per_node if self.strategy in ("tp", "tp-sp") else 1
        self.shards = {"fsdp": options.ranks, "hsdp": per_node}.get(self.strategy, 1)
        self.shard_group = "world" if self.strategy == "fsdp" else "node"
        self.rows = options.tokens // (self.split if self.strategy == "tp-sp" else 1)
        choose = random.Random(options.vary) if options.vary is not None else None
        self.widths, self.weights = [], []
        for _ in range(options.layers):
            width = 4 * options.hidden if choose is None else 512 * choose.randrange(options.hidden // 256, options.hidden // 85)
            self.widths.append(width)
            hidden, split = options.hidden, self.split
            shapes = [(hidden, 3 * hidden // split), (hidden // split, hidden), (hidden, width // split), (width // split, hidden)]
            self.weights.append([step.argument("w", rows // self.shards, columns) for rows, columns in shapes])

    def gather(self, layer, when):
        """The whole weights of a layer."""
        if self.shards == 1:
            return self.weights[layer]
        return self.step.all_gather(self.weights[layer], self.shard_group, self.shards, f"gather {when} {layer}")

    def enter(self, x, label):
        """What the split matrices are multiplied with."""
        if self.strategy != "tp-sp":
            return x
        return self.step.all_gather([x], "node", self.split, label)[0]

    def leave(self, x, label):
        """The sum of what the ranks have computed with their parts."""
        if self.strategy == "tp":
            return self.step.all_reduce([x], "node", label)[0]
        if self.strategy == "tp-sp":
            return self.step.reduce_scatter([x], "node", self.split, label)[0]
        return x

    def exchange(self, x, label):
        """Tokens go to their experts, or come back."""
        return self.step.all_to_all(x, "world", label) if self.strategy == "moe" else x

    def forward(self, layer, x, tag):
        step = self.step
        qkv, projection, up, down = self.gather(layer, "forward")
        a = self.enter(x, f"enter attention {tag}")
        b = step.matmul(a, qkv)
        c = step.fused("attention", [b], b[1], b[2] // 3)
        d = self.leave(step.matmul(c, projection), f"attention {tag}")
        y = step.pointwise("arith.addf", x, d)
        e = self.exchange(self.enter(y, f"enter mlp {tag}"), f"dispatch {tag}")
        f = step.matmul(e, up)
        g = step.pointwise("math.tanh", f)
        h = self.leave(self.exchange(step.matmul(g, down), f"combine {tag}"), f"mlp {tag}")
        return step.pointwise("arith.addf", y, h), (a, b, c, e, f, g)

    def backward(self, layer, saved, gradient, tag):
        """The gradients of the input and of the weights."""
        step = self.step
        qkv, projection, up, down = self.gather(layer, "backward")
        a, b, c, e, f, g = saved
        into = self.exchange(self.enter(gradient, f"backward enter mlp {tag}"), f"backward combine {tag}")
        d_g = step.matmul(into, down, transpose_b=True)
        d_down = step.matmul(g, into, transpose_a=True)
        d_f = step.pointwise("arith.mulf", d_g, f)
        d_e = step.matmul(d_f, up, transpose_b=True)
        d_up = step.matmul(e, d_f, transpose_a=True)
        d_y = step.pointwise("arith.addf", gradient,
                             self.leave(self.exchange(d_e, f"backward dispatch {tag}"), f"backward mlp {tag}"))
        into = self.enter(d_y, f"backward enter attention {tag}")
        d_c = step.matmul(into, projection, transpose_b=True)
        d_projection = step.matmul(c, into, transpose_a=True)
        d_b = step.fused("attention_backward", [d_c, b], b[1], b[2])
        d_a = step.matmul(d_b, qkv, transpose_b=True)
        d_qkv = step.matmul(a, d_b, transpose_a=True)
        d_x = step.pointwise("arith.addf", d_y, self.leave(d_a, f"backward attention {tag}"))
        return d_x, [d_qkv, d_projection, d_up, d_down]

    def reduce(self, layer, gradients):
        """What each rank keeps of the gradients of a layer's weights."""
        step = self.step
        if self.strategy == "ddp":
            return step.all_reduce(gradients, "world", f"reduce {layer}")
        if self.shards == 1:
            return gradients
        gradients = step.reduce_scatter(gradients, self.shard_group, self.shards, f"reduce {layer}")
        if self.strategy == "hsdp" and self.options.nodes > 1:
            gradients = step.all_reduce(gradients, "replicas", f"replicate {layer}")
        return gradients


def write_stage(step, model, options):
    """A stage of a pipeline: all forward passes, then all backward passes."""
    rank, shape = options.ranks // 2, (model.rows, options.hidden)
    kind = tensor(*shape)
    saved, sums = {}, [None] * options.layers

    def receive(peer, label):
        token, result = step.name("t"), step.name("r")
        step.emit(f'{token} = comm.recv on @world from {peer} {{comm.label = "{label}"}} : {kind}')
        step.emit(f"{result} = comm.wait {token} : !comm.token<{kind}>")
        return (result, *shape)

    def send(value, peer, label):
        token = step.name("t")
        step.emit(f'{token} = comm.send {value[0]} on @world to {peer} {{comm.label = "{label}"}} : {kind}')
        step.emit(f"comm.wait {token} : !comm.token")

    for batch in range(options.micro_batches):
        x = receive(rank - 1, f"activations {batch}")
        for layer in range(options.layers):
            x, saved[batch, layer] = model.forward(layer, x, f"{batch}.{layer}")
        send(x, rank + 1, f"activations out {batch}")
    for batch in range(options.micro_batches):
        gradient = receive(rank + 1, f"gradients {batch}")
        for layer in reversed(range(options.layers)):
            gradient, parts = model.backward(layer, saved[batch, layer], gradient, f"{batch}.{layer}")
            sums[layer] = parts if sums[layer] is None else [step.pointwise("arith.addf", a, b) for a, b in zip(sums[layer], parts)]
        send(gradient, rank - 1, f"gradients out {batch}")
    return [value for parts in sums for value in parts]


def write_step(step, model, options):
    """Micro-batches one after the other; gradients are reduced with the last."""
    sums = [None] * options.layers
    outputs = []
    for batch in range(options.micro_batches):
        x, saved = step.argument("x", model.rows, options.hidden), []
        for layer in range(options.layers):
            x, kept = model.forward(layer, x, f"{batch}.{layer}")
            saved.append(kept)
        gradient = step.fused("loss", [x], *x[1:])
        for layer in reversed(range(options.layers)):
            gradient, parts = model.backward(layer, saved[layer], gradient, f"{batch}.{layer}")
            if sums[layer] is not None:
                parts = [step.pointwise("arith.addf", a, b) for a, b in zip(sums[layer], parts)]
            sums[layer] = parts
            if batch + 1 == options.micro_batches:
                outputs += model.reduce(layer, parts)
    return outputs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strategy", choices=STRATEGIES)
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--micro-batches", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=4096, help="of one micro-batch on a rank (tp: in all)")
    parser.add_argument("--hidden", type=int, default=4096)
    parser.add_argument("--vary", type=int, metavar="SEED")
    options = parser.parse_args()
    if options.ranks % options.nodes:
        parser.error("--ranks has to be a multiple of --nodes")
    step = Step(options)
    model = Model(step, options)
    step.results = (write_stage if options.strategy == "pp" else write_step)(step, model, options)
    sys.stdout.write(step.text())


if __name__ == "__main__":
    main()
