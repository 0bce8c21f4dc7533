# RUN: rm -rf %t
# RUN: %python %s %t
"""Groups of known sizes, against NumPy: partitions, members in any order, ranks
in no list, lists of unequal lengths, roots other than the first member, permute,
all_to_all with a matrix of splits and with computed splits, coalesced launches
of several types, and destinations. Every element type on 4 ranks, some on 2, 3
and 8. The ranks run collectives of several groups that are in flight at once.
"""

import os
import sys

import braid_testing as bt
import numpy as np

ROWS = 12

# For each number of ranks a partition into lists of one length, in which members
# have an order of their own; a group that leaves ranks out; an uneven partition.
GROUPS = {
    2: ([[1, 0]], [[1]], [[0], [1]]),
    3: ([[2, 0, 1]], [[2, 0]], [[1], [0, 2]]),
    4: ([[0, 1], [3, 2]], [[3, 1, 0]], [[2], [0, 1, 3]]),
    8: ([[0, 2, 4, 6], [7, 5, 3, 1]], [[5, 1], [2, 7]], [[4, 0], [1, 2, 3], [5, 6, 7]]),
}


def split_matrix(ranks):
    """What every rank sends to every other one: rows that add up to ROWS, with
    zeros among them."""
    random = np.random.RandomState(100 + ranks)
    rows = []
    for _ in range(ranks):
        cuts = np.sort(random.randint(0, ROWS + 1, ranks - 1))
        rows.append(np.diff(np.concatenate([[0], cuts, [ROWS]])).tolist())
    return rows


def in_group(number, kind, x):
    """Result `number`: a reduction by the members of a group that leaves ranks out."""
    return f"""  %c0 = arith.constant 0 : index
  %member = comm.rank on @some
  %isMember = arith.cmpi sge, %member, %c0 : index
  %r{number} = scf.if %isMember -> {x} {{
    %t = comm.all_reduce {kind} %x on @some : {x}
    %r = comm.wait %t : !comm.token<{x}>
    scf.yield %r : {x}
  }} else {{
    scf.yield %x : {x}
  }}"""


def uneven_exchange(number, ranks, x, rows):
    """Result `number`: rank i sends (i + j) mod 3 rows to rank j, and receives as many."""
    lines = ["  %me = comm.rank on @world\n  %c3 = arith.constant 3 : index"]
    for j in range(ranks):
        lines.append(f"  %j{j} = arith.constant {j} : index\n"
                     f"  %sum{j} = arith.addi %me, %j{j} : index\n"
                     f"  %n{j} = arith.remui %sum{j}, %c3 : index")
    total = "%n0"
    for j in range(1, ranks):
        lines.append(f"  %total{j} = arith.addi {total}, %n{j} : index")
        total = f"%total{j}"
    sizes = ", ".join(f"%n{j}" for j in range(ranks))
    lines.append(f"""  %rows = tensor.extract_slice %x[0, 0] [{total}, 3] [1, 1] : {x} to {rows}
  %t{number} = comm.all_to_all %rows on @world splits [{sizes}] into [{sizes}] : {rows} -> {rows}
  %r{number} = comm.wait %t{number} : !comm.token<{rows}>""")
    return lines


