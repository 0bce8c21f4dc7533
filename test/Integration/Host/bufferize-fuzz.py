# RUN: %python %s --programs=300 --seed=1
#
# Random programs through comm-bufferize, interpreted under the rules of buffers
# in flight: from a start to its wait no one writes what the operation reads, and
# no one touches what it writes. The values have to be those of the program on
# tensors. `--programs=20000` by hand takes a minute.
"""Fuzzes comm-bufferize; see the top of the file."""

import argparse
import random
import re
import subprocess
import sys

BATCH = 500

# What operations compute here: any function will do, but not the identity.
KINDS = {
    "all_reduce sum": lambda x: [2 * e for e in x],
    "broadcast": lambda x: [e + 1000 for e in x],
    "permute": lambda x: [e + 100 for e in x],
    "all_gather": lambda x: x + [e + 10 for e in x],
    "reduce_scatter sum": lambda x: [a + b for a, b in zip(x[:4], x[4:])],
}
TAIL = {"broadcast": " root 0", "permute": " pairs [[0, 1]]", "all_gather": " dim 0", "reduce_scatter sum": " dim 0"}
RESULT_SIZE = {"all_gather": (4, 8), "reduce_scatter sum": (8, 4)}


def tensor(size):
    return f"tensor<{size}xf32>"


def token(size):
    return f"!comm.token<{tensor(size)}>" if size else "!comm.token"


