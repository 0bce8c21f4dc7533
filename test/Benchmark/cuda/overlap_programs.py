#!/usr/bin/env python3
"""Writes the programs of the table for GPUs (test/Benchmark/cuda/cuda_table.py) as modules,
each collective awaited where it is started, and computes them in float64.

  overlap_programs.py NAME --ranks=2 --size=8192 [--dtype=bf16] [--layers=8] > prog.mlir

seed  the program of Inductor's reorder test, with matrices of size x size
fsdp  layers of: all-gather a shard of the weight, matmul, relu
ddp   the backward pass of layers: all-reduce each weight's gradient
tp    half as many layers of a tensor-parallel MLP on two micro-batches, an
      all-reduce after each

and what measures a part of a machine, --size in bytes of the whole tensor:

all_reduce, all_gather, reduce_scatter, all_to_all   one after the other
matmul                                               products of size^3 in turn
ops                                                  products and relus in turn
"""

import argparse
import sys

MAPS = """#lhs = affine_map<(m, n, k) -> (m, k)>
#lhs_transposed = affine_map<(m, n, k) -> (k, m)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#rhs_transposed = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>
"""
BYTES = {"bf16": 2, "f16": 2, "f32": 4, "f64": 8}


class Matrix:
    """A value of the program: its name and its sizes."""

    def __init__(self, name, rows, columns):
        self.name, self.rows, self.columns = name, rows, columns


class Writer:
    """Writes a module of one function, op by op."""

    def __init__(self, ranks, dtype):
        self.ranks, self.dtype = ranks, dtype
        self.arguments, self.lines, self.labels = [], [], {}

    def type(self, rows, columns):
        return f"tensor<{rows}x{columns}x{self.dtype}>"

    def argument(self, rows, columns):
        value = Matrix(f"%arg{len(self.arguments)}", rows, columns)
        self.arguments.append(value)
        return value

    def add(self, rows, columns, text):
        value = Matrix(f"%{len(self.lines)}", rows, columns)
        self.lines.append(f"{value.name} = {text}")
        return value

    def label(self, name):
        number = self.labels[name] = self.labels.get(name, -1) + 1
        return f'{{comm.label = "{name}{number}"}}'

    def matmul(self, a, b, transpose_a=False, transpose_b=False):
        m, k = (a.columns, a.rows) if transpose_a else (a.rows, a.columns)
        n = b.rows if transpose_b else b.columns
        assert k == (b.columns if transpose_b else b.rows)
        kind = self.type(m, n)
        empty = self.add(m, n, f"tensor.empty() : {kind}")
        zero = self.add(1, 1, f"arith.constant 0.0 : {self.dtype}")
        zeros = self.add(
            m,
            n,
            f"linalg.fill ins({zero.name} : {self.dtype}) outs({empty.name} : {kind}) -> {kind}",
        )
        lhs = "#lhs_transposed" if transpose_a else "#lhs"
        rhs = "#rhs_transposed" if transpose_b else "#rhs"
        return self.add(
            m,
            n,
            f"linalg.matmul indexing_maps = [{lhs}, {rhs}, #result] ins({a.name}, {b.name} : "
            f"{self.type(a.rows, a.columns)}, {self.type(b.rows, b.columns)}) "
            f"outs({zeros.name} : {kind}) -> {kind}",
        )

    def constant(self, rows, columns, value):
        return self.add(
            rows, columns, f"arith.constant dense<{value}> : {self.type(rows, columns)}"
        )

    def elementwise(self, op, a, b):
        return self.add(
            a.rows, a.columns, f"{op} {a.name}, {b.name} : {self.type(a.rows, a.columns)}"
        )

    def relu(self, a):
        return self.elementwise("arith.maximumf", a, self.constant(a.rows, a.columns, "0.0"))

    def collective(self, start, label, rows, columns):
        kind = self.type(rows, columns)
        token = self.add(rows, columns, f"{start[0]} {self.label(label)} : {start[1]}")
        return self.add(rows, columns, f"comm.wait {token.name} : !comm.token<{kind}>")

    def all_reduce(self, a):
        kind = self.type(a.rows, a.columns)
        start = (f"comm.all_reduce sum {a.name} on @world", kind)
        return self.collective(start, "ar", a.rows, a.columns)

    def all_gather(self, a):
        rows = a.rows * self.ranks
        kinds = f"{self.type(a.rows, a.columns)} -> {self.type(rows, a.columns)}"
        start = (f"comm.all_gather {a.name} on @world dim 0", kinds)
        return self.collective(start, "ag", rows, a.columns)

    def reduce_scatter(self, a):
        rows = a.rows // self.ranks
        kinds = f"{self.type(a.rows, a.columns)} -> {self.type(rows, a.columns)}"
        start = (f"comm.reduce_scatter sum {a.name} on @world dim 0", kinds)
        return self.collective(start, "rs", rows, a.columns)

    def all_to_all(self, a):
        start = (f"comm.all_to_all {a.name} on @world", self.type(a.rows, a.columns))
        return self.collective(start, "a2a", a.rows, a.columns)

    def module(self, results):
        arguments = ", ".join(f"{a.name}: {self.type(a.rows, a.columns)}" for a in self.arguments)
        types = ", ".join(self.type(r.rows, r.columns) for r in results)
        body = "\n  ".join(self.lines)
        names = ", ".join(r.name for r in results)
        return (
            f"{MAPS}comm.group @world all\n"
            f"func.func @main({arguments}) -> ({types}) {{\n  {body}\n"
            f"  return {names} : {types}\n}}\n"
        )


