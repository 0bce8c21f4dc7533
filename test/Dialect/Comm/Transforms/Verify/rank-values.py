# RUN: %python %s | FileCheck %s
#
# What comm-verify knows of each rank beyond its number: members that there are,
# sizes that come from the rank, parts that ranks exchange, and what collectives
# give each of them. Each case is the body of a function on two ranks; the wrong
# ones have an error, the right ones none.

import rank_programs

ROOT = {
    "wrong": [
        "%t = comm.broadcast %x on @world root 2 : tensor<4xf32>\nWAIT t tensor<4xf32>",
        "%t = comm.reduce sum %x on @world root 5 : tensor<4xf32>\nWAIT t tensor<4xf32>",
        "%t = comm.gather %x on @world root 2 : tensor<4xf32> -> tensor<8xf32>\nWAIT t tensor<8xf32>",
        "%t = comm.scatter %x on @world root 3 : tensor<4xf32> -> tensor<2xf32>\nWAIT t tensor<2xf32>",
        "%t = comm.broadcast %m into %m on @world root 2 : memref<4xf32>, memref<4xf32>\n"
        "comm.wait %t writes(%m : memref<4xf32>) : !comm.token",
        "%t:2 = comm.reduce max %x, %y on @world root 2 : tensor<4xf32>, tensor<2xf32>\n"
        "%v = comm.wait %t#0 : !comm.token<tensor<4xf32>>\n%w = comm.wait %t#1 : !comm.token<tensor<2xf32>>",
        "scf.for %i = %c0 to %c2 step %c1 {\n%t = comm.broadcast %x on @world root 7 : tensor<4xf32>\n"
        "WAIT t tensor<4xf32>\n}",
        "scf.if %c {\n%t = comm.broadcast %x on @world root 2 : tensor<4xf32>\nWAIT t tensor<4xf32>\n}",
        "%t = comm.permute %x on @world pairs [[0, 2]] : tensor<4xf32>\nWAIT t tensor<4xf32>",
        "%t = comm.all_gather %x on @world dim 0 : tensor<4xf32> -> tensor<12xf32>\nWAIT t tensor<12xf32>",
        "%t = comm.reduce_scatter sum %x on @world dim 0 : tensor<4xf32> -> tensor<1xf32>\nWAIT t tensor<1xf32>",
        "%t = comm.all_to_all %x on @world splits [[1, 1, 2], [1, 1, 2], [1, 1, 2]] "
        ": tensor<4xf32> -> tensor<?xf32>\nWAIT t tensor<?xf32>",
    ],
    "right": [
        "%t = comm.broadcast %x on @world root 1 : tensor<4xf32>\nWAIT t tensor<4xf32>",
        "%t = comm.reduce sum %x on @world root 1 : tensor<4xf32>\nWAIT t tensor<4xf32>",
        "%t = comm.gather %x on @world root 1 : tensor<4xf32> -> tensor<8xf32>\nWAIT t tensor<8xf32>",
        "%t = comm.scatter %x on @world root 0 : tensor<4xf32> -> tensor<2xf32>\nWAIT t tensor<2xf32>",
        "%t = comm.broadcast %m into %m on @world root 1 : memref<4xf32>, memref<4xf32>\n"
        "comm.wait %t writes(%m : memref<4xf32>) : !comm.token",
        # No rank comes here.
        "%never = arith.cmpi sgt, %rank, %c3 : index\nscf.if %never {\n"
        "%t = comm.broadcast %x on @world root 2 : tensor<4xf32>\nWAIT t tensor<4xf32>\n}",
        "scf.for %i = %c0 to %c0 step %c1 {\n%t = comm.broadcast %x on @world root 7 : tensor<4xf32>\n"
        "WAIT t tensor<4xf32>\n}",
        "%t = comm.permute %x on @world pairs [[0, 1], [1, 0]] : tensor<4xf32>\nWAIT t tensor<4xf32>",
        "%t = comm.permute %x on @world pairs [] : tensor<4xf32>\nWAIT t tensor<4xf32>",
        "%t = comm.all_gather %x on @world dim 0 : tensor<4xf32> -> tensor<8xf32>\nWAIT t tensor<8xf32>",
        "%t = comm.reduce_scatter sum %x on @world dim 0 : tensor<4xf32> -> tensor<2xf32>\nWAIT t tensor<2xf32>",
        "%t = comm.all_to_all %x on @world splits [[1, 3], [2, 2]] : tensor<4xf32> -> tensor<?xf32>\n"
        "WAIT t tensor<?xf32>",
    ],
}

