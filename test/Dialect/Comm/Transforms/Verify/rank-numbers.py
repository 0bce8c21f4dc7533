# RUN: %python %s | FileCheck %s
#
# Numbers that conditions, sizes and parts come from, beyond integers in small
# tensors: floats, tensors whose elements are all equal, and what loops return. The
# cases are as in rank-values.py.

import rank_programs

NUMBERS = {
    "wrong": [
        # Big tensor gather.
        """
%v = tensor.splat %i1 : tensor<100xi32>
%t = comm.gather %v on @world root 0 : tensor<100xi32> -> tensor<200xi32>
WAIT t tensor<200xi32>
%el = tensor.extract %t_w[%c1] : tensor<200xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Big reduce.
        """
%own = arith.subi %i1, %r : i32
%v = tensor.splat %own : tensor<1000xi32>
%t = comm.reduce sum %v on @world root 0 : tensor<1000xi32>
WAIT t tensor<1000xi32>
%el = tensor.extract %t_w[%c0] : tensor<1000xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Big permute.
        """
%v = tensor.splat %i1 : tensor<65xi32>
%t = comm.permute %v on @world pairs [[0, 1]] : tensor<65xi32>
WAIT t tensor<65xi32>
%el = tensor.extract %t_w[%c3] : tensor<65xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Scalar tensor broadcast/reduce.
        """
%own = arith.subi %i1, %r : i32
%v = tensor.from_elements %own : tensor<i32>
%t = comm.reduce sum %v on @world root 0 : tensor<i32>
WAIT t tensor<i32>
%el = tensor.extract %t_w[] : tensor<i32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Float reduce.
        """
%own = arith.subi %i1, %r : i32
%fr = arith.sitofp %own : i32 to f32
%v = tensor.from_elements %fr : tensor<1xf32>
%t = comm.reduce sum %v on @world root 0 : tensor<1xf32>
WAIT t tensor<1xf32>
%el = tensor.extract %t_w[%c0] : tensor<1xf32>
%go = arith.cmpf ogt, %el, %f0 : f32
BARRIER-WHERE %go
""",
        # Float rank cond.
        """
%fr = arith.sitofp %r : i32 to f32
%go = arith.cmpf ogt, %fr, %f0 : f32
BARRIER-WHERE %go
""",
        # Float permute.
        """
%f1 = arith.constant 1.0 : f32
%v = tensor.splat %f1 : tensor<4xf32>
%t = comm.permute %v on @world pairs [[0, 1]] : tensor<4xf32>
WAIT t tensor<4xf32>
%el = tensor.extract %t_w[%c0] : tensor<4xf32>
%go = arith.cmpf une, %el, %f0 : f32
BARRIER-WHERE %go
""",
        # I1 tensor.
        """
%v = tensor.from_elements %first : tensor<1xi1>
%go = tensor.extract %v[%c0] : tensor<1xi1>
BARRIER-WHERE %go
""",
        # I64 recv.
        """
%r64 = arith.index_cast %rank : index to i64
%three = arith.constant 3 : i64
%w64 = arith.muli %r64, %three : i64
%v = tensor.from_elements %w64 : tensor<1xi64>
%t = comm.reduce max %v on @world root 1 : tensor<1xi64>
WAIT t tensor<1xi64>
%el = tensor.extract %t_w[%c0] : tensor<1xi64>
%z = arith.constant 3 : i64
%go = arith.cmpi eq, %el, %z : i64
BARRIER-WHERE %go
""",
        # Linalg map.
        """
%v = tensor.from_elements %r, %r : tensor<2xi32>
%e = tensor.empty() : tensor<2xi32>
%m2 = linalg.add ins(%v, %v : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi32>) -> tensor<2xi32>
BARRIER-IF:2 %m2 %c0
""",
        # Linalg reduce.
        """
%v = tensor.from_elements %r, %r : tensor<2xi32>
%e = tensor.from_elements %i0 : tensor<i32>
%s = linalg.reduce { arith.addi } ins(%v : tensor<2xi32>) outs(%e : tensor<i32>) dimensions = [0]
%el = tensor.extract %s[] : tensor<i32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Generic value.
        """
%v = tensor.from_elements %r : tensor<1xi32>
%e = tensor.empty() : tensor<1xi32>
%m2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%v : tensor<1xi32>) outs(%e : tensor<1xi32>) {
^bb0(%p: i32, %o: i32):
%q = arith.muli %p, %p : i32
linalg.yield %q : i32
} -> tensor<1xi32>
BARRIER-IF:1 %m2 %c0
""",
        # While by gathered.
        """
%v = tensor.from_elements %r : tensor<1xi32>
%t = comm.permute %v on @world pairs [[1, 0]] : tensor<1xi32>
WAIT t tensor<1xi32>
%el = tensor.extract %t_w[%c0] : tensor<1xi32>
%z = scf.while (%i = %el) : (i32) -> i32 {
%go = arith.cmpi sgt, %i, %i0 : i32
scf.condition(%go) %i : i32
} do {
^bb0(%i: i32):
%b = comm.barrier on @world
comm.wait %b : !comm.token
%j = arith.subi %i, %i1 : i32
scf.yield %j : i32
}
""",
        # Select on min.
        """
%v = tensor.from_elements %r, %i1 : tensor<2xi32>
%t = comm.reduce_scatter min %v on @world dim 0 : tensor<2xi32> -> tensor<1xi32>
WAIT t tensor<1xi32>
BARRIER-IF:1 %t_w %c0
""",
    ],
    "right": [
        # Big all_gather.
        """
%v = tensor.splat %r : tensor<100xi32>
%t = comm.all_gather %v on @world dim 0 : tensor<100xi32> -> tensor<200xi32>
WAIT t tensor<200xi32>
%el = tensor.extract %t_w[%c1] : tensor<200xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Big reduce of zeros.
        """
%v = tensor.splat %i0 : tensor<1000xi32>
%t = comm.reduce sum %v on @world root 0 : tensor<1000xi32>
WAIT t tensor<1000xi32>
%el = tensor.extract %t_w[%c0] : tensor<1000xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Big reduce, then broadcast.
        """
%v = tensor.splat %r : tensor<1000xi32>
%t = comm.reduce sum %v on @world root 0 : tensor<1000xi32>
WAIT t tensor<1000xi32>
%u = comm.broadcast %t_w on @world root 0 : tensor<1000xi32>
WAIT u tensor<1000xi32>
%el = tensor.extract %u_w[%c0] : tensor<1000xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Big permute all.
        """
%v = tensor.splat %i1 : tensor<65xi32>
%t = comm.permute %v on @world pairs [[0, 1], [1, 0]] : tensor<65xi32>
WAIT t tensor<65xi32>
%el = tensor.extract %t_w[%c3] : tensor<65xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Scalar all_reduce.
        """
%v = tensor.from_elements %r : tensor<i32>
%t = comm.all_reduce sum %v on @world : tensor<i32>
WAIT t tensor<i32>
%el = tensor.extract %t_w[] : tensor<i32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Float all_reduce.
        """
%fr = arith.sitofp %r : i32 to f32
%v = tensor.from_elements %fr : tensor<1xf32>
%t = comm.all_reduce sum %v on @world : tensor<1xf32>
WAIT t tensor<1xf32>
%el = tensor.extract %t_w[%c0] : tensor<1xf32>
%go = arith.cmpf ogt, %el, %f0 : f32
BARRIER-WHERE %go
""",
        # Float cond the same.
        """
%fr = arith.sitofp %r : i32 to f32
%m1 = arith.constant -1.0 : f32
%go = arith.cmpf ogt, %fr, %m1 : f32
BARRIER-WHERE %go
""",
        # Float cond of input.
        """
%el = tensor.extract %x[%c0] : tensor<4xf32>
%go = arith.cmpf ogt, %el, %f0 : f32
BARRIER-WHERE %go
""",
        # Float norm reduced.
        """
%t = comm.all_reduce sum %x on @world : tensor<4xf32>
WAIT t tensor<4xf32>
%el = tensor.extract %t_w[%c0] : tensor<4xf32>
%go = arith.cmpf ogt, %el, %f0 : f32
BARRIER-WHERE %go
""",
        # Linalg sub.
        """
%v = tensor.from_elements %r, %r : tensor<2xi32>
%e = tensor.empty() : tensor<2xi32>
%m2 = linalg.sub ins(%v, %v : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi32>) -> tensor<2xi32>
BARRIER-IF:2 %m2 %c0
""",
        # Linalg reduce equal.
        """
%v = arith.constant dense<[1, 2]> : tensor<2xi32>
%e = tensor.from_elements %i0 : tensor<i32>
%s = linalg.reduce { arith.addi } ins(%v : tensor<2xi32>) outs(%e : tensor<i32>) dimensions = [0]
%el = tensor.extract %s[] : tensor<i32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Generic value.
        """
%v = tensor.from_elements %r : tensor<1xi32>
%e = tensor.empty() : tensor<1xi32>
%m2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%v : tensor<1xi32>) outs(%e : tensor<1xi32>) {
^bb0(%p: i32, %o: i32):
%q = arith.subi %p, %p : i32
linalg.yield %q : i32
} -> tensor<1xi32>
BARRIER-IF:1 %m2 %c0
""",
        # Unknown op between.
        """
