#!/usr/bin/env python3
"""Schedules random programs on buffers; the schedules have to do what the programs do.

A program has collectives, computation, conditions and loops on parts of a few buffers:
halves, overlapping windows, every second element, parts of parts, selected ones. It is
right: nothing touches an element in flight. Each scheduling pass schedules it,
comm-verify has to be quiet on the schedule, and comm-interpret has to give the results
of the program in all interleavings.

With --hazards accesses may touch elements in flight: where comm-interpret finds one,
comm-verify has to find one, too.

With --messages three ranks exchange messages on tensors, at different places of one text
(message_programs.py). Programs in which ranks block as written are left out.

With --loops two ranks run loops over layers on tensors (test/Inputs/loop_programs.py).

The exit status is 1 if there is a difference; the script prints and keeps the program.
"""
import argparse
import bisect
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys

import message_programs

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "Inputs"))
import loop_programs

# Every pass that reorders or combines ops, as docs/reference/passes lists them.
COSTS = "machine=ideal"
PASSES = [
    "comm-sink-waits",
    "comm-raise-collectives",
    "comm-raise-collectives=with-producers",
    "comm-order-collectives",
    f"comm-reorder-compute-for-overlap={COSTS}",
    f"comm-list-schedule=raise sink reorder {COSTS}",
    f"comm-simple-overlap={COSTS}",
    f"comm-latency-hiding-schedule={COSTS}",
    f"comm-schedule=steps=3000 {COSTS}",
    f"comm-combine=bytes=20B,48B {COSTS}",
    f"comm-combine=min-gain=0 {COSTS}",
    f"comm-pipeline-loops=all {COSTS}",
    f"comm-sink-waits-iterative=use-runtime-estimations swap-with-collectives peak-memory-budget=10 {COSTS}",
    f"comm-reorder-preserving-peak-memory=use-runtime-estimations peak-memory-budget=10 {COSTS}",
    "braid-overlap",
]
RANKS = 2
ARGUMENTS = (0, 2)
SIZE = 4
WHOLE = 16
PLAIN = f"memref<{SIZE}xf32>"
RESULT = f"tensor<{WHOLE}xf32>"


class Part:
    """A piece of memory that a value names: its type and its elements."""

    def __init__(self, name, type, elements):
        self.name, self.type, self.elements = name, type, frozenset(elements)


class Flight:
    def __init__(self, token, source, target):
        self.token, self.source, self.target = token, source, target