SLICE = "%s = tensor.extract_slice {of}[0] [{size}] [1] : tensor<{type}xf32> to tensor<?xf32>\n"
SIZES = {
    "wrong": [
        "EMPTY e %next\nSUM t %e",
        SLICE.format(of="%x", size="%next", type=4) + "SUM t %s",
        SLICE.format(of="%d", size="%next", type="?") + "SUM t %s",
        "PICK s %c1 %c3\nEMPTY e %s\nSUM t %e",
        # All ranks have the same argument.
        "%s = arith.addi %n, %rank : index\nEMPTY e %s\nSUM t %e",
        "EMPTY e %next\n%f = linalg.fill ins(%f0 : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>\nSUM t %f",
        "EMPTY e %next\n%f = linalg.exp ins(%e : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>\n"
        "%g = tensor.cast %f : tensor<?xf32> to tensor<?xf32>\nSUM t %g",
        "EMPTY a %c2\nEMPTY b %c3\n%e = scf.if %first -> tensor<?xf32> {\nscf.yield %a : tensor<?xf32>\n"
        "} else {\nscf.yield %b : tensor<?xf32>\n}\nSUM t %e",
        "EMPTY e %next\n%p = tensor.pad %e low[1] high[0] {\n^bb0(%i: index):\ntensor.yield %f0 : f32\n"
        "} : tensor<?xf32> to tensor<?xf32>\nSUM t %p",
        "EMPTY e %next\n%z = tensor.dim %e, %c0 : tensor<?xf32>\nEMPTY g %z\nSUM t %g",
        "EMPTY e %next\nfunc.call @reduce_all(%e) : (tensor<?xf32>) -> ()",
        "%e = tensor.cast %x : tensor<4xf32> to tensor<?xf32>\n%f = tensor.cast %y : tensor<2xf32> to tensor<?xf32>\n"
        "%g = arith.select %first, %e, %f : tensor<?xf32>\nSUM t %g",
        "%e = memref.alloc(%next) : memref<?xf32>\n"
        "%t = comm.all_reduce sum %e into %e on @world : memref<?xf32>, memref<?xf32>\n"
        "comm.wait %t writes(%e : memref<?xf32>) : !comm.token",
        "%e = memref.subview %m[0] [%next] [1] : memref<4xf32> to memref<?xf32, strided<[1]>>\n"
        "%t = comm.broadcast %e into %e on @world root 0 : memref<?xf32, strided<[1]>>, memref<?xf32, strided<[1]>>\n"
        "comm.wait %t writes(%e : memref<?xf32, strided<[1]>>) : !comm.token",
        # Rank 0 sends three elements, rank 1 receives two.
        "EMPTY e %c3\nscf.if %first {\n%t = comm.send %e on @world to 1 : tensor<?xf32>\n"
        "comm.wait %t : !comm.token\n} else {\n%t = comm.recv on @world from 0 (%next) : tensor<?xf32>\n"
        "WAIT t tensor<?xf32>\n}",
        "%s = scf.for %i = %c0 to %next step %c1 iter_args(%a = %c1) -> (index) {\n"
        "%b = arith.addi %a, %c2 : index\nscf.yield %b : index\n}\nEMPTY e %s\nSUM t %e",
    ],
    "right": [
        "EMPTY e %n\nSUM t %e",
        "SUM t %d",
        SLICE.format(of="%d", size="%n", type="?") + "SUM t %s",
        "PICK s %c2 %c2\nEMPTY e %s\nSUM t %e",
        "%s = arith.subi %next, %rank : index\nEMPTY e %s\nSUM t %e",
        # The part of a rank is as large as that of the other.
        "%o = arith.muli %rank, %c2 : index\n%e = arith.addi %o, %c2 : index\n%s = arith.subi %e, %o : index\n"
        "EMPTY g %s\nSUM t %g",
        "%s = tensor.extract_slice %x[%rank] [2] [1] : tensor<4xf32> to tensor<2xf32>\n"
        "%t = comm.all_reduce sum %s on @world : tensor<2xf32>\nWAIT t tensor<2xf32>",
        "EMPTY a %n\nEMPTY b %n\n%e = scf.if %first -> tensor<?xf32> {\nscf.yield %a : tensor<?xf32>\n"
        "} else {\nscf.yield %b : tensor<?xf32>\n}\nSUM t %e",
        # A rank keeps what has a size of its own.
        "EMPTY e %next\n%z = tensor.dim %e, %c0 : tensor<?xf32>\nSUM t %d",
        "%s = memref.alloc(%next) : memref<?xf32>\n%e = memref.alloc(%n) : memref<?xf32>\n"
        "%t = comm.all_reduce sum %e into %e on @world : memref<?xf32>, memref<?xf32>\n"
        "comm.wait %t writes(%e : memref<?xf32>) : !comm.token",
        "EMPTY e %c2\nscf.if %first {\n%t = comm.send %e on @world to 1 : tensor<?xf32>\n"
        "comm.wait %t : !comm.token\n} else {\n%t = comm.recv on @world from 0 (%next) : tensor<?xf32>\n"
        "WAIT t tensor<?xf32>\n}",
        # What a rank loads by its number may be the same everywhere.
        "%table = memref.alloc() : memref<2xindex>\n%s = memref.load %table[%rank] : memref<2xindex>\n"
        "EMPTY e %s\nSUM t %e",
        "%w = arith.divui %c4, %c2 : index\nEMPTY e %w\nSUM t %e",
    ],
}

