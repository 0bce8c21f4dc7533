# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs: the text of a function, and what it computes in NumPy.

A program is a tree of statements; each one can `emit` MLIR and `run` on an
environment that holds, for each name, the list of the ranks' arrays. All values
are tensors of SIZE f32; the arithmetic is exact in the sense that NumPy and
compiled loops give the same bits.
"""

import braid_testing as bt
import numpy as np

SIZE = 6  # can be divided among 1, 2, 3 and 6 ranks
TENSOR = f"tensor<{SIZE}xf32>"
TOKEN = f"!comm.token<{TENSOR}>"
MEMREF = f"memref<{SIZE}xf32>"

COMPUTE = {"add": np.add, "sub": np.subtract, "max": np.maximum, "min": np.minimum}


def scaled(values):
    return [v * np.float32(0.25) for v in values]


def collective(kind, values):
    if kind in ("sum", "max", "min"):
        return bt.all_reduce(bt.F32, kind, values)
    if kind == "broadcast":
        return bt.broadcast(values, 0)
    if kind == "permute":
        return bt.permute(values, [(0, 1), (1, 0)])
    return bt.all_to_all(values)


def collective_text(kind, operands, types):
    spelled = ", ".join(operands)
    return {
        "sum": f"all_reduce sum {spelled} on @world",
        "max": f"all_reduce max {spelled} on @world",
        "min": f"all_reduce min {spelled} on @world",
        "broadcast": f"broadcast {spelled} on @world root 0",
        "permute": f"permute {spelled} on @world pairs [[0, 1], [1, 0]]",
        "all_to_all": f"all_to_all {spelled} on @world",
    }[kind] + " : " + ", ".join(types)


class Compute:
    """name = a op b, scaled so that values stay small; in a new tensor or in the
    one of `a`."""

    def __init__(self, name, op, a, b, in_place):
        self.name, self.op, self.a, self.b, self.in_place = name, op, a, b, in_place

    def emit(self, out):
        n = self.name
        out.append(f"%{n}_f = arith.constant dense<0.25> : {TENSOR}")
        out.append(f"%{n}_e = tensor.empty() : {TENSOR}")
        target = self.a if self.in_place else f"{n}_e"
        out.append(f"%{n}_s = linalg.{self.op} ins(%{self.a}, %{self.b} : {TENSOR}, {TENSOR}) "
                   f"outs(%{target} : {TENSOR}) -> {TENSOR}")
        out.append(f"%{n} = linalg.mul ins(%{n}_s, %{n}_f : {TENSOR}, {TENSOR}) "
                   f"outs(%{n}_s : {TENSOR}) -> {TENSOR}")

    def run(self, env):
        env[self.name] = scaled([COMPUTE[self.op](x, y)
                                 for x, y in zip(env[self.a], env[self.b])])


class Start:
    """Starts one collective of one or several operands; names are the tokens'."""

    def __init__(self, names, kind, operands):
        self.names, self.kind, self.operands = names, kind, operands

    def emit(self, out):
        group = f"%{self.names[0]}_l"
        count = len(self.names)
        text = collective_text(self.kind, [f"%{o}" for o in self.operands], [TENSOR] * count)
        out.append(f"{group}:{count} = comm.{text}")
        for index, name in enumerate(self.names):
            # A name of its own for every token.
            out.append(("rename", name, f"{group}#{index}"))

    def run(self, env):
        for name, operand in zip(self.names, self.operands):
            env[name] = collective(self.kind, env[operand])


class Wait:
    def __init__(self, name, token):
        self.name, self.token = name, token

    def emit(self, out):
        out.append(f"%{self.name} = comm.wait %{self.token} : {TOKEN}")

    def run(self, env):
        env[self.name] = env[self.token]


class Exchange:
    """Sends to the next rank and receives from the previous one, with work
    between."""

    def __init__(self, name, operand, between):
        self.name, self.operand, self.between = name, operand, between

    def emit(self, out):
        n = self.name
        for line in [
                f"%{n}_1 = arith.constant 1 : index",
                f"%{n}_rank = comm.rank on @world",
                f"%{n}_size = comm.size on @world",
                f"%{n}_up = arith.addi %{n}_rank, %{n}_1 : index",
                f"%{n}_next = arith.remui %{n}_up, %{n}_size : index",
                f"%{n}_below = arith.addi %{n}_rank, %{n}_size : index",
                f"%{n}_down = arith.subi %{n}_below, %{n}_1 : index",
                f"%{n}_previous = arith.remui %{n}_down, %{n}_size : index",
                f"%{n}_s = comm.send %{self.operand} on @world to %{n}_next : {TENSOR}",
                f"%{n}_r = comm.recv on @world from %{n}_previous : {TENSOR}"]:
            out.append(line)
        for statement in self.between:
            statement.emit(out)
        out.append(f"comm.wait %{n}_s : !comm.token")
        out.append(f"%{n} = comm.wait %{n}_r : {TOKEN}")

    def run(self, env):
        values = env[self.operand]
        env[self.name] = [values[r - 1] for r in range(len(values))]
        for statement in self.between:
            statement.run(env)


