# RUN: rm -rf %t
# RUN: %python %s %t
"""Tokens that leave the block of their start, against NumPy: through loops,
branches, calls, cf blocks and arith.select, with every pass. A collective starts
in one region and is awaited in another one.
"""

import functools
import os
import sys

import braid_testing as bt
import numpy as np

PASSES = [None, "none", "comm-sink-waits", "comm-raise-collectives",
          "comm-reorder-compute-for-overlap",
          "comm-order-collectives,comm-sink-waits,comm-raise-collectives",
          "func.func(comm-legalize-for-nccl)"]

PROGRAM = """
!t = tensor<8xf32>
!token = !comm.token<!t>
comm.group @world all

func.func private @half(%x: !t) -> !t {
  %factor = arith.constant dense<0.5> : !t
  %init = tensor.empty() : !t
  %y = linalg.mul ins(%x, %factor : !t, !t) outs(%init : !t) -> !t
  return %y : !t
}
func.func private @add(%x: !t, %y: !t) -> !t {
  %init = tensor.empty() : !t
  %z = linalg.add ins(%x, %y : !t, !t) outs(%init : !t) -> !t
  return %z : !t
}

// Each iteration awaits the collective of the one before, and starts its own.
func.func @loop(%x: !t, %n: index) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = comm.all_reduce sum %x on @world : !t
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%token = %first) -> (!token) {
    %y = comm.wait %token : !token
    %z = func.call @half(%y) : (!t) -> !t
    %next = comm.all_reduce sum %z on @world : !t
    scf.yield %next : !token
  }
  %result = comm.wait %last : !token
  return %result : !t
}

// Two tokens that change places in each iteration.
func.func @loop_swap(%x: !t, %n: index) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = call @half(%x) : (!t) -> !t
  %a = comm.all_reduce sum %x on @world : !t
  %b = comm.all_reduce max %y on @world : !t
  %ab:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> (!token, !token) {
    %v = comm.wait %p : !token
    %w = func.call @add(%v, %x) : (!t, !t) -> !t
    %new = comm.all_reduce min %w on @world : !t
    scf.yield %q, %new : !token, !token
  }
  %r0 = comm.wait %ab#0 : !token
  %r1 = comm.wait %ab#1 : !token
  return %r0, %r1 : !t, !t
}

// Tokens of one coalesced launch, and a value beside them.
func.func @loop_coalesced(%x: !t, %n: index) -> (!t, !t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = call @half(%x) : (!t) -> !t
  %ab:2 = comm.all_reduce sum %x, %y on @world : !t, !t
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %ab#0, %q = %ab#1, %s = %x)
      -> (!token, !token, !t) {
    %v = comm.wait %p : !token
    %w = comm.wait %q : !token
    %sum = func.call @add(%s, %w) : (!t, !t) -> !t
    %hv = func.call @half(%v) : (!t) -> !t
    %hw = func.call @half(%w) : (!t) -> !t
    %new:2 = comm.all_reduce sum %hw, %hv on @world : !t, !t
    scf.yield %new#0, %new#1, %sum : !token, !token, !t
  }
  %r0 = comm.wait %r#0 : !token
  %r1 = comm.wait %r#1 : !token
  return %r0, %r1, %r#2 : !t, !t, !t
}

// A branch starts, what follows waits.
func.func @if_start(%x: !t, %n: index) -> !t {
  %c1 = arith.constant 1 : index
  %many = arith.cmpi ugt, %n, %c1 : index
  %token = scf.if %many -> (!token) {
    %a = comm.all_reduce sum %x on @world : !t
    scf.yield %a : !token
  } else {
    %y = func.call @half(%x) : (!t) -> !t
    %b = comm.all_reduce max %y on @world : !t
    scf.yield %b : !token
  }
  %z = call @half(%x) : (!t) -> !t
  %v = comm.wait %token : !token
  %r = call @add(%v, %z) : (!t, !t) -> !t
  return %r : !t
}

// Each branch waits, for what started before.
func.func @if_wait(%x: !t, %n: index) -> !t {
  %c1 = arith.constant 1 : index
  %many = arith.cmpi ugt, %n, %c1 : index
  %token = comm.all_reduce sum %x on @world : !t
  %z = call @half(%x) : (!t) -> !t
  %r = scf.if %many -> (!t) {
    %v = comm.wait %token : !token
    %y = func.call @add(%v, %z) : (!t, !t) -> !t
    scf.yield %y : !t
  } else {
    %v = comm.wait %token : !token
    scf.yield %v : !t
  }
  return %r : !t
}

// A loop whose condition is computed.
func.func @while(%x: !t, %n: index) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = comm.all_reduce sum %x on @world : !t
  %last:2 = scf.while (%i = %c0, %token = %first) : (index, !token) -> (index, !token) {
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %token : index, !token
  } do {
  ^bb0(%i: index, %token: !token):
    %next = arith.addi %i, %c1 : index
    %y = comm.wait %token : !token
    %z = func.call @half(%y) : (!t) -> !t
    %new = comm.all_reduce max %z on @world : !t
    scf.yield %next, %new : index, !token
  }
  %r = comm.wait %last#1 : !token
  return %r : !t
}

// Functions that take and give tokens.
func.func private @launch(%x: !t) -> !token {
  %y = call @half(%x) : (!t) -> !t
  %token = comm.all_reduce sum %y on @world : !t
  return %token : !token
}
func.func private @hand_on(%token: !token) -> !token {
  return %token : !token
}
func.func private @finish(%token: !token, %x: !t) -> !t {
  %y = call @half(%x) : (!t) -> !t
  %v = comm.wait %token : !token
  %r = call @add(%v, %y) : (!t, !t) -> !t
  return %r : !t
}
func.func @calls(%x: !t, %n: index) -> !t {
  %a = call @launch(%x) : (!t) -> !token
  %b = call @hand_on(%a) : (!token) -> !token
  %r = call @finish(%b, %x) : (!token, !t) -> !t
  return %r : !t
}

// Blocks with arguments.
func.func @blocks(%x: !t, %n: index) -> !t {
  %c1 = arith.constant 1 : index
  %many = arith.cmpi ugt, %n, %c1 : index
  cf.cond_br %many, ^sum, ^max
^sum:
  %a = comm.all_reduce sum %x on @world : !t
  cf.br ^join(%a : !token)
^max:
  %b = comm.all_reduce max %x on @world : !t
  cf.br ^join(%b : !token)
^join(%token: !token):
  %z = call @half(%x) : (!t) -> !t
  %v = comm.wait %token : !token
  %r = call @add(%v, %z) : (!t, !t) -> !t
  return %r : !t
}

// Which of two is awaited first.
func.func @select(%x: !t, %n: index) -> (!t, !t) {
  %c1 = arith.constant 1 : index
  %many = arith.cmpi ugt, %n, %c1 : index
  %a = comm.all_reduce sum %x on @world : !t
  %b = comm.all_reduce max %x on @world : !t
  %p = arith.select %many, %a, %b : !token
  %q = arith.select %many, %b, %a : !token
  %v = comm.wait %p : !token
  %w = comm.wait %q : !token
  return %v, %w : !t, !t
}

// A loop in a loop, with a branch inside.
func.func @nested(%x: !t, %n: index) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %first = comm.all_reduce sum %x on @world : !t
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%outer = %first) -> (!token) {
    %inner = scf.for %j = %c0 to %c2 step %c1 iter_args(%token = %outer) -> (!token) {
      %same = arith.cmpi eq, %i, %j : index
      %next = scf.if %same -> (!token) {
        %y = comm.wait %token : !token
        %z = func.call @half(%y) : (!t) -> !t
        %a = comm.all_reduce sum %z on @world : !t
        scf.yield %a : !token
      } else {
        scf.yield %token : !token
      }
      scf.yield %next : !token
    }
    scf.yield %inner : !token
  }
  %r = comm.wait %last : !token
  return %r : !t
}

// The source is overwritten while its collective is in flight in another block.
func.func @loop_overwrites(%x: !t, %n: index) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = comm.all_reduce sum %x on @world : !t
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%token = %first, %s = %x) -> (!token, !t) {
    %u = linalg.add ins(%s, %s : !t, !t) outs(%s : !t) -> !t
    %v = comm.wait %token : !token
    %w = linalg.add ins(%u, %v : !t, !t) outs(%u : !t) -> !t
    %next = comm.all_reduce max %w on @world : !t
    scf.yield %next, %w : !token, !t
  }
  %last = comm.wait %r#0 : !token
  return %last, %r#1 : !t, !t
}
"""