SPLITS = {
    "wrong": [
        "EXCHANGE %next %c1 %next %c1",
        "PICK a %c1 %c3\nPICK b %c3 %c1\nEXCHANGE %a %b %b %a",
        "PICK a %c1 %c2\nPICK b %c3 %c2\nEXCHANGE %a %b %c2 %c2",
        "scf.if %first {\nEXCHANGE %c1 %c3 %c1 %c3\n} else {\nEXCHANGE %c1 %c3 %c2 %c2\n}",
        "scf.if %first {\nEXCHANGE %c3 %c1 %c3 %c3\n} else {\nEXCHANGE %c1 %c3 %c1 %c3\n}",
        # The sizes that a rank sends are those of its operand.
        "EXCHANGE %c1 %c2 %c1 %c2",
        "PICK a %c2 %c3\nEXCHANGE %a %c2 %a %c2",
        "scf.if %first {\n%t = comm.all_to_all %x on @world splits [[1, 3], [2, 2]] : tensor<4xf32> -> tensor<?xf32>\n"
        "WAIT t tensor<?xf32>\n} else {\nEXCHANGE %c2 %c2 %c2 %c2\n}",
        "scf.if %first {\n%t = comm.all_to_all %x on @world : tensor<4xf32>\nWAIT t tensor<4xf32>\n"
        "} else {\nEXCHANGE %c1 %c3 %c2 %c3\n}",
        "scf.if %first {\n%t = comm.all_to_all %x on @world splits [[1, 3], [2, 2]] : tensor<4xf32> -> tensor<?xf32>\n"
        "WAIT t tensor<?xf32>\n} else {\n"
        "%t = comm.all_to_all %x on @world splits [[2, 2], [2, 2]] : tensor<4xf32> -> tensor<?xf32>\n"
        "WAIT t tensor<?xf32>\n}",
        "scf.for %i = %c0 to %c2 step %c1 {\n%a = arith.addi %i, %rank : index\n%b = arith.subi %c4, %a : index\n"
        "EXCHANGE %a %b %b %a\n}",
        "%a = affine.apply affine_map<(d0) -> (d0 * 2 + 1)>(%rank)\n%b = arith.subi %c4, %a : index\n"
        "EXCHANGE %a %b %b %a",
    ],
    "right": [
        "EXCHANGE %c2 %c2 %c2 %c2",
        "PICK a %c1 %c2\nPICK b %c3 %c2\nPICK p %c1 %c3\nEXCHANGE %a %b %p %c2",
        "PICK a %c1 %c3\nPICK b %c3 %c1\nEXCHANGE %a %b %a %b",
        "scf.if %first {\nEXCHANGE %c1 %c3 %c1 %c2\n} else {\nEXCHANGE %c2 %c2 %c3 %c2\n}",
        "%t = comm.all_to_all %x on @world splits [[1, 3], [2, 2]] : tensor<4xf32> -> tensor<?xf32>\n"
        "WAIT t tensor<?xf32>",
        "scf.if %first {\n%t = comm.all_to_all %x on @world splits [[1, 3], [2, 2]] : tensor<4xf32> -> tensor<?xf32>\n"
        "WAIT t tensor<?xf32>\n} else {\nEXCHANGE %c2 %c2 %c3 %c2\n}",
        # Sizes from outside are those that the callers agree on.
        "EXCHANGE %n %n %n %n",
        "%a = tensor.extract %ints[%c0] : tensor<2xi32>\n%b = arith.index_cast %a : i32 to index\n"
        "EXCHANGE %b %n %n %b",
        # Ranks may send operands of different sizes.
        "PICK a %c1 %c2\n%s = tensor.extract_slice %x[0] [%a] [1] : tensor<4xf32> to tensor<?xf32>\n"
        "PICK p %c0 %c1\n"
        "%t = comm.all_to_all %s on @world splits [%p, %c1] into [%p, %c1] : tensor<?xf32> -> tensor<?xf32>\n"
        "WAIT t tensor<?xf32>",
        "scf.if %first {\n%t = comm.all_to_all %x on @world splits [%c1, %c3] into [%c1, %c1] "
        ": tensor<4xf32> -> tensor<?xf32>\nWAIT t tensor<?xf32>\n} else {\n"
        "%t = comm.all_to_all %y on @world splits [%c1, %c1] into [%c3, %c1] : tensor<2xf32> -> tensor<?xf32>\n"
        "WAIT t tensor<?xf32>\n}",
        "%t = comm.all_to_all %x on @world : tensor<4xf32>\nWAIT t tensor<4xf32>",
        "scf.for %i = %c0 to %c2 step %c1 {\n%a = arith.addi %i, %c1 : index\n%b = arith.subi %c4, %a : index\n"
        "PICK p %a %b\nEXCHANGE %a %b %p %p\n}",
    ],
}