class Generator:
    """Makes the body of one program."""

    def __init__(self, seed, has_hazards):
        self.draw = random.Random(f"{seed} {has_hazards}")
        self.has_hazards = has_hazards
        self.lines, self.head, self.flights, self.count = [], [], [], 0
        self.parts = []
        self.freed = set()
        self.make_parts()

    def number(self):
        self.count += 1
        return self.count

    def strided(self, offset, stride=1):
        place = "?" if offset is None else str(offset)
        return f"memref<{SIZE}xf32, strided<[{stride}], offset: {place}>>"

    def make_parts(self):
        add = self.parts.append
        for buffer in ("%p", "%q"):
            add(Part(buffer, PLAIN, {(buffer, i) for i in range(SIZE)}))
        # Windows of a larger buffer, at constant and at computed offsets.
        for number, offset in enumerate((0, 2, 4, 8, 10)):
            is_computed = self.draw.random() < 0.3
            type = self.strided(None if is_computed else offset)
            place = f"%i{offset}" if is_computed else offset
            name = f"%w{number}"
            self.head.append(f"{name} = memref.subview %whole[{place}] [{SIZE}] [1] : memref<{WHOLE}xf32> to {type}")
            add(Part(name, type, {("%whole", offset + i) for i in range(SIZE)}))
        for name, offset in (("%even", 0), ("%odd", 1)):
            self.head.append(f"{name} = memref.subview %whole[{offset}] [{SIZE}] [2] : memref<{WHOLE}xf32> to {self.strided(offset, 2)}")
            add(Part(name, self.strided(offset, 2), {("%whole", offset + 2 * i) for i in range(SIZE)}))
        # A part of a part.
        self.head += [
            f"%upper = memref.subview %whole[8] [8] [1] : memref<{WHOLE}xf32> to memref<8xf32, strided<[1], offset: 8>>",
            f"%deep = memref.subview %upper[4] [{SIZE}] [1] : memref<8xf32, strided<[1], offset: 8>> to {self.strided(12)}",
        ]
        add(Part("%deep", self.strided(12), {("%whole", 12 + i) for i in range(SIZE)}))
        self.head.append(f"%either = arith.select %is_small, %p, %q : {PLAIN}")
        add(Part("%either", PLAIN, {(buffer, i) for buffer in ("%p", "%q") for i in range(SIZE)}))

    def may(self, elements, is_write):
        """True if the access touches nothing in flight, or may do so."""
        if self.has_hazards and self.draw.random() < 0.4:
            return True
        for flight in self.flights:
            if elements & flight.target.elements or (is_write and elements & flight.source.elements):
                return False
        return True

    def pick(self, is_write, apart_from=(), is_contiguous=False):
        choice = [part for part in self.parts
                  if not (is_contiguous and part.name in ("%even", "%odd"))
                  and all(part is other or not part.elements & other.elements for other in apart_from)]
        self.draw.shuffle(choice)
        for part in choice:
            if self.may(part.elements, is_write):
                return part
        return None

    def start(self):
        source = self.pick(False, is_contiguous=True)
        if source is None:
            return
        target = self.pick(True, [source], is_contiguous=True)
        if target is None or (target is source and not self.may(source.elements, True)):
            return
        kind, end = self.draw.choice([("all_reduce sum", ""), ("all_reduce max", ""), ("broadcast", " root 0"),
                                      ("all_reduce sum", ""), ("reduce sum", " root 1")])
        token = f"%t{self.number()}"
        group = self.draw.choice(["@world", "@world", "@pair"])
        cost = self.draw.choice([1, 10, 100])
        self.lines.append(f"{token} = comm.{kind} {source.name} into {target.name} on {group}{end} "
                          f"{{comm.cost_ns = {cost} : i64}} : {source.type}, {target.type}")
        self.flights.append(Flight(token, source, target))

    def wait(self, flight=None):
        flight = flight or self.draw.choice(self.flights)
        self.flights.remove(flight)
        source, target = flight.source, flight.target
        reads = "" if source is target else f" reads({source.name} : {source.type})"
        self.lines.append(f"comm.wait {flight.token}{reads} writes({target.name} : {target.type}) : !comm.token")

    def compute(self):
        a, b = self.pick(False), self.pick(False)
        if a is None or b is None:
            return
        target = self.pick(True, [a, b])
        if target is None:
            return
        cost = self.draw.choice([1, 10, 100])
        plain = [part for part in (a, b, target) if part.type == PLAIN]
        if len(plain) == 3 and self.draw.random() < 0.5:
            self.lines.append(f"func.call @add({a.name}, {b.name}, {target.name}) : ({PLAIN}, {PLAIN}, {PLAIN}) -> ()")
            return
        op = self.draw.choice(["add", "sub", "max"])
        self.lines.append(f"linalg.{op} {{comm.cost_ns = {cost} : i64}} ins({a.name}, {b.name} : {a.type}, {b.type}) "
                          f"outs({target.name} : {target.type})")

    def element(self):
        target = self.pick(True)
        if target is None:
            return
        self.lines.append(f"memref.store %half, {target.name}[%i{self.draw.randrange(SIZE)}] : {target.type}")

    def copy(self):
        source = self.pick(False)
        target = self.pick(True, [source]) if source else None
        if target is None or target is source:
            return
        self.lines.append(f"memref.copy {source.name}, {target.name} : {source.type} to {target.type}")

    def block(self, opening, size):
        """A nested block, which ends what it starts."""
        outer, self.flights = self.flights, list(self.flights)
        self.lines.append(opening)
        before = list(self.flights)
        for _ in range(size):
            self.step(is_nested=True, before=before)
        for flight in [flight for flight in self.flights if flight not in before]:
            self.wait(flight)
        self.lines.append("}")
        self.flights = outer

    def carried(self):
        """A loop that passes what it has started on to its next iteration."""
        part = next((part for part in self.parts if part.type == PLAIN and self.may(part.elements, True)
                     and not part.name == "%either"), None)
        if part is None or any(part.elements & (f.source.elements | f.target.elements) for f in self.flights):
            return
        i, buffer = self.number(), f"{part.name} : {PLAIN}"
        self.lines += [
            f"%f{i} = comm.all_reduce sum {part.name} into {part.name} on @world {{comm.cost_ns = 10 : i64}} : {PLAIN}, {PLAIN}",
            f"%l{i} = scf.for %v{i} = %i0 to %n step %i1 iter_args(%c{i} = %f{i}) -> (!comm.token) {{"]
        self.lines += [
            f"comm.wait %c{i} writes({buffer}) : !comm.token",
            f"linalg.add {{comm.cost_ns = 5 : i64}} ins(%r, {part.name} : {PLAIN}, {PLAIN}) outs({buffer})",
            f"%u{i} = comm.all_reduce max {part.name} into {part.name} on @world {{comm.cost_ns = 10 : i64}} : {PLAIN}, {PLAIN}",
            f"scf.yield %u{i} : !comm.token", "}",
            f"comm.wait %l{i} writes({buffer}) : !comm.token"]

    def carried_hazard(self):
        """The same from one buffer to another, with a wait that is too late: the next
        iteration writes the operand before it."""
        source = self.pick(True, is_contiguous=True)
        target = self.pick(True, [source], is_contiguous=True) if source else None
        # comm-verify has to know that the write does not touch the result.
        if target is None or target is source or "?" in source.type + target.type:
            return
        i = self.number()
        start = (f"comm.all_reduce sum {source.name} into {target.name} on @world {{comm.cost_ns = 10 : i64}} : "
                 f"{source.type}, {target.type}")
        wait = f"reads({source.name} : {source.type}) writes({target.name} : {target.type}) : !comm.token"
        self.lines += [
            f"%f{i} = {start}",
            f"%l{i} = scf.for %v{i} = %i0 to %n step %i1 iter_args(%c{i} = %f{i}) -> (!comm.token) {{",
            f"linalg.add {{comm.cost_ns = 5 : i64}} ins(%r, {source.name} : {PLAIN}, {source.type}) outs({source.name} : {source.type})",
            f"comm.wait %c{i} {wait}",
            f"%u{i} = {start}",
            f"scf.yield %u{i} : !comm.token", "}",
            f"comm.wait %l{i} {wait}"]

    def step(self, is_nested=False, before=()):
        chance = self.draw.random()
        own = [flight for flight in self.flights if flight not in before]
        if chance < 0.3:
            self.start()
        elif chance < 0.45 and own:
            self.wait(self.draw.choice(own))
        elif chance < 0.55:
            self.element()
        elif chance < 0.65:
            self.copy()
        elif chance < 0.72 and not is_nested:
            i = self.number()
            self.block(self.draw.choice([f"scf.for %k{i} = %i0 to %n step %i1 {{", "scf.if %is_small {"]), self.draw.randint(2, 4))
        elif chance < 0.76 and not is_nested:
            self.carried_hazard() if self.has_hazards and self.draw.random() < 0.7 else self.carried()
        else:
            self.compute()

    def make(self):
        for _ in range(self.draw.randint(8, 16)):
            self.step()
        while self.flights:
            self.wait()
        buffers = ("%p", "%q", "%r", "%whole")
        head = [f"%i{i} = arith.constant {i} : index" for i in range(WHOLE)] + ["%half = arith.constant 0.5 : f32"]
        head.append("%is_small = arith.cmpi ult, %n, %i1 : index")
        for number, buffer in enumerate(buffers):
            size = WHOLE if buffer == "%whole" else SIZE
            head.append(f"{buffer} = memref.alloc() : memref<{size}xf32>")
            for i in range(size):
                head += [f"%e{number}_{i} = memref.load %x[%i{(5 * number + i) % WHOLE}] : memref<{WHOLE}xf32>",
                         f"memref.store %e{number}_{i}, {buffer}[%i{i}] : memref<{size}xf32>"]
        tail = [f"%result = memref.alloc() : memref<{WHOLE}xf32>", f"memref.copy %whole, %result : memref<{WHOLE}xf32> to memref<{WHOLE}xf32>"]
        for number, buffer in enumerate(("%p", "%q")):
            for i in range(SIZE):
                tail += [f"%a{number}_{i} = memref.load %result[%i{SIZE * number + i}] : memref<{WHOLE}xf32>",
                         f"%b{number}_{i} = memref.load {buffer}[%i{i}] : {PLAIN}",
                         f"%s{number}_{i} = arith.addf %a{number}_{i}, %b{number}_{i} : f32",
                         f"memref.store %s{number}_{i}, %result[%i{SIZE * number + i}] : memref<{WHOLE}xf32>"]
        tail.append(f"%out = bufferization.to_tensor %result restrict : memref<{WHOLE}xf32> to {RESULT}")
        for buffer in buffers:
            tail.append(f"memref.dealloc {buffer} : memref<{WHOLE if buffer == '%whole' else SIZE}xf32>")
        tail.append(f"return %out : {RESULT}")
        return "\n".join([
            "comm.group @world all", "comm.group @pair [[0, 1]]",
            f"func.func private @add(%a: {PLAIN}, %b: {PLAIN}, %c: {PLAIN}) {{",
            f"linalg.add ins(%a, %b : {PLAIN}, {PLAIN}) outs(%c : {PLAIN})", "return", "}",
            f"func.func @main(%x: memref<{WHOLE}xf32>, %n: index) -> {RESULT} {{",
            *head, *self.head, *self.lines, *tail, "}", ""])


