# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random loops over layers, on tensors, for check_schedules.py.

Each loop gathers slices of stacked weights, computes, reduces, and inserts into stacks or adds to sums: at indices that
count up, down or by two, through casts, with results that the same iteration or the next one reads, too.
"""

import random

RANKS = 2
ROWS = 8
WHOLE, HALF = "tensor<4xf32>", "tensor<2xf32>"
WEIGHTS, STACK = f"tensor<{ROWS}x2xf32>", f"tensor<{ROWS}x4xf32>"


class Generator:
    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.count = 0
        self.lines = []

    def new(self, line):
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"{name} = {line}")
        return name

    def index(self, counter, last):
        """An index below ROWS; `last`: the largest value of the counter, below ROWS / 2."""
        kind = self.draw.randrange(5)
        if kind == 0:
            return counter
        if kind == 1:
            return self.new(f"arith.subi %i{last}, {counter} : index")
        if kind == 2:
            return self.new(f"arith.addi {counter}, %i{self.draw.choice((1, 2))} : index")
        if kind == 3:
            return self.new(f"arith.muli {counter}, %i2 : index")
        low = self.new(f"arith.maxsi {counter}, %i1 : index")
        return self.new(f"arith.minsi {low}, %i2 : index")

    def gather(self, counter, last):
        source = self.draw.choice(("%ws", "%us"))
        place = self.index(counter, last)
        part = self.new(f"tensor.extract_slice {source}[{place}, 0] [1, 2] [1, 1] : {WEIGHTS} to {HALF}")
        if self.draw.random() < 0.3:
            part = self.new(f"arith.negf {part} : {HALF}")
        token = self.new(f"comm.all_gather {part} on @pair dim 0 : {HALF} -> {WHOLE}")
        return token, WHOLE

    def reduce(self, value):
        if self.draw.random() < 0.5:
            return self.new(f"comm.reduce_scatter sum {value} on @pair dim 0 : {WHOLE} -> {HALF}"), HALF
        return self.new(f"comm.all_reduce max {value} on @pair : {WHOLE}"), WHOLE

    def wait(self, token, kind):
        return self.new(f"comm.wait {token} : !comm.token<{kind}>")

    def loop(self, values, depth=0):
        """Adds a loop; `values`: the state, a stack for halves, one for wholes, and a sum. Returns the new ones."""
        self.count += 1
        number = self.count
        counter = f"%c{number}"
        first, step, trips = self.draw.choice((0, 0, 1)), self.draw.choice((1, 1, 2)), self.draw.choice((0, 1, 2, 2, 3, 3))
        end = first + step * trips - (self.draw.choice((0, 1)) if step == 2 and trips else 0)
        last = max(first, end)
        if last > ROWS // 2 - 1:
            first, step, end, last = 0, 1, 3, 3
        bound = f"%i{end}"
        if self.draw.random() < 0.25:
            # All ranks compute the same, but the number is not known.
            size = self.new("comm.size on @pair")
            bound = self.new(f"arith.addi {size}, %i{end - RANKS} : index") if end >= RANKS else self.new(f"arith.subi {size}, %i{RANKS - end} : index")
        types = [WHOLE, WEIGHTS, STACK, HALF]
        carried = [f"%l{number}_{place}" for place in range(4)]
        inits = ", ".join(f"{a} = {b}" for a, b in zip(carried, values))
        self.lines.append(f"%r{number}:4 = scf.for {counter} = %i{first} to {bound} step %i{step} iter_args({inits}) -> ({', '.join(types)}) {{")
        x, halves, wholes, total = carried
        flights = []
        for _ in range(self.draw.randint(2, 6)):
            chance = self.draw.random()
            if chance < 0.45:
                flights.append((*self.gather(counter, last), False))
            elif chance < 0.7:
                flights.append((*self.reduce(x), True))
            elif chance < 0.78 and depth == 0:
                x, halves, wholes, total = self.loop((x, halves, wholes, total), depth + 1)
            else:
                x = self.new(f"arith.mulf {x}, %half : {WHOLE}")
            while flights and self.draw.random() < 0.7:
                token, kind, is_reduced = flights.pop(self.draw.randrange(len(flights)))
                x, halves, wholes, total = self.use(token, kind, is_reduced, (x, halves, wholes, total), counter, last)
        for token, kind, is_reduced in flights:
            x, halves, wholes, total = self.use(token, kind, is_reduced, (x, halves, wholes, total), counter, last)
        self.lines += [f"scf.yield {x}, {halves}, {wholes}, {total} : {', '.join(types)}", "}"]
        return [f"%r{number}#{place}" for place in range(4)]

    def use(self, token, kind, is_reduced, values, counter, last):
        x, halves, wholes, total = values
        value = self.wait(token, kind)
        if is_reduced and self.draw.random() < 0.75:
            if self.draw.random() < 0.3:
                value = self.new(f"arith.negf {value} : {kind}")
            stack, rows = (halves, 2) if kind == HALF else (wholes, 4)
            if kind == HALF and self.draw.random() < 0.3:
                total = self.new(f"arith.addf {total}, {value} : {HALF}")
            else:
                place = self.index(counter, last)
                new = self.new(f"tensor.insert_slice {value} into {stack}[{place}, 0] [1, {rows}] [1, 1] : {kind} into tensor<{ROWS}x{rows}xf32>")
                halves, wholes = (new, wholes) if kind == HALF else (halves, new)
                if self.draw.random() < 0.1:
                    row = self.new(f"tensor.extract_slice {new}[%i1, 0] [1, {rows}] [1, 1] : tensor<{ROWS}x{rows}xf32> to {kind}")
                    x = self.new(f"arith.addf {x}, {row} : {WHOLE}") if kind == WHOLE else x
            if self.draw.random() < 0.8:
                return x, halves, wholes, total
        if kind == WHOLE:
            x = self.new(f"arith.addf {x}, {value} : {WHOLE}")
        else:
            total = self.new(f"arith.addf {total}, {value} : {HALF}")
        return x, halves, wholes, total

    def make(self):
        values = ["%x", "%hs", "%gs", "%sum"]
        for _ in range(self.draw.choice((1, 1, 2))):
            values = self.loop(values)
        types = ", ".join((WHOLE, WEIGHTS, STACK, HALF))
        return "\n".join([
            "comm.group @pair [[0, 1]]",
            f"func.func @main(%x: {WHOLE}, %ws: {WEIGHTS}, %us: {WEIGHTS}, %hs: {WEIGHTS}, %gs: {STACK}, %sum: {HALF}) -> ({types}) {{",
            *[f"%i{i} = arith.constant {i} : index" for i in range(ROWS)],
            f"%half = arith.constant dense<0.5> : {WHOLE}",
            *self.lines, f"return {', '.join(values)} : {types}", "}", ""])  # fmt: skip