class Program:
    """A random program: its text, and its results on tensors."""

    def __init__(self, number, rng):
        self.rng = rng
        self.number = number
        self.names = 0
        self.condition = rng.random() < 0.5
        donated = " {comm.donated}" if rng.random() < 0.4 else ""
        self.read_only = not donated
        self.arguments = {"%a": [1.0, 2.0, 3.0, 4.0], "%b": [5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]}
        header = [
            f"func.func @p{number}(%a: {tensor(4)}{donated}, %b: {tensor(8)}{donated}, %c: i1) -> (RESULTS) {{",
        ]
        header += [f"%k{i} = arith.constant {i + 1}.0 : f32\n%i{i} = arith.constant {i} : index" for i in range(4)]
        values = {name: (len(v), v) for name, v in self.arguments.items()}
        body, values, _ = self.block(values, {}, depth=0, length=rng.randint(6, 16))
        outs = rng.sample(sorted(values), min(3, len(values)))
        types = ", ".join(tensor(values[o][0]) for o in outs)
        body.append(f"return {', '.join(outs)} : {types}\n}}")
        self.text = "\n".join(header + body).replace("RESULTS", types)
        self.expected = [values[o][1] for o in outs]

    def fresh(self, prefix):
        self.names += 1
        return f"%{prefix}{self.names}"

    def pick(self, values, size=None):
        names = [n for n in values if size in (None, values[n][0])]
        recent = names[-5:] if self.rng.random() < 0.7 else names
        return self.rng.choice(recent)

    def start(self, values, tokens, lines):
        """One operation; tokens map a name to (size, value, sources)."""
        rng = self.rng
        kind = rng.choice(list(KINDS))
        size_in, size_out = RESULT_SIZE.get(kind, (None, None))
        count = 2 if rng.random() < 0.25 else 1
        sources = [self.pick(values, size_in) for _ in range(count)]
        sizes = [values[s][0] for s in sources]
        out_sizes = [size_out or s for s in sizes]
        name = self.fresh("t")
        into, types = "", ", ".join(map(tensor, sizes))
        if rng.random() < 0.3:
            destinations = [self.pick(values, s) for s in out_sizes]
            into = " into " + ", ".join(destinations)
            types += ", " + ", ".join(map(tensor, out_sizes))
        elif size_out:
            types += " -> " + ", ".join(map(tensor, out_sizes))
        pack = f"{name}:{count}" if count > 1 else name
        lines.append(f"{pack} = comm.{kind} {', '.join(sources)}{into} on @g{TAIL.get(kind, '')} : {types}")
        for index, source in enumerate(sources):
            own = f"{name}#{index}" if count > 1 else name
            tokens[own] = (out_sizes[index], KINDS[kind](values[source][1]))

    def wait(self, values, tokens, lines, name=None):
        name = name or self.rng.choice(list(tokens))
        size, value = tokens.pop(name)
        if size == 0:
            lines.append(f"comm.wait {name} : !comm.token")
            return
        result = self.fresh("v")
        lines.append(f"{result} = comm.wait {name} : {token(size)}")
        values[result] = (size, value)

    def loop(self, values, tokens, lines, depth):
        """A loop that carries a token and a tensor; its body is run here."""
        rng = self.rng
        carried = rng.choice([t for t in tokens if tokens[t][0]])
        size, in_flight = tokens.pop(carried)
        init = self.pick(values)
        trips = rng.randrange(3)
        t, x, index, out = (self.fresh(p) for p in "txin")
        state = rng.getstate()
        names = self.names
        current, accumulator = in_flight, values[init][1]
        text = None
        for _ in range(max(trips, 1)):
            rng.setstate(state)
            self.names = names
            inner = dict(values)
            inner[x] = (values[init][0], accumulator)
            inner_tokens = {t: (size, current)}
            body, inner, left = self.block(inner, inner_tokens, depth + 1, rng.randint(1, 5), keep=t)
            if t in left:
                self.wait(inner, left, body, t)
            new, new_tokens = self.fresh("t"), {}
            source = self.pick(inner, size)
            body.append(f"{new} = comm.all_reduce sum {source} on @g : {tensor(size)}")
            new_tokens[new] = KINDS["all_reduce sum"](inner[source][1])
            carry = self.pick(inner, values[init][0])
            body.append(f"scf.yield {new}, {carry} : {token(size)}, {tensor(values[init][0])}")
            text = body
            if trips:
                current, accumulator = new_tokens[new], inner[carry][1]
        types = f"({token(size)}, {tensor(values[init][0])})"
        lines.append(
            f"{out}:2 = scf.for {index} = %i0 to %i{trips} step %i1 "
            f"iter_args({t} = {carried}, {x} = {init}) -> {types} {{"
        )
        lines.extend(text + ["}"])
        tokens[f"{out}#0"] = (size, current)
        values[f"{out}#1"] = (values[init][0], accumulator)

    def branch(self, values, tokens, lines, depth):
        """An scf.if whose two sides start operations of one type."""
        size = self.rng.choice([4, 8])
        out = self.fresh("n")
        lines.append(f"{out} = scf.if %c -> {token(size)} {{")
        for side in (True, False):
            inner = dict(values)
            body, inner, _ = self.block(inner, {}, depth + 1, self.rng.randint(1, 4))
            kind = self.rng.choice(["all_reduce sum", "permute", "broadcast"])
            new, source = self.fresh("t"), self.pick(inner, size)
            body.append(f"{new} = comm.{kind} {source} on @g{TAIL.get(kind, '')} : {tensor(size)}")
            body.append(f"scf.yield {new} : {token(size)}")
            if side == self.condition:
                result = KINDS[kind](inner[source][1])
            lines.extend(body + (["} else {"] if side else ["}"]))
        tokens[out] = (size, result)

    def choose(self, tokens, lines):
        """Two selects that swap two tokens, or do not."""
        size = self.rng.choice([4, 8])
        pair = [t for t in tokens if tokens[t][0] == size][:2]
        if len(pair) < 2:
            return
        (a, b), values = pair, [tokens.pop(t) for t in pair]
        for first, second, (x, y) in ((a, b, values), (b, a, values[::-1])):
            name = self.fresh("s")
            lines.append(f"{name} = arith.select %c, {first}, {second} : {token(size)}")
            tokens[name] = x if self.condition else y

    def block(self, values, tokens, depth, length, keep=None):
        """Random ops; all tokens that are started in a nested block end there."""
        rng, lines = self.rng, []
        for _ in range(length):
            r = rng.random()
            name = self.fresh("v")
            k = rng.randrange(4)
            if r < 0.1:
                x = self.pick(values)
                size = values[x][0]
                lines.append(f"{name} = linalg.fill ins(%k{k} : f32) outs({x} : {tensor(size)}) -> {tensor(size)}")
                values[name] = (size, [k + 1.0] * size)
            elif r < 0.25:
                x = self.pick(values)
                size, value = values[x]
                lines.append(f"{name} = tensor.insert %k{k} into {x}[%i{k}] : {tensor(size)}")
                values[name] = (size, value[:k] + [k + 1.0] + value[k + 1 :])
            elif r < 0.4:
                x = self.pick(values)
                size = values[x][0]
                y, z = self.pick(values, size), self.pick(values, size)
                t = tensor(size)
                lines.append(f"{name} = linalg.add ins({x}, {y} : {t}, {t}) outs({z} : {t}) -> {t}")
                values[name] = (size, [a + b for a, b in zip(values[x][1], values[y][1])])
            elif r < 0.47:
                x, offset = self.pick(values, 8), rng.choice([0, 4])
                lines.append(f"{name} = tensor.extract_slice {x}[{offset}] [4] [1] : {tensor(8)} to {tensor(4)}")
                values[name] = (4, values[x][1][offset : offset + 4])
            elif r < 0.54:
                x, s, offset = self.pick(values, 8), self.pick(values, 4), rng.choice([0, 4])
                lines.append(f"{name} = tensor.insert_slice {s} into {x}[{offset}] [4] [1] : {tensor(4)} into {tensor(8)}")
                whole = list(values[x][1])
                whole[offset : offset + 4] = values[s][1]
                values[name] = (8, whole)
            elif r < 0.72:
                self.start(values, tokens, lines)
            elif r < 0.76:
                x = self.pick(values)
                lines.append(f"{name} = comm.send {x} on @g to 1 : {tensor(values[x][0])}")
                tokens[name] = (0, None)
            elif r < 0.84 and depth == 0 and any(tokens[t][0] for t in tokens):
                self.loop(values, tokens, lines, depth)
            elif r < 0.88 and depth == 0:
                self.branch(values, tokens, lines, depth)
            elif r < 0.9:
                self.choose(tokens, lines)
            elif tokens:
                self.wait(values, tokens, lines)
        for name in list(tokens):
            if name != keep:
                self.wait(values, tokens, lines, name)
        return lines, values, tokens