%v = tensor.from_elements %r : tensor<1xi32>
%m2 = "test.unknown"(%v) : (tensor<1xi32>) -> tensor<1xi32>
BARRIER-IF:1 %m2 %c0
""",
        # Select on min equal.
        """
%v = tensor.from_elements %i1, %i1 : tensor<2xi32>
%t = comm.reduce_scatter min %v on @world dim 0 : tensor<2xi32> -> tensor<1xi32>
WAIT t tensor<1xi32>
BARRIER-IF:1 %t_w %c0
""",
    ],
}

SIZES = {
    "wrong": [
        # Float to int size.
        """
%fr = arith.uitofp %r : i32 to f32
%f2 = arith.constant 2.0 : f32
%g = arith.addf %fr, %f2 : f32
%si = arith.fptosi %g : f32 to i32
%s = arith.index_cast %si : i32 to index
EMPTY e %s
SUM t %e
""",
        # Counts not exchanged.
        """
PICK a %c1 %c3
PICK b %c3 %c1
%ia = arith.index_cast %a : index to i32
%ib = arith.index_cast %b : index to i32
%v = tensor.from_elements %ia, %ib : tensor<2xi32>
%t = comm.all_to_all %v on @world : tensor<2xi32>
WAIT t tensor<2xi32>
%ja = tensor.extract %t_w[%c1] : tensor<2xi32>
%jb = tensor.extract %t_w[%c0] : tensor<2xi32>
%p = arith.index_cast %ja : i32 to index
%q = arith.index_cast %jb : i32 to index
EXCHANGE %a %b %p %q
""",
        # Index_switch splits.
        """
