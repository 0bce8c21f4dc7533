# RUN: %python %s %t %cxx
"""Associative scans, whose levels share kernels, on the host against the host's loops, bit for bit."""
import os
import sys

import braid_testing as bt
import kernel_emulator
import numpy as np


class Scan:
    """The program of a gated recurrence h[t] = a[t] * h[t - 1] + b[t] along one dimension, by odd and even elements: what
    jax.lax.associative_scan makes."""

    def __init__(self, shape, axis, element):
        self.axis, self.element, self.lines, self.count = axis, element, [], 0
        kind = self.type(shape)
        result = self.scan(("%a", shape), ("%b", shape))[1]
        identity = f"affine_map<({', '.join(f'd{i}' for i in range(len(shape)))}) -> ({', '.join(f'd{i}' for i in range(len(shape)))})>"
        self.text = f"#id = {identity}\nfunc.func @main(%a: {kind}, %b: {kind}) -> {kind} {{\n"
        self.text += "\n".join(self.lines) + f"\nreturn {result[0]} : {kind}\n}}\n"

    def type(self, shape):
        return f"tensor<{'x'.join(map(str, shape))}x{self.element}>"

    def add(self, text):
        self.count += 1
        self.lines.append(f"%{self.count} = {text}")
        return f"%{self.count}"

    def resize(self, shape, size):
        return [*shape[: self.axis], size, *shape[self.axis + 1 :]]

    def place(self, shape, start, step):
        starts, steps = [0] * len(shape), [1] * len(shape)
        starts[self.axis], steps[self.axis] = start, step
        return f"{starts} {list(shape)} {steps}"

    def slice(self, value, start, size, step=1):
        shape = self.resize(value[1], size)
        return self.add(f"tensor.extract_slice {value[0]}{self.place(shape, start, step)} : {self.type(value[1])} to {self.type(shape)}"), shape

    def insert(self, value, into, start, step=1):
        place = self.place(value[1], start, step)
        return self.add(f"tensor.insert_slice {value[0]} into {into[0]}{place} : {self.type(value[1])} into {self.type(into[1])}"), into[1]

    def empty(self, shape):
        return self.add(f"tensor.empty() : {self.type(shape)}"), shape

    def compute(self, values, *body):
        shape, kind = values[0][1], self.type(values[0][1])
        out = self.empty(shape)
        maps, loops = ", ".join(["#id"] * (len(values) + 1)), ", ".join(['"parallel"'] * len(shape))
        arguments = "".join(f"%x{index}: {self.element}, " for index in range(len(values)))
        operands = f"{', '.join(v[0] for v in values)} : {', '.join([kind] * len(values))}"
        name = self.add(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}]}} ins({operands}) outs({out[0]} : {kind}) {{")
        self.lines.append(f"^bb0({arguments}%o: {self.element}):\n" + "\n".join(f"%y{i} = {line} : {self.element}" for i, line in enumerate(body)))
        self.lines.append(f"linalg.yield %y{len(body) - 1} : {self.element}\n}} -> {kind}")
        return name, shape

    def combine(self, left, right):
        return (self.compute([left[0], right[0]], "arith.mulf %x0, %x1"),
                self.compute([right[0], left[1], right[1]], "arith.mulf %x0, %x1", "arith.addf %y0, %x2"))  # fmt: skip

    def scan(self, *values):
        size = values[0][1][self.axis]
        if size < 2:
            return values
        half = size // 2
        low, high = ([self.slice(value, start, half, 2) for value in values] for start in (0, 1))
        odd = self.scan(*self.combine(low, high))
        even = [self.slice(value, 0, 1) for value in values]
        rest = (size - 1) // 2
        if rest:
            later = self.combine([self.slice(value, 0, rest) for value in odd], [self.slice(value, 2, rest, 2) for value in values])
            whole = [self.empty(self.resize(value[1], rest + 1)) for value in values]
            even = [self.insert(b, self.insert(a, c, 0), 1) for a, b, c in zip(even, later, whole)]
        return [self.insert(b, self.insert(a, self.empty(v[1]), 0, 2), 1, 2) for a, b, v in zip(even, odd, values)]


# Axes with adjacent elements and with distant ones, whole vectors and odd sizes, one element of an axis, many blocks.
CASES = [([2, 16, 64], 1), ([2, 13, 24], 1), ([3, 128, 40], 1), ([9, 65], 0), ([300, 17], 1), ([5, 4, 100], 2), ([100], 0), ([2, 1000], 1),
         ([1, 7, 2000], 1)]  # fmt: skip


def main(directory, cxx):
    generator = np.random.default_rng(1)
    for element, cases in (("f32", CASES), ("bf16", CASES[1:4])):
        kind = bt.ELEMENT_TYPES[element]
        for shape, axis in cases:
            what = f"{element}_{'x'.join(map(str, shape))}_{axis}"
            folder = os.path.join(directory, what)
            program = Scan(shape, axis, element).text
            emulator = kernel_emulator.Emulator(program, folder, cxx)
            kernels = [launch["kernel"].rstrip("0123456789_") for launch in emulator.launches]
            if "parts" not in kernels or len(kernels) > 4:
                sys.exit(f"{what}: found the kernels {', '.join(kernels)}, expected up to four, with one of parts")
            inputs = [generator.uniform(-1, 1, shape).astype(np.float32) for _ in range(2)]
            inputs = [kind.narrow(values) if element == "bf16" else values for values in inputs]
            found = emulator.run(inputs)
            host = bt.compile_program(program, folder, passes="none")
            expected = bt.run_program(host, 1, folder, [(kind, [values]) for values in inputs], [kind])[0]
            bt.check_equal(found[0], expected[0], what, kind)


main(*sys.argv[1:])
