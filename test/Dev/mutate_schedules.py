#!/usr/bin/env python3
"""Moves, drops and changes starts and waits of random programs; comm-verify has to notice.

Each program is a random one of test/Inputs/random_program.py, or one of buffers with
slices, calls and loops that take turns. It is right. Each is changed in one place: two
starts are swapped on one rank, a wait is dropped on one path, a start is raised, a wait
is sunk, a root or reduction is changed on one rank, a token is awaited twice.
comm-interpret runs the program with several arguments and decides whether it is still
right. comm-verify has to find the wrong ones and to be quiet on the right ones.

The exit status is 1 if comm-verify finds less than 99 % of the wrong programs, or
complains of a right one; the script prints and keeps these programs.
"""
import argparse
import bisect
import concurrent.futures
import itertools
import os
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "Inputs"))
os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")

from random_program import MEMREF, SIZE, TENSOR, random_program  # noqa: E402

START = re.compile(r"= comm\.(?!wait|rank|size|compute)\w+ ")
WAIT = re.compile(r"^\s*(?:(%\w+) = )?comm\.wait ")
SIGNATURE = f"(%x: {TENSOR}, %y: {TENSOR}, %n: index) -> ({TENSOR}, {TENSOR})"
ARGUMENTS = (0, 1, 2, 3)

# A slice of %whole, a buffer of two halves.
HALF = f"memref<{SIZE}xf32, strided<[1], offset: ?>>"


def buffer_loop(i):
    """The lines of loop number `i`, over two buffers that take turns."""
    return [
        f"%first{i} = comm.all_reduce sum %p into %p on @world : {MEMREF}, {MEMREF}",
        f"%l{i}:3 = scf.for %v{i} = %i0 to %n step %i1 iter_args(%c{i} = %first{i}, %old{i} = %p, %new{i} = %q) -> "
        f"(!comm.token, {MEMREF}, {MEMREF}) {{",
        f"linalg.add ins(%quarter, %new{i} : {MEMREF}, {MEMREF}) outs(%new{i} : {MEMREF})",
        f"%u{i} = comm.all_reduce max %new{i} into %new{i} on @world : {MEMREF}, {MEMREF}",
        f"comm.wait %c{i} writes(%old{i} : {MEMREF}) : !comm.token",
        f"linalg.add ins(%quarter, %old{i} : {MEMREF}, {MEMREF}) outs(%old{i} : {MEMREF})",
        f"scf.yield %u{i}, %new{i}, %old{i} : !comm.token, {MEMREF}, {MEMREF}",
        "}",
        f"comm.wait %l{i}#0 writes(%l{i}#1 : {MEMREF}) : !comm.token",
    ]


def slice_function(name, lines):
    """The text of a function of `lines`, and of the one that the lines may call."""
    head = [f"%i{i} = arith.constant {i} : index" for i in range(SIZE)]
    head.append("%factor = arith.constant 0.25 : f32")
    allocated = ["%b0", "%b1", "%b2", "%p", "%q", "%quarter"]
    head += [f"%whole = memref.alloc() : memref<{2 * SIZE}xf32>", f"linalg.fill ins(%factor : f32) outs(%whole : memref<{2 * SIZE}xf32>)",
             f"%half = arith.constant {SIZE} : index"]
    for buffer in allocated:
        head += [f"{buffer} = memref.alloc() : {MEMREF}", f"linalg.fill ins(%factor : f32) outs({buffer} : {MEMREF})"]
    for half, offset in (("%low", "%i0"), ("%high", "%half")):
        head.append(f"{half} = memref.subview %whole[{offset}] [{SIZE}] [1] : memref<{2 * SIZE}xf32> to {HALF}")
    tail = [f"%r0 = bufferization.to_tensor %b0 restrict : {MEMREF} to {TENSOR}",
            f"%r1 = bufferization.to_tensor %p restrict : {MEMREF} to {TENSOR}"]
    tail += [f"memref.dealloc {buffer} : {MEMREF}" for buffer in allocated]
    tail.append(f"memref.dealloc %whole : memref<{2 * SIZE}xf32>")
    tail.append(f"return %r0, %r1 : {TENSOR}, {TENSOR}")
    adder = [f"func.func private @{name}_add(%a: {MEMREF}, %b: {MEMREF}, %c: {MEMREF}) {{",
             f"linalg.add ins(%a, %b : {MEMREF}, {MEMREF}) outs(%c : {MEMREF})", "return", "}"]
    return "\n".join(adder + [f"func.func private @{name}{SIGNATURE} {{", *head, *lines, *tail, "}", ""])