class If:
    """A branch on whether %n is large: the same on all ranks."""

    def __init__(self, names, kinds, then, then_results, other, other_results):
        self.names, self.kinds = names, kinds
        self.branches = [(then, then_results), (other, other_results)]

    def emit(self, out):
        n = self.names[0]
        types = ", ".join(TOKEN if k == "token" else TENSOR for k in self.kinds)
        out.append(f"%{n}_1 = arith.constant 1 : index")
        out.append(f"%{n}_c = arith.cmpi ugt, %n, %{n}_1 : index")
        out.append(f"%{n}_i:{len(self.names)} = scf.if %{n}_c -> ({types}) {{")
        for number, (body, results) in enumerate(self.branches):
            if number:
                out.append("} else {")
            for statement in body:
                statement.emit(out)
            out.append("scf.yield " + ", ".join(f"%{r}" for r in results) + f" : {types}")
        out.append("}")
        for index, name in enumerate(self.names):
            out.append(("rename", name, f"%{n}_i#{index}"))

    def run(self, env):
        body, results = self.branches[0 if env["n"] > 1 else 1]
        for statement in body:
            statement.run(env)
        for name, result in zip(self.names, results):
            env[name] = env[result]


class For:
    """A loop of %n iterations that carries values and tokens."""

    def __init__(self, names, kinds, inits, arguments, body, results):
        self.names, self.kinds, self.inits = names, kinds, inits
        self.arguments, self.body, self.results = arguments, body, results

    def emit(self, out):
        n = self.names[0]
        types = ", ".join(TOKEN if k == "token" else TENSOR for k in self.kinds)
        arguments = ", ".join(f"%{a} = %{i}" for a, i in zip(self.arguments, self.inits))
        out.append(f"%{n}_0 = arith.constant 0 : index")
        out.append(f"%{n}_1 = arith.constant 1 : index")
        out.append(f"%{n}_r:{len(self.names)} = scf.for %{n}_i = %{n}_0 to %n step %{n}_1 "
                   f"iter_args({arguments}) -> ({types}) {{")
        for statement in self.body:
            statement.emit(out)
        out.append("scf.yield " + ", ".join(f"%{r}" for r in self.results) + f" : {types}")
        out.append("}")
        for index, name in enumerate(self.names):
            out.append(("rename", name, f"%{n}_r#{index}"))

    def run(self, env):
        values = [env[i] for i in self.inits]
        for _ in range(env["n"]):
            env.update(zip(self.arguments, values))
            for statement in self.body:
                statement.run(env)
            values = [env[r] for r in self.results]
        env.update(zip(self.names, values))


