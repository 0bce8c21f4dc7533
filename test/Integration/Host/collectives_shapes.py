# RUN: rm -rf %t
# RUN: %python %s %t
"""Tensors of unusual shapes, against NumPy: without dimensions, without elements,
with one element, with sizes that no power of two divides, of dynamic sizes, and
so large that a collective is done in many pieces.
"""

import os
import sys

import braid_testing as bt
import numpy as np

# %s: a scalar, %e: no rows, %n: any number of rows, %big: a million elements.
PROGRAM = """
comm.group @world all

func.func @scalars(%s: tensor<TYPE>, %n: tensor<?xTYPE>)
    -> (tensor<TYPE>, tensor<TYPE>, tensor<TYPE>, tensor<?xTYPE>, tensor<?xTYPE>,
        tensor<TYPE>, tensor<TYPE>) {
  %t0 = comm.all_reduce KIND %s on @world : tensor<TYPE>
  %t1 = comm.reduce KIND %s on @world root 0 : tensor<TYPE>
  %t2 = comm.broadcast %s on @world root 0 : tensor<TYPE>
  %t3 = comm.all_gather %s on @world dim 0 : tensor<TYPE> -> tensor<?xTYPE>
  %t4 = comm.gather %s on @world root 0 : tensor<TYPE> -> tensor<?xTYPE>
  %t5 = comm.reduce_scatter KIND %n on @world dim 0 : tensor<?xTYPE> -> tensor<TYPE>
  %t6 = comm.scatter %n on @world root 0 : tensor<?xTYPE> -> tensor<TYPE>
  %0 = comm.wait %t0 : !comm.token<tensor<TYPE>>
  %1 = comm.wait %t1 : !comm.token<tensor<TYPE>>
  %2 = comm.wait %t2 : !comm.token<tensor<TYPE>>
  %3 = comm.wait %t3 : !comm.token<tensor<?xTYPE>>
  %4 = comm.wait %t4 : !comm.token<tensor<?xTYPE>>
  %5 = comm.wait %t5 : !comm.token<tensor<TYPE>>
  %6 = comm.wait %t6 : !comm.token<tensor<TYPE>>
  return %0, %1, %2, %3, %4, %5, %6
      : tensor<TYPE>, tensor<TYPE>, tensor<TYPE>, tensor<?xTYPE>, tensor<?xTYPE>,
        tensor<TYPE>, tensor<TYPE>
}

func.func @empty(%e: tensor<0x3xTYPE>)
    -> (tensor<0x3xTYPE>, tensor<0x3xTYPE>, tensor<0x3xTYPE>, tensor<?x3xTYPE>,
        tensor<0x?xTYPE>, tensor<?x3xTYPE>, tensor<0x3xTYPE>, tensor<?x3xTYPE>,
        tensor<?x3xTYPE>, tensor<0x3xTYPE>) {
  %t0 = comm.all_reduce KIND %e on @world : tensor<0x3xTYPE>
  %t1 = comm.reduce KIND %e on @world root 0 : tensor<0x3xTYPE>
  %t2 = comm.broadcast %e on @world root 0 : tensor<0x3xTYPE>
  %t3 = comm.all_gather %e on @world dim 0 : tensor<0x3xTYPE> -> tensor<?x3xTYPE>
  %t4 = comm.all_gather %e on @world dim 1 : tensor<0x3xTYPE> -> tensor<0x?xTYPE>
  %t5 = comm.reduce_scatter KIND %e on @world dim 0 : tensor<0x3xTYPE> -> tensor<?x3xTYPE>
  %t6 = comm.all_to_all %e on @world : tensor<0x3xTYPE>
  %t7 = comm.gather %e on @world root 0 : tensor<0x3xTYPE> -> tensor<?x3xTYPE>
  %t8 = comm.scatter %e on @world root 0 : tensor<0x3xTYPE> -> tensor<?x3xTYPE>
  %t9 = comm.permute %e on @world pairs [[0, 0]] : tensor<0x3xTYPE>
  %0 = comm.wait %t0 : !comm.token<tensor<0x3xTYPE>>
  %1 = comm.wait %t1 : !comm.token<tensor<0x3xTYPE>>
  %2 = comm.wait %t2 : !comm.token<tensor<0x3xTYPE>>
  %3 = comm.wait %t3 : !comm.token<tensor<?x3xTYPE>>
  %4 = comm.wait %t4 : !comm.token<tensor<0x?xTYPE>>
  %5 = comm.wait %t5 : !comm.token<tensor<?x3xTYPE>>
  %6 = comm.wait %t6 : !comm.token<tensor<0x3xTYPE>>
  %7 = comm.wait %t7 : !comm.token<tensor<?x3xTYPE>>
  %8 = comm.wait %t8 : !comm.token<tensor<?x3xTYPE>>
  %9 = comm.wait %t9 : !comm.token<tensor<0x3xTYPE>>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9
      : tensor<0x3xTYPE>, tensor<0x3xTYPE>, tensor<0x3xTYPE>, tensor<?x3xTYPE>,
        tensor<0x?xTYPE>, tensor<?x3xTYPE>, tensor<0x3xTYPE>, tensor<?x3xTYPE>,
        tensor<?x3xTYPE>, tensor<0x3xTYPE>
}

// Sizes that only the arguments know; a coalesced launch with an empty operand.
func.func @dynamic(%n: tensor<?x?xTYPE>, %e: tensor<?xTYPE>)
    -> (tensor<?x?xTYPE>, tensor<?x?xTYPE>, tensor<?x?xTYPE>, tensor<?xTYPE>) {
  %t0 = comm.all_reduce KIND %n on @world : tensor<?x?xTYPE>
  %t1 = comm.all_gather %n on @world dim 1 : tensor<?x?xTYPE> -> tensor<?x?xTYPE>
  %t2:2 = comm.broadcast %n, %e on @world root 0 : tensor<?x?xTYPE>, tensor<?xTYPE>
  %0 = comm.wait %t0 : !comm.token<tensor<?x?xTYPE>>
  %1 = comm.wait %t1 : !comm.token<tensor<?x?xTYPE>>
  %2 = comm.wait %t2#0 : !comm.token<tensor<?x?xTYPE>>
  %3 = comm.wait %t2#1 : !comm.token<tensor<?xTYPE>>
  return %0, %1, %2, %3 : tensor<?x?xTYPE>, tensor<?x?xTYPE>, tensor<?x?xTYPE>, tensor<?xTYPE>
}

func.func @large(%big: tensor<1000003xTYPE>)
    -> (tensor<1000003xTYPE>, tensor<1000003xTYPE>, tensor<?xTYPE>) {
  %t0 = comm.all_reduce KIND %big on @world : tensor<1000003xTYPE>
  %t1 = comm.broadcast %big on @world root 0 : tensor<1000003xTYPE>
  %t2 = comm.all_gather %big on @world dim 0 : tensor<1000003xTYPE> -> tensor<?xTYPE>
  %2 = comm.wait %t2 : !comm.token<tensor<?xTYPE>>
  %1 = comm.wait %t1 : !comm.token<tensor<1000003xTYPE>>
  %0 = comm.wait %t0 : !comm.token<tensor<1000003xTYPE>>
  return %0, %1, %2 : tensor<1000003xTYPE>, tensor<1000003xTYPE>, tensor<?xTYPE>
}
"""


