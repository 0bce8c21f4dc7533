# RUN: %python %s --programs 20 --jobs 2 | FileCheck %s
# CHECK: comm-pipeline-matmul=chunks=2: 20 right, {{1[0-9]|20}} changed
# CHECK: 20 programs: 0 wrong
# RUN: %python %s --programs 20 --jobs 2 --category comm-own-part-first --passes comm-own-part-first=matmuls=1 | FileCheck %s --check-prefix=OWN
# OWN: comm-own-part-first=matmuls=1: 20 right, {{[1-9][0-9]?}} changed
# OWN: 20 programs: 0 wrong
"""Divides matmuls of random programs and the collectives around them; all bits have to stay.

A program has what those of test/Dev/rewritten_programs.py have, matmuls of what gathers give, and collectives of
what matmuls give, also of their narrowed results.

The exit status is 1 if there is a difference; the script prints and keeps the program.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "Dev"))
import rewritten_programs  # noqa: E402
from rewritten_programs import NARROWER, spell  # noqa: E402

PASSES = ["comm-pipeline-matmul=chunks=2", "comm-pipeline-matmul=chunks=4",
          "comm-pipeline-matmul=min-gain=0 machine=cpu collective-model=link link-latency=0us link-bandwidth=0.001GB/s ranks=4"]
ARGUMENTS = [("%a", (8, 4), "f32"), ("%b", (8, 8), "f32"), ("%w", (4, 8), "f32"), ("%c", (8, 4), "i32"),
             ("%v", (4, 8), "i32"), ("%d", (4, 4), "f32")]


class MatmulGenerator(rewritten_programs.Generator):
    arguments = ARGUMENTS

    def define(self, text):
        name = self.new()
        self.lines.append(f"{name} = {text}")
        return name

    def move(self, text, shape, element):
        """What a collective gives, which nothing else uses."""
        token = self.define(text)
        return self.define(f"comm.wait {token} : !comm.token<{spell(shape, element)}>")

    def multiply(self, left, right):
        (a, shape, element), (b, other, _) = left, right
        result = (shape[0], other[1])
        out = spell(result, element)
        zero = self.define(f"arith.constant {'0' if element == 'i32' else '0.0'} : {element}")
        empty = self.define(f"tensor.empty() : {out}")
        fill = self.define(f"linalg.fill ins({zero} : {element}) outs({empty} : {out}) -> {out}")
        name = self.define(f"linalg.matmul ins({a}, {b} : {spell(shape, element)}, {spell(other, element)}) outs({fill} : {out}) -> {out}")
        return name, result, element

    def pick_factors(self, condition):
        first = self.pick(lambda value: value[2] in ("f32", "i32"))
        second = self.pick(lambda value: value[2] == first[2] and condition(first[1], value[1]))
        return first, second

    def gathered_matmul(self):
        """A matmul of which a gather gives rows of the left or columns of the right factor."""
        group, size = self.draw.choice((("@world", self.ranks), ("@pair", 2)))
        left, right = self.pick_factors(lambda a, b: a[1] == b[0])
        if not right or left[1][0] * size * right[1][1] * left[1][1] > 4096:
            return
        factors = [left, right]
        which = self.draw.randrange(2)
        name, shape, element = factors[which]
        joined = tuple(n * size if dim == which else n for dim, n in enumerate(shape))
        value = self.move(f"comm.all_gather {name} on {group} dim {which} : {spell(shape, element)} -> {spell(joined, element)}",
                          joined, element)
        factors[which] = value, joined, element
        self.values.append(self.multiply(*factors))

    def reduced_matmul(self):
        """A collective of what a matmul gives, as it is or narrowed."""
        group, size = self.draw.choice((("@world", self.ranks), ("@pair", 2)))
        left, right = self.pick_factors(lambda a, b: a[1] == b[0])
        if not right or left[1][0] * right[1][1] * left[1][1] > 4096:
            return
        name, shape, element = self.multiply(left, right)
        if self.draw.random() < 0.3:
            to, op = NARROWER[element]
            name = self.define(f"{op} {name} : {spell(shape, element)} to {spell(shape, to)}")
            element = to
        type = spell(shape, element)
        dim = self.draw.randrange(2)
        if shape[dim] % size == 0 and self.draw.random() < 0.6:
            part = tuple(n // size if i == dim else n for i, n in enumerate(shape))
            text = f"comm.reduce_scatter sum {name} on {group} dim {dim} : {type} -> {spell(part, element)}"
        else:
            part, text = shape, f"comm.all_reduce {self.draw.choice(('sum', 'max'))} {name} on {group} : {type}"
        self.values.append((self.move(text, part, element), part, element))

    steps = rewritten_programs.Generator.steps[::2] + ("gathered_matmul", "reduced_matmul") * 5


if __name__ == "__main__":
    sys.exit(rewritten_programs.main(__doc__, PASSES, "comm-pipeline-matmul", MatmulGenerator))