class Generator:
    """Random blocks; `shape` says what else than straight code is in them."""

    def __init__(self, seed, shape):
        self.random = np.random.RandomState(seed)
        self.shape = shape
        self.count = 0

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def pick(self, names):
        return names[self.random.randint(len(names))]

    def chance(self, probability):
        return self.random.random_sample() < probability

    def compute(self, values):
        op = self.pick(sorted(COMPUTE))
        statement = Compute(self.name("c"), op, self.pick(values), self.pick(values),
                            self.chance(0.3))
        values.append(statement.name)
        return statement

    def start(self, values, tokens):
        count = self.random.randint(2, 4) if "coalesced" in self.shape and self.chance(0.6) else 1
        kind = self.pick(["sum", "max", "min", "broadcast", "permute", "all_to_all"])
        names = [self.name("t") for _ in range(count)]
        tokens.extend(names)
        return Start(names, kind, [self.pick(values) for _ in range(count)])

    def wait(self, values, tokens):
        token = tokens.pop(self.random.randint(len(tokens)))
        statement = Wait(self.name("w"), token)
        values.append(statement.name)
        return statement

    def block(self, values, tokens, length, depth):
        """Statements that add to `values`, and start and await tokens; those
        still open at the end stay in `tokens`."""
        body = []
        for _ in range(length):
            draw = self.random.random_sample()
            if draw < 0.25:
                body.append(self.start(values, tokens))
            elif draw < 0.5 and tokens:
                body.append(self.wait(values, tokens))
            elif draw < 0.6 and depth and "loop" in self.shape:
                body.append(self.loop(values, tokens, depth))
            elif draw < 0.7 and depth and "branch" in self.shape:
                body.append(self.branch(values, tokens, depth))
            elif draw < 0.75 and "messages" in self.shape:
                between = [self.compute(values) for _ in range(self.random.randint(3))]
                operand = self.pick(values[:len(values) - len(between)])
                body.append(Exchange(self.name("m"), operand, between))
                values.append(body[-1].name)
            else:
                body.append(self.compute(values))
        return body

    def carried(self, values, tokens):
        """What crosses the border of a region: a value or two, open tokens."""
        taken = []
        while tokens and len(taken) < 2 and self.chance(0.7):
            taken.append(tokens.pop(self.random.randint(len(tokens))))
        kinds = ["token"] * len(taken) + ["value"]
        return taken + [self.pick(values)], kinds

    def finish(self, values, tokens, body, count):
        """Awaits or starts collectives until exactly `count` tokens are open."""
        while len(tokens) > count:
            body.append(self.wait(values, tokens))
        while len(tokens) < count:
            names = [self.name("t")]
            tokens.extend(names)
            body.append(Start(names, self.pick(["sum", "max"]), [self.pick(values)]))

    def region(self, values, tokens, kinds, depth):
        """A block that ends with as many open tokens as `kinds` has."""
        body = self.block(values, tokens, self.random.randint(1, 4), depth - 1)
        count = kinds.count("token")
        self.finish(values, tokens, body, count)
        order = [tokens[i] for i in self.random.permutation(count)]
        return body, order + [self.pick(values)]

    def results(self, kinds, values, tokens):
        names = [self.name("r") for _ in kinds]
        for name, kind in zip(names, kinds):
            (tokens if kind == "token" else values).append(name)
        return names

    def loop(self, values, tokens, depth):
        inits, kinds = self.carried(values, tokens)
        arguments = [self.name("a") for _ in kinds]
        inner_tokens = [a for a, k in zip(arguments, kinds) if k == "token"]
        inner_values = values + [a for a, k in zip(arguments, kinds) if k == "value"]
        body, results = self.region(inner_values, inner_tokens, kinds, depth)
        return For(self.results(kinds, values, tokens), kinds, inits, arguments, body, results)

    def branch(self, values, tokens, depth):
        # Tokens that were open before may be awaited in both branches.
        taken, _ = self.carried(values, tokens)
        open_tokens = taken[:-1]
        kinds = ["token"] * self.random.randint(2) + ["value"]
        branches = []
        for _ in range(2):
            branches += self.region(list(values), list(open_tokens), kinds, depth)
        return If(self.results(kinds, values, tokens), kinds, *branches)

    def program(self):
        values, tokens = ["x", "y"], []
        body = self.block(values, tokens, 9, 2)
        self.finish(values, tokens, body, 0)
        return body, [values[-1], self.pick(values)]


def tensor_program(seed, shape, name):
    """The text of function `name`, and what it gives for (x, y, n)."""
    body, results = Generator(seed, shape).program()
    lines = []
    for statement in body:
        statement.emit(lines)
    text, renamed = [], {}
    for line in lines:
        if isinstance(line, tuple):
            renamed[f"%{line[1]}"] = line[2]
        else:
            text.append("  " + line)
    text = "\n".join(text)
    results_text = [renamed.get(f"%{r}", f"%{r}") for r in results]

    def run(x, y, n):
        env = {"x": x, "y": y, "n": n}
        for statement in body:
            statement.run(env)
        return [env[r] for r in results]

    return "\n".join([
        f"func.func private @{name}(%x: {TENSOR}, %y: {TENSOR}, %n: index) -> "
        f"({TENSOR}, {TENSOR}) attributes {{no_inline}} {{",
        rename(text, renamed),
        f"  return {results_text[0]}, {results_text[1]} : {TENSOR}, {TENSOR}", "}", ""]), run


def rename(text, names):
    """Spells results of ops with several ones as `%op#1`."""
    import re
    return re.sub(r"%\w+\b(?!#|:)", lambda match: names.get(match.group(0), match.group(0)),
                  text)