def function(element, ranks):
    """A function of %x, %y and the lists of its results' types."""
    parts, some, _ = GROUPS[ranks]
    size = len(parts[0])
    last = size - 1
    name, kind = element.name, element.reductions()[0]
    x = f"tensor<{ROWS}x3x{name}>"
    y = f"tensor<5x{name}>"
    whole = f"tensor<{ROWS * size}x3x{name}>"
    part = f"tensor<{ROWS // size}x3x{name}>"
    rows = f"tensor<?x3x{name}>"
    ring = ", ".join(f"[{r}, {(r + 1) % ranks}]" for r in range(ranks))
    matrix = ", ".join(str(row) for row in split_matrix(ranks))
    lines, results = [], []

    def collective(text, type):
        number = len(results)
        lines.append(f"  %t{number} = comm.{text}")
        results.append((f"%r{number}", type))
        return number

    waits = []

    def simple(text, type, arrow):
        number = collective(f"{text} : {x}" + (f" -> {type}" if arrow else ""), type)
        waits.append(f"  %r{number} = comm.wait %t{number} : !comm.token<{type}>")

    simple(f"reduce {kind} %x on @parts root {last}", x, False)
    simple(f"broadcast %x on @parts root {last}", x, False)
    simple(f"gather %x on @parts root {last}", whole, True)
    simple(f"scatter %x on @parts root {last}", part, True)
    simple(f"all_gather %x on @parts dim 0", whole, True)
    simple(f"reduce_scatter {kind} %x on @parts dim 0", part, True)
    simple("all_to_all %x on @parts", x, False)
    simple(f"permute %x on @world pairs [{ring}]", x, False)
    simple("permute %x on @parts pairs [[0, 1]]", x, False)
    simple(f"all_to_all %x on @world splits [{matrix}]", rows, True)
    simple(f"all_reduce {kind} %x on @uneven", x, False)
    # Given destinations.
    lines.append(f"  %into = tensor.empty() : {whole}")
    number = collective(f"all_gather %x into %into on @parts dim 0 : {x}, {whole}", whole)
    waits.append(f"  %r{number} = comm.wait %t{number} : !comm.token<{whole}>")
    # A launch of two, awaited in reverse.
    number = len(results)
    lines.append(f"  %t{number}:2 = comm.all_reduce {kind} %x, %y on @parts : {x}, {y}")
    waits.append(f"  %r{number + 1} = comm.wait %t{number}#1 : !comm.token<{y}>")
    waits.append(f"  %r{number} = comm.wait %t{number}#0 : !comm.token<{x}>")
    results += [(f"%r{number}", x), (f"%r{number + 1}", y)]
    number = len(results)
    waits.append(in_group(number, kind, x))
    results.append((f"%r{number}", x))
    number = len(results)
    waits += uneven_exchange(number, ranks, x, rows)
    results.append((f"%r{number}", rows))

    types = ", ".join(type for _, type in results)
    values = ", ".join(value for value, _ in results)
    entry = "of_" + name.replace("<", "_").replace(">", "")
    return "\n".join([f"func.func @{entry}(%x: {x}, %y: {y}) -> ({types}) {{", *lines,
                      *waits, f"  return {values} : {types}", "}", ""]), entry, len(results)


def within(groups, values, model):
    """The results of `model` within each list; other ranks keep their value."""
    results = list(values)
    for group in groups:
        for rank, result in zip(group, model([values[r] for r in group])):
            results[rank] = result
    return results


def expected(element, ranks, xs, ys):
    parts, some, uneven = GROUPS[ranks]
    last = len(parts[0]) - 1
    kind = element.reductions()[0]

    def reduced(values):
        return bt.all_reduce(element, kind, values)

    def split(values, i):
        count = sum((i + j) % 3 for j in range(ranks))
        return values[:count]

    computed = [[(i + j) % 3 for j in range(ranks)] for i in range(ranks)]
    return [
        within(parts, xs, lambda v: bt.reduce(element, kind, v, last)),
        within(parts, xs, lambda v: bt.broadcast(v, last)),
        within(parts, xs, lambda v: bt.gather(v, last)),
        within(parts, xs, lambda v: bt.scatter(v, last)),
        within(parts, xs, bt.all_gather),
        within(parts, xs, lambda v: bt.reduce_scatter(element, kind, v, 0)),
        within(parts, xs, bt.all_to_all),
        bt.permute(xs, [(r, (r + 1) % ranks) for r in range(ranks)]),
        within(parts, xs, lambda v: bt.permute(v, [(0, 1)])),
        bt.all_to_all(xs, split_matrix(ranks)),
        within(uneven, xs, reduced),
        within(parts, xs, bt.all_gather),
        within(parts, xs, reduced),
        within(parts, ys, reduced),
        within(some, xs, reduced),
        bt.all_to_all([split(x, i) for i, x in enumerate(xs)], computed),
    ]


def check(ranks, names, directory):
    groups = zip(["parts", "some", "uneven"], GROUPS[ranks])
    text = "comm.group @world [" + str(list(range(ranks))) + "]\n"
    text += "".join(f"comm.group @{name} {lists}\n" for name, lists in groups)
    functions = {}
    for name in names:
        function_text, *functions[name] = function(bt.ELEMENT_TYPES[name], ranks)
        text += function_text
    program = bt.compile_program(text, directory)
    for name, (entry, count) in functions.items():
        element = bt.ELEMENT_TYPES[name]
        random = np.random.RandomState(ranks)
        xs = [element.random(random, (ROWS, 3)) for _ in range(ranks)]
        ys = [element.random(random, 5) for _ in range(ranks)]
        found = bt.run_program(program, ranks, os.path.join(directory, entry),
                               [(element, xs), (element, ys)], [element] * count,
                               entry=entry)
        for number, by_rank in enumerate(expected(element, ranks, xs, ys)):
            for rank in range(ranks):
                bt.check_equal(found[rank][number], by_rank[rank],
                               f"{name}: result {number}, rank {rank} of {ranks}",
                               element)


def main():
    for ranks, names in [(4, list(bt.ELEMENT_TYPES)), (2, ["f32", "bf16"]),
                         (3, ["f32", "i8"]), (8, ["f32", "f16"])]:
        check(ranks, names, os.path.join(sys.argv[1], str(ranks)))


main()