class Machine:
    """Interprets a function on buffers under the rules of buffers in flight."""

    def __init__(self, lines, program):
        self.lines = lines
        self.program = program
        self.memory, self.flights, self.violations = {}, {}, []
        self.env, self.buffers = {}, 0

    def allocate(self, values):
        self.buffers += 1
        self.memory[self.buffers] = list(values)
        return (self.buffers, 0, len(values))

    def overlaps(self, a, b):
        return a[0] == b[0] and a[1] < b[1] + b[2] and b[1] < a[1] + a[2]

    def read(self, view, line):
        for _, destination, _ in self.flights.values():
            if destination and self.overlaps(destination, view):
                self.violations.append("read of a buffer being written: " + line)
        buffer, offset, size = view
        return self.memory[buffer][offset : offset + size]

    def write(self, view, values, line):
        for source, destination, _ in self.flights.values():
            for part in (source, destination):
                if part and self.overlaps(part, view):
                    self.violations.append("write to a buffer in flight: " + line)
        buffer, offset, size = view
        self.memory[buffer][offset : offset + size] = values

    def value(self, name):
        return self.env[name]

    def bind(self, target, values):
        if ":" in target:
            name, count = target.split(":")
            for i in range(int(count)):
                self.env[f"{name}#{i}"] = values[i]
        else:
            self.env[target] = values[0]

    def find_end(self, begin):
        """The lines where the region opened at `begin` has its else and its end."""
        depth, otherwise = 1, None
        for i in range(begin + 1, len(self.lines)):
            line = self.lines[i]
            if line == "} else {":
                if depth == 1:
                    otherwise = i
            elif line.endswith("{"):
                depth += 1
            elif line.startswith("}"):
                depth -= 1
                if depth == 0:
                    return otherwise, i
        raise ValueError("no end of region")

    def run(self, begin, end):
        """Runs lines [begin, end); gives the operands of the terminator."""
        i = begin
        while i < end:
            line = self.lines[i]
            if m := re.match(r"(?:(\S+) = )?scf\.for (%\S+) = (%\S+) to (%\S+) step (%\S+)(?: iter_args\((.*)\) ->.*)? .*\{$", line):
                _, stop = self.find_end(i)
                pairs = [p.split(" = ") for p in m[6].split(", ")] if m[6] else []
                values = [self.value(p[1]) for p in pairs]
                for k in range(self.value(m[3]), self.value(m[4]), self.value(m[5])):
                    self.env[m[2]] = k
                    for p, v in zip(pairs, values):
                        self.env[p[0]] = v
                    values = self.run(i + 1, stop)
                if m[1]:
                    self.bind(m[1], values)
                i = stop + 1
                continue
            if m := re.match(r"(?:(\S+) = )?scf\.if (%\S+).*\{$", line):
                otherwise, stop = self.find_end(i)
                if self.value(m[2]):
                    values = self.run(i + 1, otherwise or stop)
                else:
                    values = self.run(otherwise + 1, stop) if otherwise else []
                if m[1]:
                    self.bind(m[1], values)
                i = stop + 1
                continue
            if m := re.match(r"(?:return|scf\.yield)(?: (.*) : .*)?$", line):
                return [self.value(v) for v in m[1].split(", ")] if m[1] else []
            self.step(line)
            i += 1
        return []

    def step(self, line):
        if m := re.match(r"(%\S+) = arith\.constant ([-\d.e+]+) : (f32|index)", line):
            self.env[m[1]] = float(m[2]) if m[3] == "f32" else int(m[2])
        elif m := re.match(r"(%\S+) = arith\.constant (true|false)", line):
            self.env[m[1]] = m[2] == "true"
        elif m := re.match(r"(%\S+) = memref\.alloc\(\).* : memref<(\d+)x", line):
            self.env[m[1]] = self.allocate([float("nan")] * int(m[2]))
        elif m := re.match(r"(%\S+) = memref\.cast (%\S+) :", line):
            self.env[m[1]] = self.value(m[2])
        elif m := re.match(r"(%\S+) = memref\.subview (%\S+)\[(\d+)\] \[(\d+)\]", line):
            buffer, offset, _ = self.value(m[2])
            self.env[m[1]] = (buffer, offset + int(m[3]), int(m[4]))
        elif m := re.match(r"memref\.copy (%\S+), (%\S+) :", line):
            self.write(self.value(m[2]), self.read(self.value(m[1]), line), line)
        elif m := re.match(r"memref\.store (%\S+), (%\S+)\[(%\S+)\]", line):
            buffer, offset, _ = self.value(m[2])
            self.write((buffer, offset + self.value(m[3]), 1), [self.value(m[1])], line)
        elif m := re.match(r"linalg\.fill ins\((%\S+) : f32\) outs\((%\S+) :", line):
            view = self.value(m[2])
            self.write(view, [self.value(m[1])] * view[2], line)
        elif m := re.match(r"linalg\.add ins\((%\S+), (%\S+) : .*outs\((%\S+) :", line):
            x, y = (self.read(self.value(m[j]), line) for j in (1, 2))
            self.write(self.value(m[3]), [a + b for a, b in zip(x, y)], line)
        elif m := re.match(r"(%\S+) = arith\.select (%\S+), (%\S+), (%\S+) :", line):
            self.env[m[1]] = self.value(m[3]) if self.value(m[2]) else self.value(m[4])
        elif m := re.match(r"(\S+) = comm\.send (%\S+) on", line):
            self.launch(m[1], [(self.value(m[2]), None, None)], line)
        elif m := re.match(r"(\S+) = comm\.([a-z_]+(?: sum)?) (%.*) into (%.*) on @g", line):
            sources = [self.value(v) for v in m[3].split(", ")]
            destinations = [self.value(v) for v in m[4].split(", ")]
            self.launch(m[1], [(s, d, KINDS[m[2]]) for s, d in zip(sources, destinations)], line)
        elif m := re.match(r"comm\.wait (%\S+)", line):
            source, destination, function = self.flights.pop(self.value(m[1]))
            if destination:
                buffer, offset, size = destination
                result = function(self.sources_at_start.pop(self.value(m[1])))
                self.memory[buffer][offset : offset + size] = result
        else:
            raise ValueError("cannot interpret: " + line)

    sources_at_start = {}

    def launch(self, target, parts, line):
        requests = []
        for source, destination, function in parts:
            contents = self.read(source, line)
            if destination:
                self.write(destination, [float("nan")] * destination[2] if destination != source else contents, line)
            requests.append((source, destination, function, contents))
        keys = []
        for source, destination, function, contents in requests:
            self.buffers += 1
            key = f"request {self.buffers}"
            self.flights[key] = (source, destination, function)
            self.sources_at_start[key] = contents
            keys.append(key)
        self.bind(target, keys)