#: NCCL's maxima drop NaNs, so they are replaced, which sums behind the same wait are not.
MAXIMA = PROGRAM.replace("all_reduce sum", "all_reduce max").replace("all_reduce min", "all_reduce max")


def half(values):
    return [v * np.float32(0.5) for v in values]


def add(xs, ys):
    return [x + y for x, y in zip(xs, ys)]


def expected(x, n, total, highest, lowest):
    """By entry the list of results, each a list by rank; with functions that reduce."""
    results = {}
    v = total(x)
    for _ in range(n):
        v = total(half(v))
    results["loop"] = [v]

    p, q = total(x), highest(half(x))
    for _ in range(n):
        p, q = q, lowest(add(p, x))
    results["loop_swap"] = [p, q]

    p, q, s = total(x), total(half(x)), x
    for _ in range(n):
        p, q, s = total(half(q)), total(half(p)), add(s, q)
    results["loop_coalesced"] = [p, q, s]

    many = n > 1
    results["if_start"] = [add(total(x) if many else highest(half(x)), half(x))]
    results["if_wait"] = [add(total(x), half(x)) if many else total(x)]

    v = total(x)
    for _ in range(n):
        v = highest(half(v))
    results["while"] = [v]
    results["calls"] = [add(total(half(x)), half(x))]
    results["blocks"] = [add(total(x) if many else highest(x), half(x))]
    both = [total(x), highest(x)]
    results["select"] = both if many else both[::-1]

    v = total(x)
    for i in range(n):
        for j in range(2):
            if i == j:
                v = total(half(v))
    results["nested"] = [v]

    v, s = total(x), x
    for _ in range(n):
        s = add(add(s, s), v)
        v = highest(s)
    results["loop_overwrites"] = [v, s]
    return results


