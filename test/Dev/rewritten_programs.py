"""Random programs on tensors, which passes rewrite; the results have to stay.

A program has collectives of several groups and types, conversions, sums, products,
transposes, parts of values and collectives that repeat others. comm-interpret has to give
the results of the program on all ranks behind a pass: the same bits with numerics=exact,
and the same but for rounding otherwise.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import struct

from check_schedules import run

# The bits of a type, and of which it is narrower.
NARROWER = {"f32": ("bf16", "arith.truncf"), "i32": ("i8", "arith.trunci")}
WIDER = {"bf16": ("f32", "arith.extf"), "i8": ("i32", "arith.extsi")}
BATCH = 20
# The passes that may round sums of floats in another way.
ROUNDS = re.compile("numerics|comm-reduce-behind-loops")


def spell(shape, element):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


class Generator:
    """The program of one seed, for 2 or 4 ranks."""

    arguments = [("%a", (4, 4), "f32"), ("%b", (4, 4), "f32"), ("%c", (4, 4), "i32"), ("%d", (4, 4), "bf16")]
    steps = ("collective",) * 5 + ("convert",) * 4 + ("compute",) * 3 + ("part", "transpose")
    #: How many of the waits are right behind their starts.
    awaited = 0.7

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.ranks = self.draw.choice((2, 4))
        self.lines, self.starts, self.count = [], [], 0
        # Names, shapes and elements; tokens that are in flight; gathers to repeat.
        self.values, self.flights, self.known = [], [], []

    def new(self):
        self.count += 1
        return f"%v{self.count}"

    def add(self, text, shape, element):
        name = self.new()
        self.lines.append(f"{name} = {text}")
        self.values.append((name, shape, element))
        return name

    def pick(self, condition=lambda value: True):
        # Values of the last lines are the likeliest.
        found = [value for value in self.values if condition(value)]
        return found[-1 - min(int(self.draw.expovariate(0.6)), len(found) - 1)] if found else None

    def generic(self, inputs, maps, shape, element, body):
        """An op of linalg: `body` gives the lines that compute %y of %x0, %x1, ..."""
        empty = self.new()
        self.lines.append(f"{empty} = tensor.empty() : {spell(shape, element)}")
        loops = identity = ", ".join(f"d{i}" for i in range(len(shape)))
        spelled = ", ".join(f"affine_map<({loops}) -> ({m})>" for m in [*maps, identity])
        parallel = ", ".join(['"parallel"'] * len(shape))
        arguments = ", ".join(f"%x{i}: {v[2]}" for i, v in enumerate(inputs))
        return self.add(
            f"linalg.generic {{indexing_maps = [{spelled}], iterator_types = [{parallel}]}}"
            f" ins({', '.join(v[0] for v in inputs)} : {', '.join(spell(v[1], v[2]) for v in inputs)})"
            f" outs({empty} : {spell(shape, element)}) {{\n^bb0({arguments}, %o: {element}):\n{body}\n"
            f"linalg.yield %y : {element}\n}} -> {spell(shape, element)}", shape, element)

    def wait(self):
        token, shape, element = self.flights.pop(self.draw.randrange(len(self.flights)))
        self.add(f"comm.wait {token} : !comm.token<{spell(shape, element)}>", shape, element)

    def start(self, text, shape, element):
        token = self.new()
        self.lines.append(f"{token} = {text}")
        self.flights.append((token, shape, element))
        self.known.append((text, shape, element))
        if self.draw.random() < self.awaited:
            self.wait()

    def collective(self):
        if self.known and self.draw.random() < 0.15:
            return self.start(*self.draw.choice(self.known))
        value, shape, element = self.pick()
        group, size = self.draw.choice((("@world", self.ranks), ("@pair", 2)))
        type = spell(shape, element)
        kind = self.draw.choice(("all_gather",) * 6 + ("all_reduce", "all_reduce", "reduce_scatter", "broadcast",
                                                       "all_to_all", "permute", "scatter"))
        reduction = "sum" if self.draw.random() < 0.8 else "max"
        dim = self.draw.randrange(len(shape))
        joined = tuple(n * size if i == dim else n for i, n in enumerate(shape))
        split = tuple(n // size if i == dim else n for i, n in enumerate(shape))
        if kind == "all_gather" and joined[0] * joined[-1] <= 2048:
            return self.start(f"comm.all_gather {value} on {group} dim {dim} : {type} -> {spell(joined, element)}", joined, element)
        if kind == "reduce_scatter" and shape[dim] % size == 0:
            return self.start(f"comm.reduce_scatter {reduction} {value} on {group} dim {dim} : {type} -> {spell(split, element)}",
                              split, element)
        if kind == "scatter" and dim == 0 and shape[0] % size == 0:
            return self.start(f"comm.scatter {value} on {group} root 1 : {type} -> {spell(split, element)}", split, element)
        if kind == "broadcast":
            return self.start(f"comm.broadcast {value} on {group} root 0 : {type}", shape, element)
        if kind == "permute":
            return self.start(f"comm.permute {value} on {group} pairs [[0, 1]] : {type}", shape, element)
        if kind == "all_to_all" and shape[0] % size == 0:
            return self.start(f"comm.all_to_all {value} on {group} : {type}", shape, element)
        return self.start(f"comm.all_reduce {reduction} {value} on {group} : {type}", shape, element)

    def convert(self):
        table = NARROWER if self.draw.random() < 0.7 else WIDER
        value = self.pick(lambda value: value[2] in table)
        if not value:
            return
        name, shape, element = value
        to, op = table[element]
        if self.draw.random() < 0.5:
            self.add(f"{op} {name} : {spell(shape, element)} to {spell(shape, to)}", shape, to)
            return
        add = "addf" if element in ("f32", "bf16") else "addi"
        swap = self.draw.random() < 0.4
        maps = ["d1, d0"] if swap else ["d0, d1"]
        kind = self.draw.randrange(3)
        inputs = [value]
        if kind == 0:
            body = f"%y = {op} %x0 : {element} to {to}"
        elif kind == 1:
            body = f"%t = arith.{add} %x0, %x0 : {element}\n%y = {op} %t : {element} to {to}"
        else:
            # Another tensor along one of the dimensions, which may be the same for all.
            other = self.pick(lambda other: other[2] == element and other[1] == shape)
            inputs.append(other)
            maps.append(self.draw.choice(maps))
            body = f"%t = {op} %x0 : {element} to {to}\n%u = {op} %x1 : {element} to {to}\n%y = arith.{add} %t, %u : {to}"
        self.generic(inputs, maps, shape[::-1] if swap else shape, to, body)

    def compute(self):
        first = self.pick()
        second = self.pick(lambda value: value[1:] == first[1:])
        name, shape, element = first
        suffix = "f" if element in ("f32", "bf16") else "i"
        op = self.draw.choice(("add", "add", "add", "mul", "sub"))
        if self.draw.random() < 0.2:
            number = "2.0" if suffix == "f" else "3"
            constant = self.new()
            self.lines.append(f"{constant} = arith.constant dense<{number}> : {spell(shape, element)}")
            second = (constant, shape, element)
        self.add(f"arith.{op}{suffix} {name}, {second[0]} : {spell(shape, element)}", shape, element)

    def part(self):
        group, size = self.draw.choice((("@world", self.ranks), ("@pair", 2)))
        dim = self.draw.randrange(2)
        value = self.pick(lambda value: value[1][dim] % size == 0)
        if not value:
            return
        name, shape, element = value
        split = tuple(n // size if i == dim else n for i, n in enumerate(shape))
        rank, factor, offset = self.new(), self.new(), self.new()
        self.lines += [f"{rank} = comm.rank on {group}", f"{factor} = arith.constant {split[dim]} : index",
                       f"{offset} = arith.muli {rank}, {factor} : index"]
        offsets = ", ".join(offset if i == dim else "0" for i in range(2))
        self.add(f"tensor.extract_slice {name}[{offsets}] [{split[0]}, {split[1]}] [1, 1] : "
                 f"{spell(shape, element)} to {spell(split, element)}", split, element)

    def transpose(self):
        name, shape, element = self.pick()
        empty = self.new()
        self.lines.append(f"{empty} = tensor.empty() : {spell(shape[::-1], element)}")
        self.add(f"linalg.transpose ins({name} : {spell(shape, element)}) outs({empty} : {spell(shape[::-1], element)}) "
                 "permutation = [1, 0]", shape[::-1], element)

    def make(self):
        self.values = list(self.arguments)
        arguments = ", ".join(f"{v[0]}: {spell(v[1], v[2])}" for v in self.values)
        for _ in range(self.draw.randint(6, 14)):
            getattr(self, self.draw.choice(self.steps))()
        while self.flights:
            self.wait()
        results = self.draw.sample(self.values, min(3, len(self.values)))
        types = ", ".join(spell(v[1], v[2]) for v in results)
        groups = "[[0, 1]]" if self.ranks == 2 else "[[0, 1], [2, 3]]"
        return "\n".join([
            f"comm.group @world [{list(range(self.ranks))}]", f"comm.group @pair {groups}",
            f"func.func @main({arguments}) -> ({types}) {{", *self.lines,
            f"return {', '.join(v[0] for v in results)} : {types}", "}", ""])


def read(number):
    """The value of a number, which may be spelled as the bits of f32 or bf16."""
    if not number.startswith("0x"):
        return float(number)
    return struct.unpack(">f", bytes.fromhex(number[2:].ljust(8, "0")))[0]


def get_numbers(lines):
    """The numbers in the results, without their types."""
    return [[read(number) for number in re.findall(r"(\S+) : ", line.split(": ", 1)[1])] for line in sorted(lines)]


def is_close(before, after):
    return len(before) == len(after) and all(
        len(a) == len(b) and all(x == y or x != x and y != y or abs(x - y) <= 0.05 * max(abs(x), abs(y), 1) for x, y in zip(a, b))
        for a, b in zip(before, after))


def check(options, make, category, ranks, seeds):
    """Yields, for each program and pass, what is wrong, and how much the pass did. Programs
    with ops that fold to what computes their operands are left out: runs fold each op."""
    programs = [make(seed).make() for seed in seeds]
    interpret = f"--comm-interpret=ranks={ranks} rounds={options.rounds} print-results"
    before = run(options.tool, programs, [interpret])
    for name in options.passes:
        after = run(options.tool, programs, [f"--{name}", interpret, f"--remarks-filter={category}"])
        for seed, program, (errors, results), (failures, found) in zip(seeds, programs, before, after):
            if any("is not known to the interpreter" in error for error in errors):
                continue
            changes = sum(int(count) for line in found for count in re.findall(r"Count=(\d+)", line))
            found = [line for line in found if "Category:" not in line]
            problems = errors + failures
            if not problems and len(found) != ranks:
                problems = ["results are missing"]
            if not problems:
                # Elementwise ops name the type of their tensor.
                wanted, got = get_numbers(results), get_numbers(found)
                if repr(wanted) != repr(got) and (not ROUNDS.search(name) or not is_close(wanted, got)):
                    problems = ["results differ"]
            yield seed, name, program, problems, changes


def main(text, passes, category, make=Generator):
    """Checks `passes`, whose remarks have the category `category` unless the command line
    says otherwise, on the programs of `make`. `text` describes the script."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="braid-opt")
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--rounds", type=int, default=2, help="the interleavings of each program")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--passes", nargs="+", default=passes)
    parser.add_argument("--category", default=category, help="that of the remarks of the passes")
    parser.add_argument("--output", type=pathlib.Path, help="a folder for wrong programs")
    options = parser.parse_args()
    by_ranks = collections.defaultdict(list)
    for seed in range(options.first, options.first + options.programs):
        by_ranks[make(seed).ranks].append(seed)
    tasks = [(ranks, seeds[i:i + BATCH]) for ranks, seeds in sorted(by_ranks.items()) for i in range(0, len(seeds), BATCH)]
    right, changed, wrong = collections.Counter(), collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for results in pool.map(lambda task: list(check(options, make, options.category, *task)), tasks):
            for seed, name, program, problems, changes in results:
                right[name] += not problems
                changed[name] += changes > 0
                if not problems:
                    continue
                wrong += 1
                print(f"program {seed}, {name}:", *problems, sep="\n")
                if options.output:
                    options.output.mkdir(parents=True, exist_ok=True)
                    (options.output / f"{seed}.mlir").write_text(program)
    for name in options.passes:
        print(f"{name}: {right[name]} right, {changed[name]} changed")
    print(f"{options.programs} programs: {wrong} wrong")
    return wrong != 0