def check(text, program):
    """What is wrong with the bufferized `text` of `program`; empty if nothing."""
    lines = [line.strip() for line in text.strip().split("\n")]
    machine = Machine(lines, program)
    names = re.findall(r"(%arg\d+): (memref|i1)", lines[0])
    buffers = []
    for (name, kind), value in zip(names, list(program.arguments.values()) + [program.condition]):
        if kind == "memref":
            value = machine.allocate(value)
            buffers.append(value)
        machine.env[name] = value
    results = machine.run(1, len(lines))
    found = [machine.read(r, "return") for r in results]
    problems = list(machine.violations)
    if machine.flights:
        problems.append("never awaited")
    if found != program.expected:
        problems.append(f"wrong value: {found}, expected {program.expected}")
    if program.read_only:
        for buffer, value in zip(buffers, program.arguments.values()):
            if machine.memory[buffer[0]] != value:
                problems.append("argument written")
    return problems


def bufferize(tool, programs):
    source = "comm.group @g [[0, 1]]\n" + "\n".join(p.text for p in programs)
    command = [tool, "--comm-bufferize", "-"]
    run = subprocess.run(command, input=source, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{run.stderr[:4000]}")
    return re.split(r"(?=^  func\.func)", run.stdout, flags=re.M)[1:]


def main():
    parser = argparse.ArgumentParser(description="Fuzzes comm-bufferize.")
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tool", default="braid-opt")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    wrong = copies = starts = done = 0
    while done < options.programs:
        batch = [Program(done + i, rng) for i in range(min(BATCH, options.programs - done))]
        texts = bufferize(options.tool, batch)
        if len(texts) != len(batch):
            sys.exit(f"found {len(texts)} functions, expected {len(batch)}")
        for program, text in zip(batch, texts):
            copies += text.count("memref.copy")
            starts += len(re.findall(r"= comm\.", text))
            problems = check(text, program)
            if problems:
                wrong += 1
                if wrong == 1:
                    print(program.text, text, *problems, sep="\n")
        done += len(batch)
    print(f"{done} programs, {starts} starts, {copies} copies, {wrong} wrong")
    return 1 if wrong or not starts else 0


if __name__ == "__main__":
    sys.exit(main())
