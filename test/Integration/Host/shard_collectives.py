# RUN: rm -rf %t
# RUN: %python %s %t
"""Programs of the shard dialect on ranks, against a NumPy model of its ops: every
collective along every choice of grid axes, with static and with dynamic shapes, with
roots that are constants and roots that are values.
"""

import itertools
import math
import os
import sys

import braid_testing as bt
import numpy as np
import shard_model as model

PASSES = "convert-shard-to-comm,comm-verify,comm-schedule"
DTYPES = {"f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32,
          "i1": np.bool_}


class Function:
    """A function of one program, with the models of its results."""

    def __init__(self, name, shape, axes, is_dynamic):
        self.name, self.shape, self.axes, self.is_dynamic = name, shape, axes, is_dynamic
        self.lines, self.results, self.arguments = [], [], []

    def type(self, shape, element):
        sizes = ["?" if self.is_dynamic else str(n) for n in shape]
        return f"tensor<{'x'.join(sizes + [element])}>"

    def grid(self):
        axes = f" grid_axes = {list(self.axes)}" if self.axes else ""
        return "on @grid" + axes

    def argument(self, element, arrays):
        name = f"%a{len(self.arguments)}"
        shape = arrays[0].shape
        self.arguments.append((name, self.type(shape, element), element, arrays))
        return name

    def result(self, op, operand, source, element, expected, functional=False):
        """An op with one operand and one result, of elements `element`."""
        shape = next(x for x in expected if x is not None).shape
        first, second = self.type(*source), self.type(shape, element)
        first = f"({first})" if functional is True else first
        if isinstance(functional, str):  # with operands of type index
            first = f"({first}, {functional})"
        value = f"%r{len(self.results)}"
        self.lines.append(f"  {value} = shard.{op.replace('X', operand, 1)} : {first} -> {second}")
        self.results.append((value, second, element, expected))

    def text(self):
        arguments = ", ".join(f"{name}: {type}" for name, type, _, _ in self.arguments)
        values = ", ".join(value for value, _, _, _ in self.results)
        types = ", ".join(type for _, type, _, _ in self.results)
        lines = "\n".join(self.lines)
        return (f"func.func @{self.name}({arguments}) -> ({types}) {{\n{lines}\n"
                f"  return {values} : {types}\n}}\n")


def random_array(random, element, shape):
    if element == "i1":
        return random.randint(0, 2, shape).astype(bool)
    if element[0] == "i":
        return random.randint(-100, 100, shape).astype(DTYPES[element])
    # Small integers: sums are exact in every order.
    return random.randint(-8, 9, shape).astype(DTYPES[element])


def add_collectives(function, random):
    shape, axes = function.shape, function.axes
    ranks = math.prod(shape)
    size = math.prod(shape[axis] for axis in axes)
    grid = function.grid()

    def arrays(element, *sizes):
        return [random_array(random, element, sizes) for _ in range(ranks)]
    sizes = (2 * size, 3 * size, 2)
    x = arrays("f32", *sizes)
    a = function.argument("f32", x)
    source = (sizes, "f32")

    for kind, element, result in [("sum", "f32", "f32"), ("max", "f32", "f64"),
                                  ("average", "f32", "f32"), ("sum", "i8", "i32"),
                                  ("min", "i32", "i32"), ("product", "i32", "f64"),
                                  ("bitwise_and", "i32", "i32"), ("bitwise_or", "i8", "i8"),
                                  ("bitwise_xor", "i8", "i8"), ("sum", "i1", "i32")]:
        values = arrays(element, 3, 2)
        expected = model.all_reduce(shape, axes, values, kind, DTYPES[result])
        function.result(f"all_reduce X {grid} reduction = {kind}",
                        function.argument(element, values), ((3, 2), element), result, expected)
    for dim in range(3):
        part = arrays("f32", 2, 3, 2)
        b = function.argument("f32", part)
        function.result(f"all_gather X {grid} gather_axis = {dim}", b, ((2, 3, 2), "f32"), "f32",
                        model.all_gather(shape, axes, part, dim))
    for dim in range(2):
        function.result(f"all_slice X {grid} slice_axis = {dim}", a, source, "f32",
                        model.all_slice(shape, axes, x, dim))
        function.result(f"reduce_scatter X {grid} reduction = sum scatter_axis = {dim}", a,
                        source, "f64",
                        model.reduce_scatter(shape, axes, x, "sum", np.float64, dim))
    for split, concat in itertools.product(range(2), range(3)):
        function.result(
            f"all_to_all X {grid} split_axis = {split} concat_axis = {concat}", a, source, "f32",
            model.all_to_all(shape, axes, x, split, concat))
    add_rooted(function, a, x, arrays)
    for axis in axes:
        for offset, rotate in [(1, True), (-1, True), (5, True), (1, False), (-1, False)]:
            expected = model.shift(shape, axis, x, offset, rotate)
            if all(y is None for y in expected):
                continue
            function.result(
                f"shift X {grid} shift_axis = {axis} offset = {offset}"
                f"{' rotate' if rotate else ''}", a, source, "f32", expected)


