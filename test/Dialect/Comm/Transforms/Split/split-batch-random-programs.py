# RUN: %python %s --programs 20 --jobs 2 | FileCheck %s
# CHECK: comm-split-batch=all: 20 right, {{1[0-9]|20}} changed
# CHECK: comm-split-batch=machine=cpu {{.*}}: 20 right, {{[1-9][0-9]?}} changed
# CHECK: 20 programs: 0 wrong
"""Splits random programs into parts of a batch; the results have to stay.

A program has what those of test/Dev/rewritten_programs.py have, and matmuls, sums over one
dimension, reshapes, sums with rows and columns, and places in a tensor. comm-split-batch
splits it, and comm-interpret has to give the results of the program on all ranks: the
same bits with numerics=exact, and the same but for rounding otherwise.

The exit status is 1 if there is a difference; the script prints and keeps the program.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "Dev"))
import rewritten_programs  # noqa: E402
from rewritten_programs import spell  # noqa: E402

PASSES = ["comm-split-batch=all", "comm-split-batch=all numerics=same-terms",
          "comm-split-batch=all numerics=same-terms percentages=20,80",
          "comm-split-batch=batch=0:0,1:0 all numerics=same-terms parts=4",
          "comm-split-batch=machine=cpu min-gain=0 collective-model=link link-latency=0us link-bandwidth=0.001GB/s ranks=4"]
ARGUMENTS = [("%a", (8, 4), "f32"), ("%b", (8, 4), "f32"), ("%w", (4, 4), "f32"), ("%c", (8, 4), "i32"),
             ("%v", (4, 4), "i32"), ("%d", (8, 4), "bf16")]


class BatchGenerator(rewritten_programs.Generator):
    arguments = ARGUMENTS

    def zeros(self, shape, element):
        zero, empty, fill = self.new(), self.new(), self.new()
        number = "0" if element.startswith("i") else "0.0"
        type = spell(shape, element)
        self.lines += [f"{zero} = arith.constant {number} : {element}", f"{empty} = tensor.empty() : {type}",
                       f"{fill} = linalg.fill ins({zero} : {element}) outs({empty} : {type}) -> {type}"]
        return fill

    def matmul(self):
        """Rows by columns, or a sum over the rows of both."""
        first = self.pick(lambda value: value[2] in ("f32", "i32"))
        sums_rows = self.draw.random() < 0.4
        second = self.pick(lambda value: value[2] == first[2] and value[1][0] == first[1][0 if sums_rows else 1])
        if not second or first[1][1] * second[1][1] > 512:
            return
        name, shape, element = first
        result = (shape[1] if sums_rows else shape[0], second[1][1])
        types = f"{spell(shape, element)}, {spell(second[1], element)}"
        out = spell(result, element)
        zeros = self.zeros(result, element)
        left = "(k, i)" if sums_rows else "(i, k)"
        suffix = "i" if element == "i32" else "f"
        maps = ", ".join(f"affine_map<(i, j, k) -> {m}>" for m in (left, "(k, j)", "(i, j)"))
        self.add(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]}}"
                 f" ins({name}, {second[0]} : {types}) outs({zeros} : {out}) {{\n"
                 f"^bb0(%x0: {element}, %x1: {element}, %o: {element}):\n%m = arith.mul{suffix} %x0, %x1 : {element}\n"
                 f"%y = arith.add{suffix} %o, %m : {element}\nlinalg.yield %y : {element}\n}} -> {out}", result, element)

    def reduce(self):
        """A sum over a dimension, which goes to all elements of the other values."""
        name, shape, element = self.pick(lambda value: value[2] in ("f32", "i32"))
        dim = self.draw.randrange(2)
        kept = (shape[1 - dim],)
        zeros = self.zeros(kept, element)
        sums, empty = self.new(), self.new()
        suffix = "i" if element == "i32" else "f"
        type, small = spell(shape, element), spell(kept, element)
        self.lines += [
            f"{sums} = linalg.reduce {{arith.add{suffix}}} ins({name} : {type}) outs({zeros} : {small}) dimensions = [{dim}]",
            f"{empty} = tensor.empty() : {type}"]
        self.add(f"linalg.broadcast ins({sums} : {small}) outs({empty} : {type}) dimensions = [{dim}]", shape, element)

    def number(self):
        """The place in the tensor, added to each element."""
        name, shape, element = self.pick(lambda value: value[2] in ("f32", "i32"))
        convert = "%n = arith.index_cast %p : index to i32"
        add = "%y = arith.addi %x0, %n : i32"
        if element == "f32":
            convert += "\n%f = arith.sitofp %n : i32 to f32"
            add = "%y = arith.addf %x0, %f : f32"
        body = f"%i = linalg.index 0 : index\n%j = linalg.index 1 : index\n%p = arith.addi %i, %j : index\n{convert}\n{add}"
        self.generic([(name, shape, element)], ["d0, d1"], shape, element, body)

    def reshape(self):
        """Rows in groups, a collective of the groups, and rows again."""
        found = self.pick(lambda value: value[1][0] % 2 == 0)
        if not found:
            return
        name, shape, element = found
        groups = (shape[0] // 2, 2, shape[1])
        wide, token, all, flat = (self.new() for _ in range(4))
        type = spell(groups, element)
        self.lines += [
            f"{wide} = tensor.expand_shape {name} [[0, 1], [2]] output_shape [{', '.join(map(str, groups))}] : "
            f"{spell(shape, element)} into {type}",
            f"{token} = comm.all_to_all {wide} on @pair : {type}" if groups[0] % 2 == 0 and self.draw.random() < 0.5
            else f"{token} = comm.all_reduce max {wide} on @world : {type}",
            f"{all} = comm.wait {token} : !comm.token<{type}>"]
        self.add(f"tensor.collapse_shape {all} [[0, 1], [2]] : {type} into {spell(shape, element)}", shape, element)

    steps = rewritten_programs.Generator.steps + ("matmul",) * 4 + ("reduce", "number", "number", "reshape", "reshape")


if __name__ == "__main__":
    sys.exit(rewritten_programs.main(__doc__, PASSES, "comm-split-batch", BatchGenerator))
