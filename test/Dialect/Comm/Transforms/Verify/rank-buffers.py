# RUN: %python %s | FileCheck %s
#
# Numbers in buffers that decide where ranks go, until something else may have
# written there; and what functions and compute regions return. The cases are as
# in rank-values.py.

import rank_programs

BUFFERS = {
    "wrong": [
        # Memref reduce.
        """
%own = arith.subi %i1, %r : i32
%a = memref.alloc() : memref<1xi32>
%g = memref.alloc() : memref<2xi32>
STORE %own
%h = memref.alloc() : memref<1xi32>
memref.store %i0, %h[%c0] : memref<1xi32>
%t = comm.reduce sum %a into %h on @world root 0 : memref<1xi32>, memref<1xi32>
comm.wait %t reads(%a : memref<1xi32>) writes(%h : memref<1xi32>) : !comm.token
BARRIER-ON %h
""",
        # Memref gather.
        """
%a = memref.alloc() : memref<1xi32>
%g = memref.alloc() : memref<2xi32>
STORE %i1
memref.store %i0, %g[%c0] : memref<2xi32>
memref.store %i0, %g[%c1] : memref<2xi32>
%t = comm.gather %a into %g on @world root 0 : memref<1xi32>, memref<2xi32>
comm.wait %t reads(%a : memref<1xi32>) writes(%g : memref<2xi32>) : !comm.token
%el = memref.load %g[%c1] : memref<2xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Memref permute.
        """
%a = memref.alloc() : memref<1xi32>
%g = memref.alloc() : memref<2xi32>
STORE %r
%h = memref.alloc() : memref<1xi32>
%t = comm.permute %a into %h on @world pairs [[0, 1], [1, 0]] : memref<1xi32>, memref<1xi32>
comm.wait %t reads(%a : memref<1xi32>) writes(%h : memref<1xi32>) : !comm.token
BARRIER-ON %h
""",
        # Memref rank stored.
        """
%a = memref.alloc() : memref<1xi32>
%g = memref.alloc() : memref<2xi32>
STORE %r
BARRIER-ON %a
""",
        # Subview.
        """
%a = memref.alloc() : memref<4xi32>
memref.store %r, %a[%c2] : memref<4xi32>
%s = memref.subview %a[2] [1] [1] : memref<4xi32> to memref<1xi32, strided<[1], offset: 2>>
memref.store %r, %s[%c0] : memref<1xi32, strided<[1], offset: 2>>
%el = memref.load %a[%c2] : memref<4xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Affine if on load.
        """
%a = memref.alloc() : memref<1xi32>
STORE %r
BARRIER-ON %a
""",
        # Iter args.
        """
%a = memref.alloc() : memref<1xi32>
%a2 = memref.alloc() : memref<1xi32>
STORE %r
memref.store %i1, %a2[%c0] : memref<1xi32>
%s:2 = scf.for %i = %c0 to %c1 step %c1 iter_args(%p = %a, %q = %a2) -> (memref<1xi32>, memref<1xi32>) {
scf.yield %p, %q : memref<1xi32>, memref<1xi32>
}
%el = memref.load %s#0[%c0] : memref<1xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Fill.
        """
%a = memref.alloc() : memref<1xi32>
linalg.fill ins(%r : i32) outs(%a : memref<1xi32>)
BARRIER-ON %a
""",
        # Copy.
        """
%a = memref.alloc() : memref<1xi32>
STORE %r
%a2 = memref.alloc() : memref<1xi32>
memref.copy %a, %a2 : memref<1xi32> to memref<1xi32>
BARRIER-ON %a2
""",
        # Condition of rank.
        """
%a = memref.alloc() : memref<1xi32>
scf.if %first {
STORE %i1
} else {
STORE %i0
}
BARRIER-ON %a
""",
        # Internal callee.
        """
%a = memref.alloc() : memref<1xi32>
STORE %r
func.call @store_back(%a) : (memref<1xi32>) -> ()
BARRIER-ON %a
""",
        # Rank function.
        """
%go = func.call @is_first(%rank) : (index) -> i1
BARRIER-WHERE %go
""",
        # In compute.
        """
%v = tensor.from_elements %r : tensor<1xi32>
%z = comm.compute "k"(%p = %v : tensor<1xi32>) -> tensor<1xi32> {
%q = arith.addi %p, %p : tensor<1xi32>
comm.yield %q : tensor<1xi32>
}
BARRIER-IF:1 %z %c0
""",
        # Transposed view.
        """
%a = memref.alloc() : memref<2x2xi32>
%t2 = memref.transpose %a (i, j) -> (j, i) : memref<2x2xi32> to memref<2x2xi32, strided<[1, 2]>>
memref.store %r, %a[%c0, %c1] : memref<2x2xi32>
memref.store %r, %t2[%c1, %c0] : memref<2x2xi32, strided<[1, 2]>>
%el = memref.load %a[%c0, %c1] : memref<2x2xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Scatter into.
        """
%v2 = memref.alloc() : memref<2xi32>
memref.store %i1, %v2[%c0] : memref<2xi32>
memref.store %i0, %v2[%c1] : memref<2xi32>
%a = memref.alloc() : memref<1xi32>
%t = comm.scatter %v2 into %a on @world root 0 : memref<2xi32>, memref<1xi32>
comm.wait %t reads(%v2 : memref<2xi32>) writes(%a : memref<1xi32>) : !comm.token
BARRIER-ON %a
""",
        # Loop sum of rank.
        """
%a = memref.alloc() : memref<1xi32>
STORE %i0
scf.for %i = %c0 to %c3 step %c1 {
%q = memref.load %a[%c0] : memref<1xi32>
%q1 = arith.addi %q, %r : i32
STORE %q1
}
BARRIER-ON %a
""",
    ],
    "right": [
        # Memref allreduce.
        """
%a = memref.alloc() : memref<1xi32>
%g = memref.alloc() : memref<2xi32>
STORE %r
%t = comm.all_reduce sum %a into %a on @world : memref<1xi32>, memref<1xi32>
comm.wait %t writes(%a : memref<1xi32>) : !comm.token
BARRIER-ON %a
""",
        # Memref all_gather.
        """
%a = memref.alloc() : memref<1xi32>
%g = memref.alloc() : memref<2xi32>
STORE %r
%t = comm.all_gather %a into %g on @world dim 0 : memref<1xi32>, memref<2xi32>
comm.wait %t reads(%a : memref<1xi32>) writes(%g : memref<2xi32>) : !comm.token
%el = memref.load %g[%c1] : memref<2xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Memref overwritten.
        """
%a = memref.alloc() : memref<1xi32>
%g = memref.alloc() : memref<2xi32>
STORE %r
STORE %i1
BARRIER-ON %a
""",
        # Memref written in branch.
        """
%a = memref.alloc() : memref<1xi32>
%g = memref.alloc() : memref<2xi32>
STORE %i1
scf.if %first {
STORE %i1
}
BARRIER-ON %a
""",
        # Memref written by a callee.
        """
%a = memref.alloc() : memref<1xi32>
%g = memref.alloc() : memref<2xi32>
STORE %r
%ar = memref.cast %a : memref<1xi32> to memref<?xi32>
linalg.fill ins(%i1 : i32) outs(%ar : memref<?xi32>)
BARRIER-ON %a
""",
        # Memref copied over.
        """
%a = memref.alloc() : memref<1xi32>
%g = memref.alloc() : memref<2xi32>
STORE %r
%a2 = memref.alloc() : memref<1xi32>
memref.store %i1, %a2[%c0] : memref<1xi32>
memref.copy %a2, %a : memref<1xi32> to memref<1xi32>
BARRIER-ON %a
""",
        # Loop of unknown bound.
        """
%a = memref.alloc() : memref<1xi32>
STORE %r
scf.for %i = %c0 to %n step %c1 {
STORE %i1
}
STORE %i1
BARRIER-ON %a
""",
        # Unknown index.
        """
%a = memref.alloc() : memref<2xi32>
memref.store %r, %a[%c0] : memref<2xi32>
memref.store %i1, %a[%n] : memref<2xi32>
%el = memref.load %a[%c0] : memref<2xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Subview.
        """
%a = memref.alloc() : memref<4xi32>
memref.store %r, %a[%c2] : memref<4xi32>
%s = memref.subview %a[2] [1] [1] : memref<4xi32> to memref<1xi32, strided<[1], offset: 2>>
memref.store %i1, %s[%c0] : memref<1xi32, strided<[1], offset: 2>>
%el = memref.load %a[%c2] : memref<4xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Unknown subview filled.
        """
%a = memref.alloc() : memref<4xi32>
memref.store %r, %a[%c2] : memref<4xi32>
%s = memref.subview %a[%n] [1] [1] : memref<4xi32> to memref<1xi32, strided<[1], offset: ?>>
linalg.fill ins(%i1 : i32) outs(%s : memref<1xi32, strided<[1], offset: ?>>)
%el = memref.load %a[%c2] : memref<4xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # External callee.
        """
%a = memref.alloc() : memref<1xi32>
STORE %r
func.call @unknown(%a) : (memref<1xi32>) -> ()
BARRIER-ON %a
""",
        # Internal callee.
        """
%a = memref.alloc() : memref<1xi32>
STORE %r
func.call @store_one(%a) : (memref<1xi32>) -> ()
BARRIER-ON %a
""",
        # Condition unknown.
        """
%a = memref.alloc() : memref<1xi32>
STORE %i1
scf.if %c {
STORE %i1
}
BARRIER-ON %a
""",
        # Condition of rank, both.
        """
%a = memref.alloc() : memref<1xi32>
scf.if %first {
STORE %i1
} else {
STORE %i1
}
BARRIER-ON %a
""",
        # Affine store.
        """
%a = memref.alloc() : memref<1xi32>
STORE %r
affine.store %i1, %a[0] : memref<1xi32>
BARRIER-ON %a
""",
        # While.
        """
%a = memref.alloc() : memref<1xi32>
STORE %r
%w = scf.while (%i = %n) : (index) -> index {
%go2 = arith.cmpi ugt, %i, %c0 : index
scf.condition(%go2) %i : index
} do {
^bb0(%i: index):
%j = arith.subi %i, %c1 : index
STORE %i1
scf.yield %j : index
}
STORE %i1
BARRIER-ON %a
""",
        # View of other type.
        """
%z = memref.alloc() : memref<4xi8>
%a = memref.view %z[%c0][] : memref<4xi8> to memref<1xi32>
STORE %r
%h8 = memref.view %z[%c0][] : memref<4xi8> to memref<2xi16>
%o16 = arith.constant 1 : i16
memref.store %o16, %h8[%c0] : memref<2xi16>
BARRIER-ON %a
""",
        # Float view.
        """
%z = memref.alloc() : memref<4xi8>
%a = memref.view %z[%c0][] : memref<4xi8> to memref<1xi32>
STORE %r
%h8 = memref.view %z[%c0][] : memref<4xi8> to memref<1xf32>
memref.store %f0, %h8[%c0] : memref<1xf32>
BARRIER-ON %a
""",
        # Given away.
        """
%a = memref.alloc() : memref<1xi32>
STORE %r
%p = memref.extract_aligned_pointer_as_index %a : memref<1xi32> -> index
func.call @unknown_pointer(%p) : (index) -> ()
BARRIER-ON %a
""",
        # Select of buffers.
        """
%a = memref.alloc() : memref<1xi32>
%a2 = memref.alloc() : memref<1xi32>
%s = arith.select %first, %a, %a2 : memref<1xi32>
STORE %r
memref.store %r, %a2[%c0] : memref<1xi32>
memref.store %i1, %s[%c0] : memref<1xi32>
BARRIER-ON %s
""",
        # Broadcast.
        """
%a = memref.alloc() : memref<1xi32>
STORE %r
%t = comm.broadcast %a into %a on @world root 0 : memref<1xi32>, memref<1xi32>
comm.wait %t writes(%a : memref<1xi32>) : !comm.token
BARRIER-ON %a
""",
        # Long loop adds.
        """
%a = memref.alloc() : memref<1xi32>
STORE %i0
%c100 = arith.constant 100 : index
scf.for %i = %c0 to %c100 step %c1 {
%q = memref.load %a[%c0] : memref<1xi32>
%q1 = arith.addi %q, %i1 : i32
STORE %q1
}
%el = memref.load %a[%c0] : memref<1xi32>
%i100 = arith.constant 100 : i32
%go = arith.cmpi eq, %el, %i100 : i32
BARRIER-WHERE %go
""",
        # Unknown dialect.
        """
%a = memref.alloc() : memref<1xi32>
STORE %r
"test.write"(%a) : (memref<1xi32>) -> ()
BARRIER-ON %a
""",
        # Iter args.
        """
%a = memref.alloc() : memref<1xi32>
%a2 = memref.alloc() : memref<1xi32>
STORE %r
memref.store %i1, %a2[%c0] : memref<1xi32>
%s:2 = scf.for %i = %c0 to %c1 step %c1 iter_args(%p = %a, %q = %a2) -> (memref<1xi32>, memref<1xi32>) {
scf.yield %q, %p : memref<1xi32>, memref<1xi32>
}
%el = memref.load %s#0[%c0] : memref<1xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Atomic.
        """
%a = memref.alloc() : memref<1xi32>
STORE %i1
%q = memref.atomic_rmw addi %i1, %a[%c0] : (i32, memref<1xi32>) -> i32
BARRIER-ON %a
""",
        # Transposed view.
        """
%a = memref.alloc() : memref<2x2xi32>
%t2 = memref.transpose %a (i, j) -> (j, i) : memref<2x2xi32> to memref<2x2xi32, strided<[1, 2]>>
memref.store %r, %a[%c0, %c1] : memref<2x2xi32>
memref.store %i1, %t2[%c1, %c0] : memref<2x2xi32, strided<[1, 2]>>
%el = memref.load %a[%c0, %c1] : memref<2x2xi32>
%go = arith.cmpi ne, %el, %i0 : i32
BARRIER-WHERE %go
""",
        # Rank function.
        """
%go = func.call @is_any(%rank) : (index) -> i1
BARRIER-WHERE %go
""",
        # In compute.
        """
%v = tensor.from_elements %r : tensor<1xi32>
%z = comm.compute "k"(%p = %v : tensor<1xi32>) -> tensor<1xi32> {
%q = arith.subi %p, %p : tensor<1xi32>
comm.yield %q : tensor<1xi32>
}
BARRIER-IF:1 %z %c0
""",
    ],
}

rank_programs.check({"buffers": BUFFERS})
# CHECK: buffers: 16 of 16 wrong programs found, 0 false alarms on 28