def add_rooted(function, a, x, arrays):
    """Collectives with roots: constants, values, and one index of each."""
    shape, axes = function.shape, function.axes
    grid = function.grid()
    source = (x[0].shape, "f32")
    roots = [tuple(shape[axis] - 1 for axis in axes)]
    if axes:
        roots.append(tuple(i % shape[axis] for i, axis in enumerate(axes)))
    flags = arrays("i1", 4)
    f = function.argument("i1", flags)
    # Data movement keeps these, -0.0 too.
    special = [np.resize(np.roll(np.array([-0.0, np.inf, 0.0, -np.inf, 1.5], np.float32), rank),
                         x[0].shape) for rank in range(len(x))]
    s = function.argument("f32", special)
    for number, root in enumerate(roots):
        forms = [(", ".join(map(str, root)), True)]
        values = []
        for index in root:
            values.append(f"%root{len(function.arguments)}")
            argument = function.argument("i64", [np.array(index)] * len(x))
            function.lines += [
                f"  {values[-1]}i = tensor.extract {argument}[] : tensor<i64>",
                f"  {values[-1]} = arith.index_cast {values[-1]}i : i64 to index"]
        if root:
            forms.append((", ".join(values), ", ".join(["index"] * len(root))))
        if len(root) > 1:
            mixed = [str(root[0]), *values[1:]]
            forms.append((", ".join(mixed), ", ".join(["index"] * (len(root) - 1))))
        for text, functional in forms:
            where = f"root = [{text}]"
            function.result(f"broadcast X {grid} {where}", s, source, "f32",
                            model.broadcast(shape, axes, special, root), functional)
            function.result(f"broadcast X {grid} {where}", f, ((4,), "i1"), "i1",
                            model.broadcast(shape, axes, flags, root), functional)
            function.result(f"reduce X {grid} reduction = max {where}", a, source, "f64",
                            model.reduce(shape, axes, x, "max", np.float64, root), functional)
            for dim in range(3):
                function.result(f"gather X {grid} gather_axis = {dim} {where}", a, source,
                                "f32", model.gather(shape, axes, x, dim, root), functional)
            for dim in range(2):
                function.result(f"scatter X {grid} scatter_axis = {dim} {where}", s, source,
                                "f32", model.scatter(shape, axes, special, dim, root),
                                functional)


def check(program, directory, function):
    ranks = math.prod(function.shape)
    found = bt.run_program(
        program, ranks, os.path.join(directory, function.name),
        [(bt.ELEMENT_TYPES[element], arrays) for _, _, element, arrays in function.arguments],
        [bt.ELEMENT_TYPES[element] for _, _, element, _ in function.results],
        entry=function.name)
    for number, (_, _, element, expected) in enumerate(function.results):
        line = next(line for line in function.lines if f"%r{number} =" in line)
        for rank, array in enumerate(expected):
            if array is not None:
                bt.check_equal(found[rank][number], array,
                               f"{function.shape}, rank {rank}: {line.strip()}")


def main():
    for shape, choices in [((4,), [(), (0,)]), ((2, 3), [(0,), (1,), (0, 1), (1, 0)]),
                           ((2, 2, 2), [(1,), (2, 0), (2, 1, 0)])]:
        name = "x".join(map(str, shape))
        directory = os.path.join(sys.argv[1], name)
        random = np.random.RandomState(len(shape))
        functions = []
        for axes, is_dynamic in itertools.product(choices, [False, True]):
            # One dynamic program for each grid keeps the test short.
            if is_dynamic and axes != choices[-1]:
                continue
            label = "_".join(["axes", *map(str, axes)] + ["dynamic"] * is_dynamic)
            functions.append(Function(label, shape, axes, is_dynamic))
            add_collectives(functions[-1], random)
        text = f"shard.grid @grid(shape = {name})\n" + "".join(f.text() for f in functions)
        program = bt.compile_program(text, directory, passes=PASSES)
        for function in functions:
            check(program, directory, function)


main()