def slice_program(seed, name):
    """Buffers, halves of one buffer, calls, loops over buffers that take turns; what is
    freed is freed at the end."""
    draw = random.Random(seed)
    lines, flights, counter = [], [], [0]
    buffers = {f"%b{i}": MEMREF for i in range(3)} | {"%low": HALF, "%high": HALF}

    def number():
        counter[0] += 1
        return counter[0]

    def pick(is_written):
        written = {d for _, _, d in flights}
        used = written | ({s for _, s, _ in flights} if is_written else set())
        free = sorted(set(buffers) - used)
        return draw.choice(free) if free else None

    def wait():
        token, source, target = flights.pop(draw.randrange(len(flights)))
        reads = "" if source == target else f" reads({source} : {buffers[source]})"
        lines.append(f"comm.wait {token}{reads} writes({target} : {buffers[target]}) : !comm.token")

    def start():
        source, target = pick(False), pick(True)
        if source is None or target is None:
            return
        kind, end = draw.choice([("all_reduce sum", ""), ("all_reduce max", ""), ("broadcast", " root 0")])
        token = f"%t{number()}"
        lines.append(f"{token} = comm.{kind} {source} into {target} on @world{end} : "
                     f"{buffers[source]}, {buffers[target]}")
        flights.append((token, source, target))

    def compute():
        a, b, target = pick(False), pick(False), pick(True)
        if target is None:
            return
        if draw.random() < 0.3:
            one = [v for v in (a, target) if buffers[v] == MEMREF]
            if len(one) == 2:
                lines.append(f"func.call @{name}_add(%quarter, {one[0]}, {one[1]}) : ({MEMREF}, {MEMREF}, {MEMREF}) -> ()")
                return
        lines.append(f"linalg.add ins({a}, {b} : {buffers[a]}, {buffers[b]}) outs({target} : {buffers[target]})")

    def element():
        target = pick(True)
        if target is None:
            return
        index = draw.randrange(SIZE)
        lines.append(f"memref.store %factor, {target}[%i{index}] : {buffers[target]}")

    def loop():
        lines.extend(buffer_loop(number()))

    for _ in range(14):
        chance = draw.random()
        if chance < 0.35:
            start()
        elif chance < 0.55 and flights:
            wait()
        elif chance < 0.65:
            element()
        elif chance < 0.72:
            loop()
        else:
            compute()
    while flights:
        wait()
    return slice_function(name, lines)


