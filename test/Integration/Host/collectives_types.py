# RUN: rm -rf %t
# RUN: %python %s %t i1 i8 i16 i32 i64
# RUN: %python %s %t f16 bf16 f32 f64
# RUN: %python %s %t "complex<f32>" "complex<f64>" f8E4M3FN f8E5M2
"""Every collective with every reduction that an element type allows, on 1, 2, 3,
4 and 8 ranks, against NumPy, bit for bit. One program for each element type runs
on any number of ranks: results whose size depends on it are dynamic.
"""

import os
import sys

import braid_testing as bt
import numpy as np

ROWS = 24  # can be divided among each number of ranks
RANKS = [1, 2, 3, 4, 8]


class Builder:
    """Collects the starts and waits of one program, and what they give."""

    def __init__(self, element):
        self.element = element
        self.same = f"tensor<{ROWS}x{ROWS}x{element.name}>"
        self.any_rows = f"tensor<?x{ROWS}x{element.name}>"
        self.any_columns = f"tensor<{ROWS}x?x{element.name}>"
        self.starts, self.waits, self.results, self.models = [], [], [], []

    def add(self, start, type, model, same_type=False):
        """`start` with operand %x and value `type`; `model` maps the list of the
        members' operands, and of their scales, to the list of results."""
        number = len(self.results)
        arrow = "" if same_type else f" -> {type}"
        self.starts.append(f"  %t{number} = comm.{start} : {self.same}{arrow}")
        self.waits.append(f"  %r{number} = comm.wait %t{number} : !comm.token<{type}>")
        self.results.append((f"%r{number}", type))
        self.models.append((start, model))

    def add_reductions(self):
        element = self.element
        for kind in element.reductions():
            how = f"premul_sum(%s : {element.name})" if kind == "premul_sum" else kind
            self.add(f"all_reduce {how} %x on @world", self.same,
                     lambda x, s, kind=kind: bt.all_reduce(element, kind, x, s), True)
            self.add(f"reduce {how} %x on @world root 0", self.same,
                     lambda x, s, kind=kind: bt.reduce(element, kind, x, 0, s), True)
            for dim, type in enumerate([self.any_rows, self.any_columns]):
                self.add(f"reduce_scatter {how} %x on @world dim {dim}", type,
                         lambda x, s, kind=kind, dim=dim:
                         bt.reduce_scatter(element, kind, x, dim, s))

    def add_moves(self):
        self.add("broadcast %x on @world root 0", self.same,
                 lambda x, s: bt.broadcast(x, 0), True)
        self.add("all_gather %x on @world dim 0", self.any_rows,
                 lambda x, s: bt.all_gather(x, 0))
        self.add("all_gather %x on @world dim 1", self.any_columns,
                 lambda x, s: bt.all_gather(x, 1))
        self.add("all_to_all %x on @world", self.same,
                 lambda x, s: bt.all_to_all(x), True)
        self.add("gather %x on @world root 0", self.any_rows,
                 lambda x, s: bt.gather(x, 0))
        self.add("scatter %x on @world root 0", self.any_rows,
                 lambda x, s: bt.scatter(x, 0))
        # A member may send to itself; everyone else gets zeros.
        self.add("permute %x on @world pairs [[0, 0]]", self.same,
                 lambda x, s: bt.permute(x, [(0, 0)]), True)

    def add_ring(self):
        """Sends to the next rank, and receives from the previous one."""
        number = len(self.results)
        self.waits.append(f"""  %c1 = arith.constant 1 : index
  %rank = comm.rank on @world
  %size = comm.size on @world
  %several = arith.cmpi ugt, %size, %c1 : index
  %r{number} = scf.if %several -> {self.same} {{
    %up = arith.addi %rank, %c1 : index
    %next = arith.remui %up, %size : index
    %below = arith.addi %rank, %size : index
    %down = arith.subi %below, %c1 : index
    %previous = arith.remui %down, %size : index
    %sent = comm.send %x on @world to %next : {self.same}
    %coming = comm.recv on @world from %previous : {self.same}
    %received = comm.wait %coming : !comm.token<{self.same}>
    comm.wait %sent : !comm.token
    scf.yield %received : {self.same}
  }} else {{
    scf.yield %x : {self.same}
  }}""")
        self.results.append((f"%r{number}", self.same))
        self.models.append(("ring", lambda x, s: [x[r - 1] for r in range(len(x))]))

    def program(self):
        types = ", ".join(type for _, type in self.results)
        values = ", ".join(value for value, _ in self.results)
        barrier = "  %barrier = comm.barrier on @world\n  comm.wait %barrier : !comm.token"
        return "\n".join([
            "comm.group @world all",
            f"func.func @main(%x: {self.same}, %scale: tensor<{self.element.name}>)"
            f" -> ({types}) {{",
            f"  %s = tensor.extract %scale[] : tensor<{self.element.name}>",
            *self.starts, barrier, *self.waits,
            f"  return {values} : {types}", "}", ""])


def special_values(element, inputs):
    """Infinities, NaN and both zeros, on some of the ranks."""
    if element.kind != "float":
        return
    for rank, array in enumerate(inputs):
        array[0, 0:4] = element.narrow(np.array([
            np.nan if rank == 1 else 1.0, -np.inf if rank == 0 else 2.0,
            np.inf if rank % 2 else -np.inf, -0.0 if rank % 2 else 0.0],
            np.float64 if element.name == "f64" else np.float32))


def check(element, directory):
    builder = Builder(element)
    builder.add_reductions()
    builder.add_moves()
    builder.add_ring()
    program = bt.compile_program(builder.program(), directory)
    for ranks in RANKS:
        random = np.random.RandomState(ranks)
        inputs = [element.random(random, (ROWS, ROWS)) for _ in range(ranks)]
        special_values(element, inputs)
        scales = [element.random(random, ()) for _ in range(ranks)]
        found = bt.run_program(program, ranks, os.path.join(directory, str(ranks)),
                               [(element, inputs), (element, scales)],
                               [element] * len(builder.results))
        for number, (what, model) in enumerate(builder.models):
            expected = model(inputs, scales)
            for rank in range(ranks):
                bt.check_equal(found[rank][number], expected[rank],
                               f"{element.name}: {what}, rank {rank} of {ranks}",
                               element)


def main():
    for name in sys.argv[2:]:
        check(bt.ELEMENT_TYPES[name],
              os.path.join(sys.argv[1], name.replace("<", "_").replace(">", "")))


main()
