# RUN: %python %s --programs 20 --jobs 2 | FileCheck %s
# CHECK: comm-pipeline-loops=all: 20 right, {{[0-9]+}} changed
# CHECK-NEXT: comm-pipeline-loops=all numerics=reassociate: 20 right, {{1[0-9]|20}} changed
# CHECK-NEXT: comm-pipeline-loops=all numerics=same-terms sink-all unroll: 20 right, {{1[0-9]|20}} changed
# CHECK: 20 programs: 0 wrong
"""Runs collectives of random loops beside other iterations; the results have to stay.

The body of a loop, some of them whiles, or of two nested ones, has what programs of test/Dev/rewritten_programs.py
have, and most values that it carries add up what an all-reduce gives. Some loops stack values of collectives, in all
rows or in some. comm-pipeline-loops rewrites the loop, and
comm-interpret has to give the results of the program on all ranks: the same bits with
numerics=exact, and the same but for rounding otherwise.

The exit status is 1 if there is a difference; the script prints and keeps the program.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "Dev"))
import rewritten_programs  # noqa: E402
from rewritten_programs import spell  # noqa: E402

PASSES = ["comm-pipeline-loops=all", "comm-pipeline-loops=all numerics=reassociate",
          "comm-pipeline-loops=all numerics=same-terms sink-all unroll",
          "comm-pipeline-loops=numerics=reassociate machine=h200x8 ranks=2"]


class LoopGenerator(rewritten_programs.Generator):
    #: Whether ranks may add up the terms of sums in any order.
    any_order = False

    def take_part(self, whole):
        """A value of the shape (4, 4) that has elements of `whole` at other places."""
        name, shape, element = whole
        if shape != (4, 4):
            part = self.new()
            self.lines.append(f"{part} = tensor.extract_slice {name}[3, 0] [4, 4] [1, 1] : {spell(shape, element)} to "
                              f"{spell((4, 4), element)}")
            name = part
        if self.draw.random() < 0.5:
            type, empty, turned = spell((4, 4), element), self.new(), self.new()
            self.lines += [f"{empty} = tensor.empty() : {type}",
                           f"{turned} = linalg.transpose ins({name} : {type}) outs({empty} : {type}) permutation = [1, 0]"]
            name = turned
        return name

    def add_up(self, carried):
        """The next value of `carried`: most are sums of what an all-reduce gives."""
        name, shape, element = carried
        add = "arith.addi" if element == "i32" else "arith.addf"
        term = self.pick(lambda value: value[1:] == carried[1:] and value != carried) or carried
        if self.draw.random() < 0.2:
            return term[0]
        reduction = "sum" if self.draw.random() < 0.8 else "max"
        moves = shape == (4, 4) and self.draw.random() < 0.4
        if moves and self.draw.random() < 0.5:
            term = self.pick(lambda value: value[1:] == ((8, 4), element)) or term
        token, value, total = self.new(), self.new(), self.new()
        type = spell(term[1], element)
        mark = " {comm.any_order}" if self.any_order and self.draw.random() < 0.8 else ""
        self.lines += [f"{token} = comm.all_reduce {reduction} {term[0]} on @world{mark} : {type}",
                       f"{value} = comm.wait {token} : !comm.token<{type}>"]
        if moves:
            value = self.take_part((value, term[1], element))
        operands = [name, value] if self.draw.random() < 0.5 else [value, name]
        self.lines.append(f"{total} = {add} {operands[0]}, {operands[1]} : {spell(shape, element)}")
        return total

    def stack(self, counter, rows):
        """The next value of a stack with so many rows: of what a collective gives, at an index that counts up, down or to
        the middle."""
        name, shape, element = self.pick(lambda value: value[1:] == ((4, 4), "f32")) or self.arguments[0]
        type, row, stack = (spell(sizes, element) for sizes in (shape, self.row, (rows, *self.row)))
        start = self.draw.choice(("all_reduce sum {} on @world", "all_reduce max {} on @pair", "broadcast {} on @world root 1",
                                  "permute {} on @pair pairs [[0, 1]]")).format(name)
        if self.row != shape:
            dim = 0 if self.row[1] == shape[1] else 1
            start = f"{'all_gather' if self.row[dim] == 8 else 'reduce_scatter sum'} {name} on @pair dim {dim}"
            type = f"{type} -> {row}"
        token, value, limit, index, result = (self.new() for _ in range(5))
        compute = self.draw.choice(("arith.subi {1}, {0}",) * 2 + ("arith.minsi {0}, {1}",) * 2 + ("arith.maxsi {0}, {1}",))
        self.lines += [f"{token} = comm.{start} : {type}", f"{value} = comm.wait {token} : !comm.token<{row}>",
                       f"{limit} = arith.constant {rows - 1} : index", f"{index} = {compute.format(counter, limit)} : index",
                       f"{result} = tensor.insert_slice {value} into %stack[{index}, 0, 0] [1, {self.row[0]}, {self.row[1]}] [1, 1, 1] : "
                       f"{row} into {stack}"]
        return result

    def make(self):
        end, is_nested = self.draw.randint(0, 7), self.draw.random() < 0.4
        rows = (2 if is_nested else end) if self.draw.random() < 0.6 else 0
        carried = [(f"%s{i}", shape, element) for i, (_, shape, element) in enumerate(self.arguments[:3])]
        self.values = list(self.arguments)
        if self.draw.random() < 0.4:
            self.values.append(self.draw.choice(carried))
        element = spell((4, 4), "i32")
        self.lines += ["%n = arith.index_cast %i : index to i32", f"%p = tensor.splat %n : {element}"]
        self.values.append(("%p", (4, 4), "i32"))
        for _ in range(self.draw.randint(2, 8)):
            getattr(self, self.draw.choice(self.steps))()
        while self.flights:
            self.wait()
        next_values = [self.add_up(value) for value in carried]
        arguments = list(self.arguments)
        if rows:
            self.row = self.draw.choice(((4, 4),) * 4 + ((8, 4), (4, 8), (2, 4), (4, 2)))
            arguments.append(("%rows", (rows, *self.row), "f32"))
            carried.append(("%stack", (rows, *self.row), "f32"))
            next_values.append(self.stack("%j" if is_nested else "%i", rows))
        types = ", ".join(spell(v[1], v[2]) for v in carried)
        starts = arguments[:3] + arguments[len(self.arguments):]
        begins = ", ".join(f"{v[0]} = {a[0]}" for v, a in zip(carried, starts))
        arguments = ", ".join(f"{v[0]}: {spell(v[1], v[2])}" for v in arguments)
        number, results = len(carried), [", ".join(f"%{name}#{i}" for i in range(len(carried))) for name in "rq"]
        groups = "[[0, 1]]" if self.ranks == 2 else "[[0, 1], [2, 3]]"
        body = [*self.lines, f"scf.yield {', '.join(next_values)} : {types}"]
        if is_nested:
            # An inner loop, with the values of the outer one or with its own number.
            counter = self.draw.choice(("%i", "%j"))
            inner = ", ".join(f"{v[0]} = {v[0]}o" for v in carried)
            begins = begins.replace(" =", "o =")
            body = [f"%q:{number} = scf.for %j = %c0 to %inner step %c1 iter_args({inner}) -> ({types}) {{",
                    *(line.replace("index_cast %i ", f"index_cast {counter} ") for line in body), "}",
                    f"scf.yield {results[1]} : {types}"]
        head = f"%r:{number} = scf.for %i = %c0 to %end step %c1 iter_args({begins}) -> ({types}) {{"
        known = [f"%end = arith.constant {end} : index"]
        if not is_nested and self.draw.random() < 0.3:
            # The same as a while, with an end that the text gives or not.
            names = ", ".join(v[0] for v in carried)
            typed = ", ".join(f"{v[0]}: {spell(v[1], v[2])}" for v in carried)
            head = "\n".join([
                f"%r:{number + 1} = scf.while (%i = %c0, {begins}) : (index, {types}) -> (index, {types}) {{",
                "%go = arith.cmpi slt, %i, %end : index", f"scf.condition(%go) %i, {names} : index, {types}", "} do {",
                f"^bb0(%i: index, {typed}):", "%next = arith.addi %i, %c1 : index"])
            body[-1] = f"scf.yield %next, {', '.join(next_values)} : index, {types}"
            results[0], types = ", ".join(f"%r#{i}" for i in range(number + 1)), f"index, {types}"
            if self.draw.random() < 0.6:
                known = ["%size = comm.size on @pair", f"%more = arith.constant {end - 2} : index",
                         "%end = arith.addi %size, %more : index"]
        return "\n".join([
            f"comm.group @world [{list(range(self.ranks))}]", f"comm.group @pair {groups}",
            f"func.func @main({arguments}) -> ({types}) {{", "%c0 = arith.constant 0 : index",
            "%c1 = arith.constant 1 : index", *known, "%inner = arith.constant 2 : index",
            head, *body, "}", f"return {results[0]} : {types}", "}", ""])


if __name__ == "__main__":
    LoopGenerator.any_order = "comm-reduce-behind-loops" in sys.argv
    sys.exit(rewritten_programs.main(__doc__, PASSES, "comm-pipeline-loops", LoopGenerator))