def run(tool, programs, arguments):
    """The messages of each program: its errors, and the lines of its results. Messages
    name lines of the input, whatever passes do."""
    text, begins = "", []
    for program in programs:
        text += "// -----\n" if text else ""
        begins.append(text.count("\n") + 1)
        text += program
    process = subprocess.run([tool, "-", "--split-input-file", "--mlir-print-op-on-diagnostic=false",
                              "--mlir-disable-threading", *arguments, "-o", os.devnull],
                             input=text, capture_output=True, text=True, timeout=600)
    if process.returncode not in (0, 1):
        if len(programs) > 1:
            return [run(tool, [program], arguments)[0] for program in programs]
        return [([f"exit status {process.returncode}: {process.stderr[-2000:]}"], [])]
    errors, results = [[] for _ in programs], [[] for _ in programs]
    for match in re.finditer(r"^<stdin>:(\d+):\d+: (error|remark): (.*)", process.stderr, re.MULTILINE):
        place = bisect.bisect_right(begins, int(match[1])) - 1
        (errors if match[2] == "error" else results)[place].append(match[3])
    return list(zip(errors, results))


def make_program(seed, options):
    if options.messages:
        return message_programs.Generator(seed).make()
    if options.loops:
        return loop_programs.Generator(seed).make()
    return Generator(seed, options.hazards).make()