ONE = "%v = tensor.from_elements {value} : tensor<1xi32>\n"
GATHER = "%t = comm.gather %v on @world root {root} : tensor<1xi32> -> tensor<2xi32>\nWAIT t tensor<2xi32>\n"
ALL_GATHER = "%t = comm.all_gather %v on @world dim 0 : tensor<1xi32> -> tensor<2xi32>\nWAIT t tensor<2xi32>\n"
REDUCE = "%t = comm.reduce {kind} %v on @world root 0 : tensor<1xi32>\nWAIT t tensor<1xi32>\n"
PERMUTE = "%t = comm.permute %v on @world pairs {pairs} : tensor<1xi32>\nWAIT t tensor<1xi32>\n"
PAIR = "%v = tensor.from_elements {a}, {b} : tensor<2xi32>\n"
SCATTER = "%t = comm.reduce_scatter {kind} %v on @world dim 0 : tensor<2xi32> -> tensor<1xi32>\nWAIT t tensor<1xi32>\n"
VALUES = {
    "wrong": [
        ONE.format(value="%i1") + GATHER.format(root=0) + "BARRIER-IF:2 %t_w %c1",
        ONE.format(value="%i1") + GATHER.format(root=1) + "BARRIER-IF:2 %t_w %c0",
        # On other members than the root there are zeros.
        "%v = tensor.extract_slice %ints[0] [1] [1] : tensor<2xi32> to tensor<1xi32>\n"
        + GATHER.format(root=0)
        + "BARRIER-IF:2 %t_w %c0",
        ONE.format(value="%r") + ALL_GATHER + "BARRIER-IF:2 %t_w %rank",
        ONE.format(value="%r") + REDUCE.format(kind="min") + "BARRIER-IF:1 %t_w %c0",
        "%own = arith.subi %i1, %r : i32\n" + ONE.format(value="%own") + REDUCE.format(kind="sum")
        + "BARRIER-IF:1 %t_w %c0",
        ONE.format(value="%r") + PERMUTE.format(pairs="[[0, 1], [1, 0]]") + "BARRIER-IF:1 %t_w %c0",
        ONE.format(value="%i1") + PERMUTE.format(pairs="[[0, 1]]") + "BARRIER-IF:1 %t_w %c0",
        ONE.format(value="%i1") + PERMUTE.format(pairs="[]")
        + "%u = comm.permute %v on @world pairs [[1, 0]] : tensor<1xi32>\nWAIT u tensor<1xi32>\n"
        + "BARRIER-IF:1 %u_w %c0",
        PAIR.format(a="%i0", b="%i1") + SCATTER.format(kind="sum") + "BARRIER-IF:1 %t_w %c0",
        PAIR.format(a="%r", b="%i0") + SCATTER.format(kind="max") + "BARRIER-IF:1 %t_w %c0",
        "%v = arith.constant dense<[1, 0]> : tensor<2xi32>\n"
        "%t = comm.scatter %v on @world root 0 : tensor<2xi32> -> tensor<1xi32>\nWAIT t tensor<1xi32>\n"
        "BARRIER-IF:1 %t_w %c0",
        PAIR.format(a="%r", b="%i1") + "%t = comm.all_to_all %v on @world : tensor<2xi32>\nWAIT t tensor<2xi32>\n"
        + "BARRIER-IF:2 %t_w %c0".replace("%c0", "%rank"),
        # A collective gives what the next one takes.
        ONE.format(value="%r") + ALL_GATHER
        + "%p = tensor.extract_slice %t_w[1] [1] [1] : tensor<2xi32> to tensor<1xi32>\n"
        "%u = comm.gather %p on @world root 0 : tensor<1xi32> -> tensor<2xi32>\nWAIT u tensor<2xi32>\n"
        "BARRIER-IF:2 %u_w %c0",
        ONE.format(value="%r") + REDUCE.format(kind="sum")
        + "%q = arith.addi %t_w, %v : tensor<1xi32>\n%h = arith.constant dense<1> : tensor<1xi32>\n"
        "%z = arith.subi %q, %h : tensor<1xi32>\nBARRIER-IF:1 %z %c0",
        # The loop runs as often as the rank says.
        ONE.format(value="%r") + PERMUTE.format(pairs="[[0, 1], [1, 0]]")
        + "%el = tensor.extract %t_w[%c0] : tensor<1xi32>\n%to = arith.index_cast %el : i32 to index\n"
        "scf.for %i = %c0 to %to step %c1 {\n%b = comm.barrier on @world\ncomm.wait %b : !comm.token\n}",
    ],
    "right": [
        ONE.format(value="%i1") + ALL_GATHER + "BARRIER-IF:2 %t_w %c1",
        ONE.format(value="%r") + ALL_GATHER + "BARRIER-IF:2 %t_w %c1",
        ONE.format(value="%r") + ALL_GATHER + "BARRIER-IF:2 %t_w %c0",
        # The root alone asks what was gathered, and tells the others.
        ONE.format(value="%r") + GATHER.format(root=0)
        + "%u = comm.broadcast %t_w on @world root 0 : tensor<2xi32>\nWAIT u tensor<2xi32>\nBARRIER-IF:2 %u_w %c1",
        ONE.format(value="%r") + REDUCE.format(kind="sum")
        + "%u = comm.broadcast %t_w on @world root 0 : tensor<1xi32>\nWAIT u tensor<1xi32>\nBARRIER-IF:1 %u_w %c0",
        ONE.format(value="%i1") + REDUCE.format(kind="min") + "BARRIER-IF:1 %t_w %c0",
        ONE.format(value="%r")
        + "%t = comm.all_reduce max %v on @world : tensor<1xi32>\nWAIT t tensor<1xi32>\nBARRIER-IF:1 %t_w %c0",
        ONE.format(value="%i1") + PERMUTE.format(pairs="[[0, 1], [1, 0]]") + "BARRIER-IF:1 %t_w %c0",
        PAIR.format(a="%i1", b="%i1") + SCATTER.format(kind="sum") + "BARRIER-IF:1 %t_w %c0",
        "%t = comm.all_reduce sum %ints on @world : tensor<2xi32>\nWAIT t tensor<2xi32>\nBARRIER-IF:2 %t_w %c0",
        # Nothing is known of the operands.
        "%v = tensor.extract_slice %ints[0] [1] [1] : tensor<2xi32> to tensor<1xi32>\n"
        + ALL_GATHER
        + "BARRIER-IF:2 %t_w %c0",
        "%t = comm.reduce_scatter sum %ints on @world dim 0 : tensor<2xi32> -> tensor<1xi32>\nWAIT t tensor<1xi32>\n"
        "BARRIER-IF:1 %t_w %c0",
        # Only the root communicates with itself alone: nothing.
        ONE.format(value="%r") + GATHER.format(root=0)
        + "%el = tensor.extract %t_w[%c1] : tensor<2xi32>\n%go = arith.cmpi ne, %el, %i0 : i32\nscf.if %go {\n"
        "%s = arith.addi %el, %el : i32\n}",
        ONE.format(value="%r") + ALL_GATHER
        + "%el = tensor.extract %t_w[%c1] : tensor<2xi32>\n%to = arith.index_cast %el : i32 to index\n"
        "scf.for %i = %c0 to %to step %c1 {\n%b = comm.barrier on @world\ncomm.wait %b : !comm.token\n}",
    ],
}

rank_programs.check({"root": ROOT, "sizes": SIZES, "splits": SPLITS, "values": VALUES})
# CHECK: root: 12 of 12 wrong programs found, 0 false alarms on 12
# CHECK-NEXT: sizes: 16 of 16 wrong programs found, 0 false alarms on 13
# CHECK-NEXT: splits: 12 of 12 wrong programs found, 0 false alarms on 12
# CHECK-NEXT: values: 16 of 16 wrong programs found, 0 false alarms on 14
