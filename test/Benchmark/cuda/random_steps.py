#!/usr/bin/env python3
"""Writes random training and inference steps that look like those of models.

    random_steps.py SEED... [--ranks=2] [--shrink=1] > steps.mlir

A step has a way to divide work among ranks (weights gathered, gradients reduced, columns and rows of weights split,
sequences split, experts, rings of keys, or another one in each layer), one or two micro-batches, and layers of products
with odd and transposed shapes, chains of elementwise ops, softmax and norms of rows and columns. Many steps have a
backward pass. Everything is written as a tracer writes it: each collective awaited where it is started, one micro-batch
after the other. Products are of bf16; rows and columns are reduced in f32. --shrink=64 divides all sizes by about 64, and
changes nothing else.
"""

import argparse
import random
import sys

from overlap_programs import MAPS
from programs import COLS, HEAD, PARALLEL, ROWS, generic

WAYS = ("gathered", "reduced", "split", "sequence", "experts", "ring", "mixed", "mixed")
TOKENS = (512, 1000, 1576, 2048, 2312, 3000, 4096, 5000, 6144, 8192)
WIDTHS = (768, 1024, 1280, 1600, 2048, 2560, 2880, 3072, 4096, 4224, 5120)
INNER = (1.0, 1.5, 2.0, 2.6875, 3.5, 4.0)
BODIES = ("mlp", "mlp", "gated", "scores", "transposed")
REDUCE = {"rows": (1, "row", ROWS), "columns": (0, "col", COLS)}


class Value:
    """A tensor of the step. A parameter has the way in which its gradient is reduced."""

    def __init__(self, name, shape, dtype):
        self.name, self.shape, self.dtype = name, tuple(shape), dtype
        self.reduction = None

    @property
    def type(self):
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.dtype}>"