%s:2 = scf.index_switch %rank -> index, index
case 0 {
scf.yield %c1, %c3 : index, index
}
case 1 {
scf.yield %c2, %c2 : index, index
}
default {
scf.yield %c0, %c4 : index, index
}
EXCHANGE %s#0 %s#1 %s#0 %s#1
""",
        # Uneven shard.
        """
%s = arith.ceildivui %rank, %c2 : index
%q = arith.addi %s, %c1 : index
EMPTY e %q
SUM t %e
""",
        # Min shard.
        """
%o = arith.muli %rank, %c3 : index
%l = arith.subi %c4, %o : index
%s = arith.minui %l, %c3 : index
EMPTY e %s
%t = comm.broadcast %e on @world root 0 : tensor<?xf32>
WAIT t tensor<?xf32>
""",
        # 2-d size.
        """
%e = tensor.empty(%next) : tensor<4x?xf32>
%k2 = tensor.collapse_shape %e [[0, 1]] : tensor<4x?xf32> into tensor<?xf32>
SUM t %k2
""",
        # Concat size.
        """
EMPTY e %next
%g = tensor.concat dim(0) %e, %x : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
SUM t %g
""",
        # While size.
        """
%s = scf.while (%i = %rank) : (index) -> index {
%go = arith.cmpi ult, %i, %c3 : index
scf.condition(%go) %i : index
} do {
^bb0(%i: index):
%j = arith.addi %i, %c2 : index
scf.yield %j : index
}
EMPTY e %s
SUM t %e
""",
        # Root of rank.
        """
scf.if %first {
%t = comm.broadcast %x on @world root 0 : tensor<4xf32>
WAIT t tensor<4xf32>
} else {
%t = comm.broadcast %x on @world root 1 : tensor<4xf32>
WAIT t tensor<4xf32>
}
""",
    ],
    "right": [
        # Counts exchanged.
        """
PICK a %c1 %c2
PICK b %c3 %c2
%ia = arith.index_cast %a : index to i32
%ib = arith.index_cast %b : index to i32
%v = tensor.from_elements %ia, %ib : tensor<2xi32>
%t = comm.all_to_all %v on @world : tensor<2xi32>
WAIT t tensor<2xi32>
%ja = tensor.extract %t_w[%c0] : tensor<2xi32>
%jb = tensor.extract %t_w[%c1] : tensor<2xi32>
%p = arith.index_cast %ja : i32 to index
%q = arith.index_cast %jb : i32 to index
EXCHANGE %a %b %p %q
""",
        # Index_switch splits.
        """
%s:4 = scf.index_switch %rank -> index, index, index, index
case 0 {
scf.yield %c1, %c3, %c1, %c2 : index, index, index, index
}
case 1 {
scf.yield %c2, %c2, %c3, %c2 : index, index, index, index
}
default {
scf.yield %c0, %c4, %c0, %c0 : index, index, index, index
}
EXCHANGE %s#0 %s#1 %s#2 %s#3
""",
        # Even shard.
        """
%s = arith.ceildivui %next, %c2 : index
EMPTY e %s
SUM t %e
""",
        # Padded shard.
        """
%o = arith.muli %rank, %c3 : index
%l = arith.subi %c4, %o : index
%s = arith.minui %l, %c3 : index
%h = arith.subi %c3, %s : index
EMPTY e %s
%p = tensor.pad %e low[0] high[%h] {
^bb0(%i: index):
tensor.yield %f0 : f32
} : tensor<?xf32> to tensor<?xf32>
SUM t %p
""",
        # Concat equal.
        """
%s = arith.subi %c2, %rank : index
EMPTY e %next
EMPTY h %s
%g = tensor.concat dim(0) %e, %h : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
SUM t %g
""",
        # Root of rank.
        """
scf.if %first {
%t = comm.broadcast %x on @world root 1 : tensor<4xf32>
WAIT t tensor<4xf32>
} else {
%t = comm.broadcast %x on @world root 1 : tensor<4xf32>
WAIT t tensor<4xf32>
}
""",
    ],
}

rank_programs.check({"numbers": NUMBERS, "sizes": SIZES})
# CHECK: numbers: 14 of 14 wrong programs found, 0 false alarms on 14
# CHECK-NEXT: sizes: 9 of 9 wrong programs found, 0 false alarms on 6