def buffer_program(seed, name):
    """The same on buffers: four of them, computed and communicated in place and
    into each other; nobody touches what is in flight."""
    random = np.random.RandomState(seed)
    lines, steps, flights = [], [], []  # flights: (token, source, destination)

    def pick(allowed):
        return allowed[random.randint(len(allowed))] if allowed else None

    def start(number):
        written = {d for _, _, d in flights}
        touched = written | {s for _, s, _ in flights}
        source = pick([b for b in range(4) if b not in written])
        target = pick([b for b in range(4) if b not in touched])
        if source is None or target is None:
            return False
        kind = ["sum", "max", "broadcast"][random.randint(3)]
        if source != target:
            kind = ["sum", "permute", "all_to_all"][random.randint(3)]
        text = {
            "sum": "all_reduce sum %b{0} into %b{1} on @world",
            "max": "all_reduce max %b{0} into %b{1} on @world",
            "broadcast": "broadcast %b{0} into %b{1} on @world root 0",
            "permute": "permute %b{0} into %b{1} on @world pairs [[0, 1], [1, 0]]",
            "all_to_all": "all_to_all %b{0} into %b{1} on @world",
        }[kind].format(source, target)
        lines.append(f"%t{number} = comm.{text} : {MEMREF}, {MEMREF}")
        # Nobody looks at the destination before the wait.
        steps.append(lambda env: env.__setitem__(target, collective(kind, env[source])))
        flights.append((number, source, target))
        return True

    def wait():
        number, source, target = flights.pop(random.randint(len(flights)))
        reads = "" if source == target else f" reads(%b{source} : {MEMREF})"
        lines.append(f"comm.wait %t{number}{reads} writes(%b{target} : {MEMREF}) : !comm.token")

    def compute(number):
        written = {d for _, _, d in flights}
        touched = written | {s for _, s, _ in flights}
        a, b = (pick([k for k in range(4) if k not in written]) for _ in range(2))
        target = pick([k for k in range(4) if k not in touched])
        if a is None or target is None:
            return False
        op = sorted(COMPUTE)[random.randint(len(COMPUTE))]
        lines.append(f"linalg.{op} ins(%b{a}, %b{b} : {MEMREF}, {MEMREF}) "
                     f"outs(%b{target} : {MEMREF})")
        lines.append(f"linalg.mul ins(%b{target}, %quarter : {MEMREF}, {MEMREF}) "
                     f"outs(%b{target} : {MEMREF})")
        steps.append(lambda env: env.__setitem__(
            target, scaled([COMPUTE[op](p, q) for p, q in zip(env[a], env[b])])))
        return True

    for number in range(16):
        draw = random.random_sample()
        if draw < 0.35 and start(number):
            continue
        if draw < 0.55 and flights:
            wait()
        elif not compute(number) and flights:
            wait()
    while flights:
        wait()

    def run(x, y, n):
        env = {0: x, 1: y, 2: x, 3: y}
        for step in steps:
            step(env)
        return [env[0], env[3]]

    return buffer_function(name, lines), run


def buffer_function(name, lines):
    """The text of a function of `lines` on the buffers %b0 to %b3, which begin as %x
    and %y in turn."""
    head = [f"func.func private @{name}(%x: {TENSOR}, %y: {TENSOR}, %n: index) -> "
            f"({TENSOR}, {TENSOR}) attributes {{no_inline}} {{",
            f"  %bx = bufferization.to_buffer %x read_only : {TENSOR} to {MEMREF}",
            f"  %by = bufferization.to_buffer %y read_only : {TENSOR} to {MEMREF}",
            f"  %quarter = memref.alloc() : {MEMREF}",
            "  %factor = arith.constant 0.25 : f32",
            f"  linalg.fill ins(%factor : f32) outs(%quarter : {MEMREF})"]
    for b in range(4):
        head.append(f"  %b{b} = memref.alloc() : {MEMREF}")
        head.append(f"  memref.copy %b{'xy'[b % 2]}, %b{b} : {MEMREF} to {MEMREF}")
    tail = [f"  %r0 = bufferization.to_tensor %b0 restrict : {MEMREF} to {TENSOR}",
            f"  %r1 = bufferization.to_tensor %b3 restrict : {MEMREF} to {TENSOR}",
            f"  return %r0, %r1 : {TENSOR}, {TENSOR}", "}", ""]
    return "\n".join(head + ["  " + line for line in lines] + tail)


SHAPES = [("straight",), ("coalesced",), ("branch",), ("loop",), ("messages",),
          ("coalesced", "messages"), ("loop", "branch"),
          ("loop", "branch", "coalesced", "messages"), ("buffers",)]


def random_program(seed, name):
    """A program of one of the SHAPES, in turn: its text and its meaning."""
    shape = SHAPES[seed % len(SHAPES)]
    if "buffers" in shape:
        return buffer_program(seed, name)
    return tensor_program(seed, shape, name)
