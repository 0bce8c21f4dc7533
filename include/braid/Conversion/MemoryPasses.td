//===- MemoryPasses.td - Where buffers live ----------------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_CONVERSION_MEMORYPASSES_TD
#define BRAID_CONVERSION_MEMORYPASSES_TD

include "mlir/Pass/PassBase.td"

def DropUnownedDeallocationsPass
    : Pass<"braid-drop-unowned-deallocations", "::mlir::func::FuncOp"> {
  let summary = "Erase deallocations of buffers that a function never owns";
  let description = [{
    Ownership-based deallocation passes a condition along with each buffer that a
    loop or a region passes on. The pass removes a buffer from
    `bufferization.dealloc` if its condition is false in all executions: views of
    an arena and arguments of the function. A loop may exchange such buffers,
    which neither canonicalization nor upstream's simplification sees.

    Before:

    ```mlir
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b, %p = %false, %q = %false)
        -> (memref<4xf32>, memref<4xf32>, i1, i1) {
      %o:2 = bufferization.dealloc (%x, %y : memref<4xf32>, memref<4xf32>) if (%p, %q)
          retain (%y, %x : memref<4xf32>, memref<4xf32>)
      scf.yield %y, %x, %o#0, %o#1 : memref<4xf32>, memref<4xf32>, i1, i1
    }
    ```

    After:

    ```mlir
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b, %p = %false, %q = %false)
        -> (memref<4xf32>, memref<4xf32>, i1, i1) {
      scf.yield %y, %x, %false, %false : memref<4xf32>, memref<4xf32>, i1, i1
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def SplitDeallocationsPass
    : Pass<"braid-split-deallocations", "::mlir::func::FuncOp"> {
  let summary = "Free buffers that no retained value aliases";
  let description = [{
    Ownership-based deallocation ends a block with one `bufferization.dealloc` of
    all its buffers. This op frees each buffer that no retained value aliases.
    Upstream's simplification compares all pairs of buffers, which is quadratic.
    This pass first finds, in linear time, the buffers that no retained value can
    alias, and frees each of them with a `memref.dealloc`.

    Before:

    ```mlir
    %a = memref.alloc() : memref<4xf32>
    %b = memref.alloc() : memref<4xf32>
    %c = arith.select %i, %b, %x : memref<4xf32>
    bufferization.dealloc (%a, %b : memref<4xf32>, memref<4xf32>) if (%true, %true)
        retain (%c : memref<4xf32>)
    ```

    After:

    ```mlir
    %a = memref.alloc() : memref<4xf32>
    %b = memref.alloc() : memref<4xf32>
    %c = arith.select %i, %b, %x : memref<4xf32>
    memref.dealloc %a : memref<4xf32>
    bufferization.dealloc (%b : memref<4xf32>) if (%true) retain (%c : memref<4xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def DeallocateBuffersPass
    : Pass<"braid-deallocate-buffers", "::mlir::ModuleOp"> {
  let summary = "Free the buffers that a program allocates";
  let description = [{
    Runs upstream's ownership-based deallocation and its clean-up passes
    (`braid-drop-unowned-deallocations`, `braid-split-deallocations`,
    simplification, lowering, `braid-free-early`). On the target cuda the host
    compares the addresses of buffers that may be the same one, because upstream's
    lowering would write lists of addresses to device memory. The runtime owns the
    arenas of `braid-plan-memory`: the pass frees none of them, and does nothing
    if the program allocates only arenas.

    Before:

    ```mlir
    func.func private @f(%n: index, %y: memref<?xf32>) {
      %a = memref.alloc(%n) : memref<?xf32>
      linalg.exp ins(%y : memref<?xf32>) outs(%a : memref<?xf32>)
      linalg.log ins(%a : memref<?xf32>) outs(%y : memref<?xf32>)
      return
    }
    ```

    After:

    ```mlir
    func.func private @f(%n: index, %y: memref<?xf32>) {
      %a = memref.alloc(%n) : memref<?xf32>
      linalg.exp ins(%y : memref<?xf32>) outs(%a : memref<?xf32>)
      linalg.log ins(%a : memref<?xf32>) outs(%y : memref<?xf32>)
      memref.dealloc %a : memref<?xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def CheckAllocationSizesPass
    : Pass<"braid-check-allocation-sizes", "::mlir::func::FuncOp"> {
  let summary = "Assert that buffers of dynamic size have a size";
  let description = [{
    The bytes of a buffer are a product of 64 bits. A product that wraps, or a
    negative size, would allocate less memory than the program uses. The pass puts
    an assertion before each `memref.alloc` and `memref.alloca` of dynamic size:
    the bytes are at least 0 and less than 2^63. A buffer that has all dynamic
    sizes of another one, and no larger elements, needs no assertion.

    Before:

    ```mlir
    %a = memref.alloc(%n) : memref<?x2xf32>
    ```

    After:

    ```mlir
    %most = arith.constant 1152921504606846975 : i64
    %size = arith.index_cast %n : index to i64
    %fits = arith.cmpi ule, %size, %most : i64
    cf.assert %fits, "memref<?x2xf32>: the sizes are negative or their product is too large"
    %a = memref.alloc(%n) : memref<?x2xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect"];
}

def ExpandDynamicShapesPass
    : Pass<"braid-expand-dynamic-shapes", "::mlir::func::FuncOp"> {
  let summary = "Lower views that split a dimension into several dynamic sizes";
  let description = [{
    A `memref.expand_shape` that splits one dimension into several dimensions of
    dynamic size becomes a `memref.reinterpret_cast`. Upstream's
    expand-strided-metadata supports at most one dynamic size.

    Before:

    ```mlir
    %v = memref.expand_shape %x [[0, 1]] output_shape [%m, %n]
        : memref<?xf32> into memref<?x?xf32>
    ```

    After:

    ```mlir
    %v = memref.reinterpret_cast %x to offset: [0], sizes: [%m, %n], strides: [%n, 1]
        : memref<?xf32> to memref<?x?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def FreeEarlyPass : Pass<"braid-free-early", "::mlir::func::FuncOp"> {
  let summary = "Move deallocations to after the last use";
  let description = [{
    Moves each `memref.dealloc` to just after the last op that uses the buffer or
    a view of the buffer, if the buffer is allocated in the same block. A wait
    uses the buffers that it names, so a buffer in flight is freed after its wait.

    Before:

    ```mlir
    comm.wait %t reads(%x : memref<4xf32>) : !comm.token
    "compute"(%y) : (memref<4xf32>) -> ()
    memref.dealloc %x : memref<4xf32>
    ```

    After:

    ```mlir
    comm.wait %t reads(%x : memref<4xf32>) : !comm.token
    memref.dealloc %x : memref<4xf32>
    "compute"(%y) : (memref<4xf32>) -> ()
    ```
  }];
}

def DropDeallocationsPass
    : Pass<"braid-drop-deallocations", "::mlir::func::FuncOp"> {
  let summary = "Erase the deallocations of a program that is written on buffers";
  let description = [{
    Erases every `memref.dealloc`. The pass runs after the last check of buffers
    in flight and before ownership-based deallocation, which refuses programs
    with deallocations and inserts new ones.
  }];
}

def PlaceControlFlowBuffersPass
    : Pass<"braid-place-control-flow-buffers", "::mlir::ModuleOp"> {
  let summary = "Keep what control flow of a GPU passes on in fixed buffers";
  let description = [{
    A GPU can repeat the kernels of a loop, and choose between those of several
    cases, by itself if their arguments are the same each time. This pass looks
    for `scf.while`, `scf.if` and `scf.index_switch` that go by a number loaded
    from memory, which pass on buffers of static sizes alone, and whose regions
    have linalg ops, copies, attention, convolutions, sorts, and loops and choices
    of these.

    A loop then carries nothing: an iteration writes what it passes on into the
    buffers that it has read, where no op behind the write needs the old contents;
    otherwise it copies to them at its end. The cases of a choice write their
    results into buffers that they share, or copy to them. What would copy more
    than 16 MiB, for which a GPU needs the time that it gains, stays as it is.

    Before:

    ```mlir
    %r = scf.while (%x = %a) : (memref<4xf32>) -> memref<4xf32> {
      ...
      %c = memref.load %more[] : memref<i1>
      scf.condition(%c) %x : memref<4xf32>
    } do {
    ^bb0(%x: memref<4xf32>):
      %y = memref.alloc() : memref<4xf32>
      linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
      scf.yield %y : memref<4xf32>
    }
    ```

    After (`%a` is an allocation that only the loop needs):

    ```mlir
    scf.while : () -> () {
      ...
      %c = memref.load %more[] : memref<i1>
      scf.condition(%c)
    } do {
      linalg.exp ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
      scf.yield
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def RotateLoopBuffersPass
    : Pass<"braid-rotate-loop-buffers", "::mlir::ModuleOp"> {
  let summary = "Allocate loop-carried buffers before the loop, in rotation";
  let description = [{
    An iteration of `scf.for` or `scf.while` must not write the buffer that the
    previous iteration passes on. If an iteration allocates a buffer that a later
    iteration uses, the pass replaces the buffer by two or more buffers that are
    allocated before the loop and used in rotation. All other buffers, and those
    of dynamic sizes, stay in the loop.

    If a loop may keep a buffer for an unknown number of iterations, the loop
    passes on a copy. A copy of a buffer in flight is not possible, so such a loop
    must not carry operations in flight; the pass emits an error.

    Before:

    ```mlir
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (memref<4xf32>) {
      %y = memref.alloc() : memref<4xf32>
      linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
      scf.yield %y : memref<4xf32>
    }
    ```

    After:

    ```mlir
    %b0 = memref.alloc() : memref<4xf32>
    %b1 = memref.alloc() : memref<4xf32>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b0, %z = %b1)
        -> (memref<4xf32>, memref<4xf32>, memref<4xf32>) {
      linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
      scf.yield %y, %z, %y : memref<4xf32>, memref<4xf32>, memref<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def PlanMemoryPass : Pass<"braid-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place all buffers of an entry point in one arena";
  let description = [{
    A `memref.alloc` becomes a view of one arena, which the runtime provides.
    Buffers that are live at the same time do not overlap. A buffer is live from
    its first use to its last one, through views, regions and calls. A wait uses
    the buffers that it names, so a buffer in flight keeps its place until its
    wait. A buffer that is allocated before a loop and used in the loop is live
    during the whole loop. Offsets are multiples of 256 bytes and depend on the
    program alone, so all ranks have equal offsets. A called function that
    allocates gets its arena, which is a buffer of its caller, as an additional
    argument. The pass first applies `braid-rotate-loop-buffers`.

    The remark `arena` gives the size of the arena and the peak of live bytes,
    which is a lower bound for every plan.

    An allocation stays as it is, for `braid-deallocate-buffers`, if

    - its size is not constant,
    - a loop of blocks carries its buffer,
    - a loop that carries operations in flight keeps its buffer for an unknown
      number of iterations,
    - its function calls itself,
    - its function is an entry point that returns the buffer, which the caller of
      the program frees, or
    - its function returns the buffer, and an allocation of the program stays for
      one of the other reasons.

    The remark `memory-at-run-time` gives the reason of each such allocation. All
    other buffers of the program have their places in the arena.

    Errors: buffers that are not contiguous, and element types that the runtime
    does not support.

    Before:

    ```mlir
    %a = memref.alloc() : memref<64xf32>
    linalg.exp ins(%x : memref<64xf32>) outs(%a : memref<64xf32>)
    ```

    After:

    ```mlir
    %arena = memref.alloc() {alignment = 256 : i64, braid.arena} : memref<256xi8>
    %a = memref.view %arena[%c0][] : memref<256xi8> to memref<64xf32>
    linalg.exp ins(%x : memref<64xf32>) outs(%a : memref<64xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

#endif // BRAID_CONVERSION_MEMORYPASSES_TD