def make_function(seed, name):
    if seed % 3 != 0:
        return slice_program(seed, name)
    # Functions that are called in two branches stay private.
    return random_program(seed // 3, name)[0]


def swap_starts(lines, draw):
    starts = [i for i, line in enumerate(lines) if START.search(line)]
    pairs = [(i, j) for i, j in zip(starts, starts[1:])]
    if not pairs:
        return None
    i, j = draw.choice(pairs)
    return lines[:i] + [lines[j], *lines[i + 1 : j], lines[i]] + lines[j + 1 :]


def find_waits(lines):
    return [i for i, line in enumerate(lines) if WAIT.match(line)]


def drop_wait(lines, draw):
    waits = find_waits(lines)
    if not waits:
        return None
    i = draw.choice(waits)
    name = WAIT.match(lines[i])[1]
    head = ["%m_two = arith.constant 2 : index", "%m_c = arith.cmpi ult, %n, %m_two : index"]
    if not name:
        return lines[:i] + head + ["scf.if %m_c {", lines[i], "}"] + lines[i + 1 :]
    inner = WAIT.sub("%m_w = comm.wait ", lines[i])
    return lines[:i] + head + [f"{name} = scf.if %m_c -> {TENSOR} {{", inner, f"scf.yield %m_w : {TENSOR}", "} else {",
                               f"scf.yield %x : {TENSOR}", "}"] + lines[i + 1 :]


def move(lines, i, j):
    line = lines[i]
    rest = lines[:i] + lines[i + 1 :]
    return rest[:j] + [line] + rest[j:]


def raise_start(lines, draw):
    starts = [i for i, line in enumerate(lines) if START.search(line)]
    if not starts:
        return None
    i = draw.choice(starts)
    return move(lines, i, max(1, i - draw.randint(1, 4)))


def sink_wait(lines, draw):
    waits = find_waits(lines)
    if not waits:
        return None
    i = draw.choice(waits)
    return move(lines, i, min(len(lines) - 3, i + draw.randint(1, 8)))


def change_root(lines, draw):
    places = [i for i, line in enumerate(lines) if " root 0" in line]
    if not places:
        return None
    i = draw.choice(places)
    return lines[:i] + [lines[i].replace(" root 0", " root 1")] + lines[i + 1 :]


def change_reduction(lines, draw):
    places = [i for i, line in enumerate(lines) if "comm.all_reduce sum" in line]
    if not places:
        return None
    i = draw.choice(places)
    return lines[:i] + [lines[i].replace("all_reduce sum", "all_reduce max")] + lines[i + 1 :]


def wait_twice(lines, draw):
    waits = find_waits(lines)
    if not waits:
        return None
    i = draw.choice(waits)
    again = lines[i].replace(f"{WAIT.match(lines[i])[1]} =", "%m_again =", 1)
    j = min(len(lines) - 3, i + draw.randint(1, 3))
    return lines[:j] + [again] + lines[j:]


def keep(lines, draw):
    return lines


# Whether the change is made on one rank alone, and whether it needs to be.
MUTATIONS = {
    "swap two starts on one rank": (swap_starts, True),
    "drop a wait on one path": (drop_wait, None),
    "raise a start": (raise_start, None),
    "sink a wait": (sink_wait, None),
    "change a root on one rank": (change_root, True),
    "change a reduction on one rank": (change_reduction, True),
    "wait twice": (wait_twice, None),
    "change nothing": (keep, None),
}


def make_program(seed, mutation):
    """The program, or None where there is nothing to change."""
    draw = random.Random(f"{seed} {mutation}")
    change, on_one_rank = MUTATIONS[mutation]
    lines = make_function(seed, "q").splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("func.func private @q("))
    changed = change(lines[begin:], draw)
    if changed is None:
        return None
    if on_one_rank is None:
        on_one_rank = draw.random() < 0.5
    call = f": ({TENSOR}, {TENSOR}, index) -> ({TENSOR}, {TENSOR})"
    main = [f"func.func @main{SIGNATURE} {{"]
    functions = lines[:begin] + changed
    if on_one_rank:
        functions += make_function(seed, "p").splitlines()
        main += [
            "%rank = comm.rank on @world",
            f"%k = arith.constant {draw.randrange(2)} : index",
            "%is = arith.cmpi eq, %rank, %k : index",
            f"%r:2 = scf.if %is -> ({TENSOR}, {TENSOR}) {{",
            f"%s:2 = func.call @q(%x, %y, %n) {call}",
            f"scf.yield %s#0, %s#1 : {TENSOR}, {TENSOR}",
            "} else {",
            f"%s:2 = func.call @p(%x, %y, %n) {call}",
            f"scf.yield %s#0, %s#1 : {TENSOR}, {TENSOR}",
            "}",
        ]
    else:
        main.append(f"%r:2 = func.call @q(%x, %y, %n) {call}")
    main += [f"return %r#0, %r#1 : {TENSOR}, {TENSOR}", "}"]
    return "\n".join(["comm.group @world all", *functions, *main, ""])


def run_all(tool, programs, argument):
    """What `braid-opt` says of each program: the lines of its errors. One process for all,
    as most of the time goes into starting it."""
    text, begins = "", []
    for program in programs:
        text += "// -----\n" if text else ""
        begins.append(text.count("\n") + 1)
        text += program
    run = subprocess.run([tool, "-", "--split-input-file", "--mlir-print-op-on-diagnostic=false", argument, "-o", os.devnull],
                         input=text, capture_output=True, text=True, timeout=600)
    if run.returncode not in (0, 1):
        if len(programs) > 1:
            return [run_all(tool, [program], argument)[0] for program in programs]
        return [[f"exit status {run.returncode}"]]
    messages = [[] for _ in programs]
    for match in re.finditer(r"^<stdin>:(\d+):\d+: error: .*", run.stderr, re.MULTILINE):
        messages[bisect.bisect_right(begins, int(match[1])) - 1].append(match[0])
    return messages