def programs(element, ranks):
    """For each entry its arguments and the models of its results."""
    random = np.random.RandomState(ranks)

    def arrays(*shape):
        return [element.random(random, shape) for _ in range(ranks)]

    kind = element.reductions()[0]

    def total(values):
        return bt.all_reduce(element, kind, values)

    def first(values):
        return bt.reduce(element, kind, values, 0)

    def scattered(values):
        return [x.reshape(()) for x in bt.reduce_scatter(element, kind, values, 0)]

    s, n = arrays(), arrays(ranks)
    yield "scalars", [s, n], [
        total(s), first(s), bt.broadcast(s, 0), bt.all_gather(s), bt.gather(s, 0),
        scattered(n), [x.reshape(()) for x in bt.scatter(n, 0)]]
    e = arrays(0, 3)
    wide = bt.all_gather(e, 1)
    yield "empty", [e], [e, e, e, e, wide, e, e, e, e, e]
    n, e = arrays(7, 5), arrays(0)
    yield "dynamic", [n, e], [total(n), bt.all_gather(n, 1), bt.broadcast(n, 0), e]
    big = arrays(1000003)
    yield "large", [big], [total(big), bt.broadcast(big, 0), bt.all_gather(big)]


def main():
    for name, large_ranks in [("f32", [1, 2, 3]), ("bf16", [8]), ("i1", [2]), ("i64", [])]:
        element = bt.ELEMENT_TYPES[name]
        directory = os.path.join(sys.argv[1], name)
        text = PROGRAM.replace("TYPE", name).replace("KIND", element.reductions()[0])
        program = bt.compile_program(text, directory)
        for ranks in [1, 2, 3, 8]:
            for entry, arguments, models in programs(element, ranks):
                if entry == "large" and ranks not in large_ranks:
                    continue
                found = bt.run_program(
                    program, ranks, os.path.join(directory, f"{entry}.{ranks}"),
                    [(element, arrays) for arrays in arguments],
                    [element] * len(models), entry=entry)
                for number, model in enumerate(models):
                    for rank in range(ranks):
                        bt.check_equal(
                            found[rank][number], model[rank],
                            f"{name}: @{entry}, result {number}, rank {rank} of {ranks}",
                            element)


main()