def main():
    for number, passes in enumerate(PASSES):
        directory = os.path.join(sys.argv[1], str(number))
        only_maxima = "nccl" in (passes or "") or "BRAID_TEST_RECORD" in os.environ
        program = bt.compile_program(MAXIMA if only_maxima else PROGRAM, directory, passes=passes)
        reductions = [functools.partial(bt.all_reduce, bt.F32, "max" if only_maxima else kind)
                      for kind in ("sum", "max", "min")]
        for ranks, n in [(2, 0), (2, 1), (3, 4)]:
            random = np.random.RandomState(n)
            x = [random.standard_normal(8).astype(np.float32) for _ in range(ranks)]
            # What a minimum or maximum has to keep, one by one.
            x[0][0], x[1][1], x[0][2] = np.nan, np.inf, -np.inf
            x[1][3] = np.finfo(np.float32).max
            count = [np.array(n, np.int64)] * ranks
            for entry, results in expected(x, n, *reductions).items():
                found = bt.run_program(
                    program, ranks, os.path.join(directory, f"{entry}.{n}"),
                    [(bt.F32, x), (bt.I64, count)], [bt.F32] * len(results), entry=entry)
                for result, by_rank in enumerate(results):
                    for rank in range(ranks):
                        bt.check_equal(found[rank][result], by_rank[rank],
                                       f"{passes}: @{entry} with n = {n}, result {result}, "
                                       f"rank {rank} of {ranks}")


main()