def judge(tool, tasks):
    """What the interpreter and comm-verify say of the programs of one number of ranks: of
    each its verdict or two truths, its text and the messages."""
    ranks = 2 + tasks[0][0] % 2
    programs = [make_program(*task) for task in tasks]
    changed = [program for program in programs if program is not None]
    arguments = ",".join(map(str, ARGUMENTS))
    said = {}
    for pass_option in (f"--comm-interpret=ranks={ranks} arguments={arguments} rounds=3", f"--comm-verify=ranks={ranks}"):
        for number, messages in enumerate(run_all(tool, changed, pass_option)):
            said.setdefault(number, []).append(messages)
    number = 0
    for task, program in zip(tasks, programs):
        if program is None:
            yield task, "nothing to change", None, "", []
            continue
        interpreted, verified = said[number]
        number += 1
        text = "\n".join(interpreted)
        if any("exit status" in line for line in interpreted + verified):
            yield task, "crash", None, program, interpreted + verified
        elif interpreted and " in interleaving " not in text:
            yield task, "invalid", None, program, interpreted
        elif "is not known to the interpreter" in text:
            yield task, "not interpreted", None, program, interpreted
        else:
            yield task, not interpreted, not verified, program, interpreted + verified


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="braid-opt", help="the braid-opt to run")
    parser.add_argument("--programs", type=int, default=500, help="how many programs to make")
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--output", type=pathlib.Path, help="the folder for programs with a wrong verdict")
    options = parser.parse_args()
    batches = []
    for first in range(options.first, options.first + options.programs, 10):
        numbers = range(first, min(first + 10, options.first + options.programs))
        for parity in (0, 1):
            tasks = [(seed, mutation) for seed in numbers if seed % 2 == parity for mutation in MUTATIONS]
            if tasks:
                batches.append(tasks)
    counts = {mutation: dict.fromkeys(("wrong", "found", "right", "flagged", "skipped"), 0) for mutation in MUTATIONS}
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as executor:
        verdicts = itertools.chain.from_iterable(executor.map(lambda tasks: list(judge(options.tool, tasks)), batches))
        for (seed, mutation), is_right, is_quiet, program, messages in verdicts:
            count = counts[mutation]
            problem = None
            if is_quiet is None:
                count["skipped"] += 1
                if is_right == "not interpreted" or is_right == "crash" or (is_right == "invalid" and mutation == "change nothing"):
                    problem = is_right
            else:
                count["right" if is_right else "wrong"] += 1
                if not is_right and not is_quiet:
                    count["found"] += 1
                elif is_right and not is_quiet:
                    count["flagged"] += 1
                    problem = "right, but flagged"
                elif not is_right:
                    problem = "wrong, not found"
                if not is_right and mutation == "change nothing":
                    problem = "wrong without a change"
            if problem:
                bad += problem != "wrong, not found"
                print(f"program {seed}, {mutation}: {problem}")
                print("\n".join("  " + line for line in messages))
                if options.output:
                    options.output.mkdir(parents=True, exist_ok=True)
                    name = f"{seed}-{mutation.replace(' ', '-')}.mlir"
                    (options.output / name).write_text(program, encoding="utf-8")
    wrong = sum(count["wrong"] for count in counts.values())
    found = sum(count["found"] for count in counts.values())
    for mutation, count in counts.items():
        print(f"{mutation}: " + ", ".join(f"{number} {what}" for what, number in count.items()))
    print(f"{options.programs} programs: {found} of {wrong} wrong ones found, "
          f"{sum(count['flagged'] for count in counts.values())} of "
          f"{sum(count['right'] for count in counts.values())} right ones flagged")
    return 1 if bad or not wrong or found < 0.99 * wrong else 0


if __name__ == "__main__":
    sys.exit(main())