def get_ranks(options):
    return message_programs.RANKS if options.messages else RANKS


def interpret(options, rounds):
    arguments = ",".join(map(str, ARGUMENTS))
    return f"--comm-interpret=ranks={get_ranks(options)} rounds={rounds} arguments={arguments} print-results"


def check_hazards(options, seeds, programs, verify):
    """Yields, for each program, whether a check finds an error where a run does."""
    ran = run(options.tool, programs, [interpret(options, options.rounds)])
    verified = run(options.tool, programs, ["--comm-verify=only-buffers=true", verify])
    for seed, program, (failures, _), (errors, _) in zip(seeds, programs, ran, verified):
        way = "with a hazard" if failures else "without one"
        missed = failures and not errors
        yield seed, way, program, [f"no check finds what a run finds: {failure}" for failure in failures] if missed else []


def check_batch(options, seeds):
    """Yields the number of each program, how it was changed, and what is wrong; an empty
    list if nothing is."""
    programs = [make_program(seed, options) for seed in seeds]
    verify = f"--comm-verify=ranks={get_ranks(options)}"
    if options.hazards:
        yield from check_hazards(options, seeds, programs, verify)
        return
    wanted = run(options.tool, programs, [verify, interpret(options, options.rounds)])
    ways = {name: [f"--{name}"] for name in options.passes or PASSES}
    for seed, program, (errors, _) in zip(seeds, programs, wanted):
        if not (options.messages and errors):
            yield seed, "as written", program, errors
    for way, arguments in ways.items():
        found = run(options.tool, programs, [*arguments, verify, interpret(options, options.rounds)])
        for seed, program, (no_errors, right), (errors, results) in zip(seeds, programs, wanted, found):
            if no_errors:
                continue
            problems = list(errors)
            if not errors and results != right:
                problems = [f"expected {line}\n  found    {other}" for line, other in zip(right, results) if line != other]
                problems = problems or ["results are missing"]
            yield seed, way, program, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="braid-opt", help="the braid-opt to run")
    parser.add_argument("--programs", type=int, default=200, help="how many programs to make")
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--rounds", type=int, default=20, help="the interleavings of each schedule")
    parser.add_argument("--hazards", action="store_true", help="check programs that may be wrong instead of schedules")
    parser.add_argument("--messages", action="store_true", help="make programs with messages on tensors")
    parser.add_argument("--loops", action="store_true", help="make programs with loops over layers, on tensors")
    parser.add_argument("--passes", nargs="+", help="the passes, with options after =")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--batch", type=int, default=20, help="programs for one process")
    parser.add_argument("--output", type=pathlib.Path, help="the folder for programs with a difference")
    options = parser.parse_args()
    end = options.first + options.programs
    batches = [range(first, min(first + options.batch, end)) for first in range(options.first, end, options.batch)]
    right, wrong = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as executor:
        for verdicts in executor.map(lambda seeds: list(check_batch(options, seeds)), batches):
            for seed, way, program, problems in verdicts:
                if not problems:
                    right[way] += 1
                    continue
                wrong += 1
                print(f"program {seed}, {way}:")
                print("\n".join("  " + problem for problem in problems))
                if options.output:
                    options.output.mkdir(parents=True, exist_ok=True)
                    (options.output / f"{seed}-{way.split('=')[0].replace(' ', '-')}.mlir").write_text(program, encoding="utf-8")
    for way, number in right.items():
        print(f"{way}: {number} right")
    print(f"{options.programs} programs, {options.rounds} interleavings: {wrong} wrong")
    return 1 if wrong or not right else 0


if __name__ == "__main__":
    sys.exit(main())