# Each program says once what it computes, with the operations of `w`: those of a
# Writer, or those of Float64 below.


def seed(w, size, layers):
    a = w.argument(size, size)
    reduced = w.all_reduce(a)
    g = w.matmul(a, a)
    c = w.relu(a)
    d = w.matmul(c, c)
    f = w.elementwise("arith.mulf", w.elementwise("arith.mulf", d, c), reduced)
    f_reduced = w.all_reduce(f)
    total = w.elementwise("arith.addf", w.elementwise("arith.addf", d, reduced), f_reduced)
    return [w.matmul(total, g)]


def fsdp(w, size, layers):
    x = w.argument(size, size)
    shards = [w.argument(size // w.ranks, size) for _ in range(layers)]
    for shard in shards:
        x = w.relu(w.matmul(x, w.all_gather(shard)))
    return [x]


def ddp(w, size, layers):
    rows = size // 2
    dy = w.argument(rows, size)
    inputs = [w.argument(rows, size) for _ in range(layers)]
    weights = [w.argument(size, size) for _ in range(layers)]
    gradients = []
    for x, weight in zip(reversed(inputs), reversed(weights)):
        gradients.append(w.all_reduce(w.matmul(x, dy, transpose_a=True)))
        dy = w.matmul(dy, weight, transpose_b=True)
    half = w.constant(size, size, "0.5")
    return [w.elementwise("arith.mulf", gradient, half) for gradient in gradients] + [dy]


def tp(w, size, layers):
    rows, hidden = size // 2, 4 * size // w.ranks
    batches = [w.argument(rows, size) for _ in range(2)]
    weights = [
        (w.argument(size, hidden), w.argument(hidden, size)) for _ in range(layers // 2)
    ]
    for up, down in weights:
        batches = [
            w.all_reduce(w.matmul(w.relu(w.matmul(x, up)), down)) for x in batches
        ]
    return batches


def repeated(operation):
    """`layers` collectives, each of the result of the one before where it has
    its sizes, else of the argument."""

    def program(w, size, layers):
        # A few rows for each rank, or one element.
        elements = size // BYTES[w.dtype]
        columns = min(max(elements // w.ranks, 1), 32768)
        rows = elements // columns
        if operation == "all_gather":
            rows //= w.ranks
        x = first = w.argument(rows, columns)
        results = []
        for _ in range(layers):
            y = getattr(w, operation)(x)
            results.append(y)
            x = y if operation in ("all_reduce", "all_to_all") else first
        return results[-1:]

    return program


def matmul(w, size, layers):
    x, weight = w.argument(size, size), w.argument(size, size)
    for _ in range(layers):
        x = w.matmul(x, weight)
    return [x]


def ops(w, size, layers):
    x, weight = w.argument(size, size), w.argument(size, size)
    for _ in range(layers // 2):
        x = w.relu(w.matmul(x, weight))
    return [x]


PROGRAMS = {"seed": seed, "fsdp": fsdp, "ddp": ddp, "tp": tp, "matmul": matmul, "ops": ops}
for operation in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all"):
    PROGRAMS[operation] = repeated(operation)


def write(name, ranks, size, dtype="bf16", layers=8):
    """The module's text."""
    writer = Writer(ranks, dtype)
    return writer.module(PROGRAMS[name](writer, size, layers))


def argument_sizes(name, ranks, size, dtype="bf16", layers=8):
    """The rows and columns of each argument."""
    writer = Writer(ranks, dtype)
    PROGRAMS[name](writer, size, layers)
    return [(a.rows, a.columns) for a in writer.arguments]


class Float64:
    """The same operations on all ranks at once, in NumPy's float64: a value is a
    list with the matrix of each rank."""

    def __init__(self, numpy, inputs):
        self.numpy, self.inputs, self.ranks = numpy, inputs, len(inputs)
        self.dtype, self.next = "f64", 0

    def argument(self, rows, columns):
        self.next += 1
        value = [ofRank[self.next - 1].astype("float64") for ofRank in self.inputs]
        assert value[0].shape == (rows, columns)
        return value

    def matmul(self, a, b, transpose_a=False, transpose_b=False):
        return [
            (x.T if transpose_a else x) @ (y.T if transpose_b else y) for x, y in zip(a, b)
        ]

    def constant(self, rows, columns, value):
        return [float(value)] * self.ranks

    def elementwise(self, op, a, b):
        function = {"arith.mulf": self.numpy.multiply, "arith.addf": self.numpy.add}[op]
        return [function(x, y) for x, y in zip(a, b)]

    def relu(self, a):
        return [self.numpy.maximum(x, 0) for x in a]

    def all_reduce(self, a):
        return [sum(a)] * self.ranks

    def all_gather(self, a):
        return [self.numpy.concatenate(a)] * self.ranks


def bus_factor(name, ranks):
    """What nccl-tests multiply a collective's bytes by; 0 for other programs."""
    share = (ranks - 1) / ranks
    shares = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1, "all_to_all": 1}
    return shares.get(name, 0) * share


def compute(numpy, name, inputs, size, layers=8):
    """The results of each rank of one of the four steps, from each rank's inputs."""
    results = PROGRAMS[name](Float64(numpy, inputs), size, layers)
    return [[result[rank] for result in results] for rank in range(len(inputs))]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=PROGRAMS)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--dtype", choices=BYTES, default="bf16")
    parser.add_argument("--layers", type=int, default=8)
    options = parser.parse_args()
    sys.stdout.write(
        write(options.name, options.ranks, options.size, options.dtype, options.layers)
    )


if __name__ == "__main__":
    main()