class Weight:
    """A weight as a rank holds it: an argument, maybe a part that has to be gathered along `dim`."""

    def __init__(self, writer, rows, columns, group=None, members=1, dim=0, is_gathered_again=False):
        self.writer, self.group, self.members, self.dim = writer, group, members, dim
        shape = (rows, columns // members) if dim else (rows // members, columns)
        self.argument, self.is_gathered_again = writer.argument(*shape), is_gathered_again

    def get_whole(self):
        if not self.group:
            return self.argument
        return self.writer.untaped(self.writer.gather, self.argument, self.group, self.members, self.dim)

    def reduce(self, gradient):
        """The part of the gradient that is the rank's."""
        if not self.group:
            return gradient
        return self.writer.untaped(self.writer.scatter, gradient, self.group, self.members, self.dim)


class Writer:
    """Writes the ops of a function, and remembers how each one's gradient is computed."""

    def __init__(self, ranks):
        self.ranks, self.arguments, self.lines, self.labels = ranks, [], [], {}
        self.tape = []  # (results, operands, a function of the gradients of the results)
        self.tapes = True

    def value(self, shape, dtype, text):
        value = Value(f"%v{len(self.lines)}", shape, dtype)
        self.lines.append(f"{value.name} = {text}")
        return value

    def argument(self, rows, columns):
        value = Value(f"%arg{len(self.arguments)}", (rows, columns), "bf16")
        self.arguments.append(value)
        return value

    def record(self, result, operands, backward):
        if self.tapes:
            self.tape.append((result, operands, backward))
        return result

    # Products.

    def matmul(self, a, b, transpose_a=False, transpose_b=False):
        m, k = a.shape[::-1] if transpose_a else a.shape
        other, n = b.shape[::-1] if transpose_b else b.shape
        assert k == other, (a.shape, b.shape, transpose_a, transpose_b)
        empty = self.value((m, n), "bf16", f"tensor.empty() : tensor<{m}x{n}xbf16>")
        zero = self.value((), "bf16", "arith.constant 0.0 : bf16")
        zeros = self.value((m, n), "bf16", f"linalg.fill ins({zero.name} : bf16) outs({empty.name} : {empty.type}) -> {empty.type}")
        maps = f"#lhs{'_transposed' * transpose_a}, #rhs{'_transposed' * transpose_b}, #result"
        result = self.value((m, n), "bf16", f"linalg.matmul indexing_maps = [{maps}] ins({a.name}, {b.name} : {a.type}, {b.type}) "
                                            f"outs({zeros.name} : {zeros.type}) -> {zeros.type}")  # fmt: skip

        return self.record(result, [a, b], lambda dy: self.matmul_gradients(dy, a, b, transpose_a, transpose_b))

    def matmul_gradients(self, dy, a, b, transpose_a, transpose_b):
        da = self.matmul(b, dy, transpose_b, True) if transpose_a else self.matmul(dy, b, False, not transpose_b)
        db = self.matmul(dy, a, True, transpose_a) if transpose_b else self.matmul(a, dy, not transpose_a, False)
        return [da, db]

    def product(self, a, weight, transpose_a=False, transpose_b=False):
        """The product of `a` and a Weight."""
        whole = weight.get_whole()
        result = self.untaped(self.matmul, a, whole, transpose_a, transpose_b)

        def backward(dy):
            again = weight.get_whole() if weight.is_gathered_again else whole
            da, db = self.matmul_gradients(dy, a, again, transpose_a, transpose_b)
            return [da, weight.reduce(db)]

        return self.record(result, [a, weight.argument], backward)

    def transpose(self, a):
        shape = a.shape[::-1]
        empty = self.value(shape, a.dtype, f"tensor.empty() : tensor<{shape[0]}x{shape[1]}x{a.dtype}>")
        result = self.value(shape, a.dtype, f"linalg.transpose ins({a.name} : {a.type}) outs({empty.name} : {empty.type}) permutation = [1, 0]")
        return self.record(result, [a], lambda dy: [self.transpose(dy)])

    # Elementwise ops.

    def pointwise(self, op, *operands):
        first = operands[0]
        return self.value(first.shape, first.dtype, f"{op} {', '.join(a.name for a in operands)} : {first.type}")

    def constant(self, like, number):
        return self.value(like.shape, like.dtype, f"arith.constant dense<{number}> : {like.type}")

    def add(self, a, b):
        return self.record(self.pointwise("arith.addf", a, b), [a, b], lambda dy: [dy, dy])

    def mul(self, a, b):
        return self.record(self.pointwise("arith.mulf", a, b), [a, b], lambda dy: [self.mul(dy, b), self.mul(dy, a)])

    def scale(self, a, number):
        factor = self.constant(a, number)
        return self.record(self.pointwise("arith.mulf", a, factor), [a], lambda dy: [self.scale(dy, number)])

    def relu(self, a):
        zero = self.constant(a, "0.0")
        result = self.pointwise("arith.maximumf", a, zero)

        def backward(dy):
            mask = self.value(a.shape, "i1", f"arith.cmpf ogt, {a.name}, {zero.name} : {a.type}")
            return [self.value(a.shape, a.dtype, f"arith.select {mask.name}, {dy.name}, {zero.name} : {mask.type}, {a.type}")]

        return self.record(result, [a], backward)

    def tanh(self, a):
        result = self.pointwise("math.tanh", a)

        def backward(dy):
            rest = self.pointwise("arith.subf", self.constant(a, "1.0"), self.pointwise("arith.mulf", result, result))
            return [self.pointwise("arith.mulf", dy, rest)]

        return self.record(result, [a], backward)

    def silu(self, a):
        one = self.constant(a, "1.0")
        sigmoid = self.pointwise("arith.divf", one, self.pointwise("arith.addf", one, self.pointwise("math.exp", self.pointwise("arith.negf", a))))
        result = self.pointwise("arith.mulf", a, sigmoid)

        def backward(dy):
            rest = self.pointwise("arith.mulf", result, self.pointwise("arith.subf", one, sigmoid))
            return [self.pointwise("arith.mulf", dy, self.pointwise("arith.addf", sigmoid, rest))]

        return self.record(result, [a], backward)

    def cast(self, a, dtype):
        op = "arith.extf" if dtype == "f32" else "arith.truncf"
        result = Value("", a.shape, dtype)
        result = self.value(a.shape, dtype, f"{op} {a.name} : {a.type} to {result.type}")
        return self.record(result, [a], lambda dy: [self.cast(dy, a.dtype)])

    # Rows and columns, in f32.

    def reduce(self, a, of, op="arith.addf", initial="0.0"):
        """The sum, or another reduction, of each row or column."""
        axis, by, kinds = REDUCE[of]
        size = a.shape[1 - axis]
        start = self.value((), "f32", f"arith.constant {initial} : f32")
        empty = self.value((size,), "f32", f"tensor.empty() : tensor<{size}xf32>")
        filled = self.value((size,), "f32", f"linalg.fill ins({start.name} : f32) outs({empty.name} : {empty.type}) -> {empty.type}")
        text = generic(["id", by], kinds, [(a.name, a.type)], [(filled.name, filled.type)],
                       f"    %s = {op} %o_, %a_ : f32\n", filled.type, "%a_: f32, %o_: f32", "%s : f32")  # fmt: skip
        return self.value((size,), "f32", text)

    def by(self, op, a, vector, of):
        """`op` of each element of `a` and the element of the vector that its row or column has."""
        empty = self.value(a.shape, "f32", f"tensor.empty() : {a.type}")
        text = generic(["id", REDUCE[of][1], "id"], PARALLEL, [(a.name, a.type), (vector.name, vector.type)], [(empty.name, empty.type)],
                       f"    %q = {op} %x_, %v_ : f32\n", a.type, "%x_: f32, %v_: f32, %o_: f32", "%q : f32")  # fmt: skip
        return self.value(a.shape, "f32", text)

    def untaped(self, function, *arguments):
        taped, self.tapes = self.tapes, False
        result = function(*arguments)
        self.tapes = taped
        return result

    def softmax(self, a, of):
        def forward():
            x = self.cast(a, "f32")
            shifted = self.by("arith.subf", x, self.reduce(x, of, "arith.maximumf", "0xFF800000"), of)
            exponents = self.pointwise("math.exp", shifted)
            return self.cast(self.by("arith.divf", exponents, self.reduce(exponents, of), of), a.dtype)

        result = self.untaped(forward)

        def backward(dy):
            y, wide = self.cast(result, "f32"), self.cast(dy, "f32")
            sums = self.reduce(self.pointwise("arith.mulf", y, wide), of)
            return [self.cast(self.pointwise("arith.mulf", self.by("arith.subf", wide, sums, of), y), a.dtype)]

        return self.record(result, [a], backward)

    def norm(self, a, of, centered):
        """Each row or column divided by the root of its mean square, without its mean where it is `centered`."""
        count = float(a.shape[REDUCE[of][0]])
        kept = []

        def forward():
            x = self.cast(a, "f32")
            if centered:
                sums = self.reduce(x, of)
                x = self.by("arith.subf", x, self.pointwise("arith.divf", sums, self.constant(sums, count)), of)
            squares = self.reduce(self.pointwise("arith.mulf", x, x), of)
            mean = self.pointwise("arith.divf", squares, self.constant(squares, count))
            root = self.pointwise("math.rsqrt", self.pointwise("arith.addf", mean, self.constant(mean, "1.0e-05")))
            kept.extend([x, root])
            return self.cast(self.by("arith.mulf", x, root, of), a.dtype)

        result = self.untaped(forward)

        def backward(dy):
            x, root = kept
            wide = self.cast(dy, "f32")
            sums = self.reduce(self.pointwise("arith.mulf", wide, x), of)
            cube = self.pointwise("arith.mulf", root, self.pointwise("arith.mulf", root, root))
            factor = self.pointwise("arith.mulf", cube, self.pointwise("arith.divf", sums, self.constant(sums, count)))
            parts = self.by("arith.mulf", wide, root, of), self.by("arith.mulf", x, factor, of)
            return [self.cast(self.pointwise("arith.subf", *parts), a.dtype)]

        return self.record(result, [a], backward)

    # Collectives.

    def collective(self, text, operands, shapes, group, suffix="", label=None):
        """One launch, and a wait for each of its results."""
        label = label or text.split()[0]
        number = self.labels[label] = self.labels.get(label, -1) + 1
        results = [Value("", shape, a.dtype) for a, shape in zip(operands, shapes)]
        given, made = (", ".join(a.type for a in values) for values in (operands, results))
        names = ", ".join(a.name for a in operands)
        token = f"%t{len(self.lines)}"
        several = f":{len(operands)}" if len(operands) > 1 else ""
        self.lines.append(f'{token}{several} = comm.{text} {names} on @{group}{suffix} {{comm.label = "{label}{number}"}} : '
                          + (given if given == made else f"{given} -> {made}"))  # fmt: skip
        return [self.value(a.shape, a.dtype, f"comm.wait {token}{f'#{i}' if several else ''} : !comm.token<{a.type}>")
                for i, a in enumerate(results)]  # fmt: skip

    def all_reduce(self, operands, group, kind="sum"):
        return self.collective(f"all_reduce {kind}", operands, [a.shape for a in operands], group)

    def reduced(self, a, group):
        (result,) = self.all_reduce([a], group)
        return self.record(result, [a], lambda dy: [self.all_reduce([dy], group)[0]])

    def gather(self, a, group, members, dim=0):
        shape = [size * (members if axis == dim else 1) for axis, size in enumerate(a.shape)]
        (result,) = self.collective("all_gather", [a], [shape], group, f" dim {dim}")
        return self.record(result, [a], lambda dy: [self.scatter(dy, group, members, dim)])

    def scatter(self, a, group, members, dim=0):
        shape = [size // (members if axis == dim else 1) for axis, size in enumerate(a.shape)]
        (result,) = self.collective("reduce_scatter sum", [a], [shape], group, f" dim {dim}")
        return self.record(result, [a], lambda dy: [self.gather(dy, group, members, dim)])

    def all_to_all(self, a, group):
        (result,) = self.collective("all_to_all", [a], [a.shape], group)
        return self.record(result, [a], lambda dy: [self.all_to_all(dy, group)])

    def permute(self, a, step=1):
        """What the rank `step` before this one has."""
        pairs = [[rank, (rank + step) % self.ranks] for rank in range(self.ranks)]
        (result,) = self.collective("permute", [a], [a.shape], "world", f" pairs {pairs}")
        return self.record(result, [a], lambda dy: [self.permute(dy, -step)])

    def exchange(self, a):
        """The same by messages."""
        n = f"%x{len(self.lines)}"
        number = self.labels["message"] = self.labels.get("message", -1) + 1
        self.lines += [
            f"{n}_1 = arith.constant 1 : index",
            f"{n}_rank = comm.rank on @world",
            f"{n}_size = comm.size on @world",
            f"{n}_up = arith.addi {n}_rank, {n}_1 : index",
            f"{n}_next = arith.remui {n}_up, {n}_size : index",
            f"{n}_below = arith.addi {n}_rank, {n}_size : index",
            f"{n}_down = arith.subi {n}_below, {n}_1 : index",
            f"{n}_previous = arith.remui {n}_down, {n}_size : index",
            f'{n}_s = comm.send {a.name} on @world to {n}_next {{comm.label = "send{number}"}} : {a.type}',
            f'{n}_r = comm.recv on @world from {n}_previous {{comm.label = "recv{number}"}} : {a.type}',
            f"comm.wait {n}_s : !comm.token",
        ]
        result = self.value(a.shape, a.dtype, f"comm.wait {n}_r : !comm.token<{a.type}>")
        return self.record(result, [a], lambda dy: [self.permute(dy, -1)])

    def differentiate(self, result, gradient, reached):
        """The gradients of all that `reached` contains, from that of the result; the tape is used up."""
        gradients = {result.name: gradient}
        tape, self.tape, self.tapes = self.tape, [], False
        needed = {value.name for value in reached}
        for made, operands, _ in tape:
            if any(a.name in needed for a in operands):
                needed.add(made.name)
        for made, operands, backward in reversed(tape):
            if made.name not in gradients or made.name not in needed:
                continue
            for a, part in zip(operands, backward(gradients[made.name])):
                if a.name not in needed:
                    continue
                before = gradients.get(a.name)
                gradients[a.name] = part if before is None else self.pointwise("arith.addf", before, part)
        self.tapes = True
        return [gradients.get(value.name) for value in reached]

    def module(self, results):
        half = self.ranks // 2
        groups = ["comm.group @world all"]
        if self.ranks >= 4 and self.ranks % 2 == 0:
            groups += [f"comm.group @near {[[2 * i, 2 * i + 1] for i in range(half)]}",
                       f"comm.group @far {[[i, i + half] for i in range(half)]}"]  # fmt: skip
        arguments = ", ".join(f"{a.name}: {a.type}" for a in self.arguments)
        types = ", ".join(a.type for a in results)
        body = "\n  ".join(self.lines)
        return (f"{MAPS}{HEAD}" + "\n".join(groups) + f"\nfunc.func @main({arguments}) -> ({types}) {{\n  {body}\n"
                f"  return {', '.join(a.name for a in results)} : {types}\n}}\n")  # fmt: skip


class Step:
    """Draws a step. The draws do not depend on `shrink`."""

    def __init__(self, seed, ranks, shrink=1):
        self.draw, self.ranks, self.shrink = random.Random(seed), ranks, shrink
        self.w = Writer(ranks)
        draw = self.draw
        self.way = draw.choice(WAYS)
        self.layers = draw.choice((1, 2, 2, 3, 4))
        self.batches = draw.choice((1, 1, 2))
        self.has_backward = self.chance(0.5) or self.way == "reduced"
        self.width, tokens = draw.choice(WIDTHS), draw.choice(TOKENS)
        self.tokens = self.size(tokens)
        # What a rank holds of a micro-batch whose rows are split.
        self.group, self.members = "world", ranks
        if ranks >= 4 and ranks % 2 == 0 and self.chance(0.3):
            self.group, self.members = draw.choice(("near", "far")), 2
        self.wide_gradients, self.fused_reductions = self.chance(0.2), self.chance(0.4)

    def size(self, number):
        """A size that all numbers of members divide, and 8."""
        unit = max(8, 2 * self.ranks)
        return max(unit, round(number / self.shrink / unit) * unit)

    def chance(self, probability):
        return self.draw.random() < probability

    # Weights.

    def weight(self, rows, columns, way):
        """A weight, which is a parameter of the step."""
        if way == "gathered":
            dim = 1 if self.chance(0.15) else 0
            weight = Weight(self.w, rows, columns, self.group, self.members, dim, self.chance(0.5))
            # The gradient of a gather is a scatter; with sub-groups the other ranks add theirs.
            weight.argument.reduction = "none" if self.group == "world" else "others"
        else:
            weight = Weight(self.w, rows, columns)
            weight.argument.reduction = "all" if way == "reduced" or self.chance(0.5) else "none"
        self.parameters.append(weight.argument)
        return weight

    # Layers: a function draws the weights of each and gives another one that writes the layer.

    def activation(self):
        return self.draw.choice((self.w.relu, self.w.tanh, self.w.silu))

    def before(self):
        """What stands before a layer's products."""
        kind = self.draw.choice(("none", "norm rows", "norm rows", "norm columns", "softmax columns", "chain"))
        centered, activation, factor = self.chance(0.5), self.activation(), self.draw.choice(("0.5", "1.25", "2.0"))

        def write(x):
            if kind.startswith("norm"):
                return self.w.norm(x, kind.split()[1], centered)
            if kind.startswith("softmax"):
                return self.w.mul(self.w.softmax(x, "columns"), x)
            return self.w.mul(activation(x), self.w.scale(x, factor)) if kind == "chain" else x

        return write

    def body(self, way, width):
        """Two or three products from `width` to `width`."""
        kind = self.draw.choice(BODIES)
        inner = self.size(self.width * self.draw.choice(INNER))
        if way in ("split", "sequence"):
            inner = self.size(inner * self.shrink / self.members)
        activation = self.activation()
        turned = self.chance(0.4)
        up = self.weight(*((inner, width) if turned else (width, inner)), way)
        down = self.weight(inner, width, way)
        gate = self.weight(width, inner, way) if kind == "gated" else None
        w = self.w

        def write(x):
            y = w.product(x, up, transpose_b=turned)
            if kind == "transposed":
                # Features stand in rows between the products.
                return w.product(w.transpose(activation(y)), down, transpose_a=True)
            y = w.softmax(y, "rows") if kind == "scores" else activation(y)
            if gate:
                y = w.mul(y, w.product(x, gate))
            return w.product(y, down)

        return write

    def layer(self, width):
        way = self.way if self.way != "mixed" else self.draw.choice(WAYS[:6])
        before, w, members = self.before(), self.w, self.members
        residual = self.chance(0.7)
        by_messages, rounds = self.chance(0.5), self.draw.choice((2, 3))
        if way == "ring":
            keys = w.argument(self.size(self.tokens * self.shrink // self.draw.choice((1, 2))), width)
            keys.reduction = "none"
            self.parameters.append(keys)
        else:
            body = self.body(way, width)

        def write_ring(x):
            """Scores of all ranks' keys, which go around."""
            total, part = None, keys
            for number in range(rounds):
                scores = w.softmax(w.matmul(x, part, transpose_b=True), "rows")
                found = w.matmul(scores, part)
                total = found if total is None else w.add(total, found)
                if number + 1 < rounds:
                    part = w.exchange(part) if by_messages else w.permute(part)
            return total

        def write(x):
            y = before(x)
            if way == "ring":
                y = write_ring(y)
            elif way == "sequence":
                y = w.scatter(body(w.gather(y, self.group, members)), self.group, members)
            elif way == "experts":
                y = w.all_to_all(body(w.all_to_all(y, "world")), "world")
            else:
                y = body(y)
                y = w.reduced(y, self.group) if way == "split" else y
            return w.add(x, y) if residual else y

        return write

    # The step.

    def reduce_gradients(self, gradients):
        """What each rank keeps of the weights' gradients."""
        w, results, waiting = self.w, [], []
        for parameter, gradient in reversed(list(zip(self.parameters, gradients))):
            if gradient is None:
                continue
            if self.wide_gradients:
                gradient = w.cast(gradient, "f32")
            if parameter.reduction == "none":
                results.append(gradient)
                continue
            others = {"near": "far", "far": "near"}.get(self.group, "world")
            group = others if parameter.reduction == "others" else "world"
            waiting.append((gradient, group))
            if not self.fused_reductions or len(waiting) == 2:
                results += self.reduce_together(waiting)
                waiting = []
        return results + self.reduce_together(waiting)

    def reduce_together(self, waiting):
        """One launch for each group."""
        results = []
        for group in dict.fromkeys(group for _, group in waiting):
            results += self.w.all_reduce([gradient for gradient, of in waiting if of == group], group)
        return results

    def write(self):
        """The text of the step."""
        w, width = self.w, self.size(self.width)
        self.parameters = []
        layers = [self.layer(width) for _ in range(self.layers)]
        results, sums = [], None
        for _ in range(self.batches):
            x = w.argument(self.tokens, width)
            for layer in layers:
                x = layer(x)
            results.append(x)
            if not self.has_backward:
                continue
            found = w.differentiate(x, w.argument(self.tokens, width), self.parameters)
            if sums is not None:
                found = [a if b is None else b if a is None else w.pointwise("arith.addf", a, b) for a, b in zip(sums, found)]
            sums = found
        if self.has_backward:
            w.tapes = False
            results = self.reduce_gradients(sums)
        return w.module(results)

    def describe(self):
        """What the step is, for a table."""
        return (f"{self.way}, {self.layers} layer{'s' * (self.layers > 1)}, {self.tokens} x {self.size(self.width)}"
                + f", {self.batches} micro-batches" * (self.batches > 1) + ", backward" * self.has_backward
                + f", groups of {self.members}" * (self.group != "world"))  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", type=int, nargs="+", metavar="SEED")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--shrink", type=float, default=1)
    options = parser.parse_args()
    sys.stdout.write("// -----\n".join(Step(seed, options.ranks, options.shrink).write() for seed in options.seeds))


if __name__ == "__main__":
    main()
