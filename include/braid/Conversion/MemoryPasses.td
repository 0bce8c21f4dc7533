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

def SplitDeallocationsPass
    : Pass<"braid-split-deallocations", "::mlir::func::FuncOp"> {
  let summary = "Free the buffers that nothing else can be a view of";
  let description = [{
    Ownership-based deallocation ends a block with one `bufferization.dealloc`
    of all its buffers, which frees those that no retained buffer is a view of,
    each once. Upstream's simplification compares all pairs of them. This pass
    first takes out the allocations of the block that are certainly freed, in a
    time linear in their number.

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
    Runs upstream's ownership-based deallocation with the passes that clean up
    after it (`braid-split-deallocations`, simplification, lowering,
    `braid-free-early`), if the program allocates anything that is no arena of
    `braid-plan-memory`.

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

def ExpandDynamicShapesPass
    : Pass<"braid-expand-dynamic-shapes", "::mlir::func::FuncOp"> {
  let summary = "Compute the strides of views of several unknown sizes";
  let description = [{
    A `memref.expand_shape` that splits one dimension into several of unknown
    size becomes a `memref.reinterpret_cast`. Upstream's expand-strided-metadata
    expands those with at most one such size.

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
    Moves each `memref.dealloc` of a buffer that was allocated in its block to
    just after the last op that uses the buffer or a view of it. A wait uses the
    buffers that it names, so a buffer in flight is freed after it has landed.

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
  let summary = "Forget where a program that comes as buffers frees them";
  let description = [{
    Erases every `memref.dealloc`. The pass runs after the check of buffers in
    flight and before ownership-based deallocation, which refuses a program that
    frees buffers itself and then frees every buffer anew.
  }];
}

def RotateLoopBuffersPass
    : Pass<"braid-rotate-loop-buffers", "::mlir::ModuleOp"> {
  let summary = "Allocate what loops carry before them, and take turns";
  let description = [{
    An iteration of `scf.for` or `scf.while` may not compute into the buffer
    that the one before has left to it. A buffer that is allocated in an
    iteration and used in later ones becomes two or more that are allocated
    before the loop and take turns; the others stay where they are.

    Where a loop may hand on a buffer for an unknown number of iterations, it
    hands on a copy. A loop that carries operations in flight cannot do that,
    which is an error of this pass.

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
  let summary = "Give all buffers of an entry point a place in one arena";
  let description = [{
    Every `memref.alloc` becomes a view of one arena, which the entry point gets
    from the runtime. Buffers that live at one time do not overlap; a buffer
    lives from its first use to its last one, through views, regions and calls.
    A wait uses the buffers that it names, so what is in flight keeps its place.
    What is used in a loop, and allocated before it, lives as long as the loop.
    Offsets are multiples of 256 bytes and depend on the text alone, so that they
    are equal on all ranks. A function that allocates and is called gets its
    arena, a buffer of its caller's, as a further argument. Buffers that loops
    carry are first allocated before them, as `braid-rotate-loop-buffers` does.

    The remark `arena` gives the arena's size and the most bytes that live at one
    time, below which no plan can be.

    A program has no arena, and its buffers stay as they are for
    `braid-deallocate-buffers`, if one of them has a size that only the program
    knows, if a loop of blocks carries one, if a loop that carries operations in
    flight hands one on for an unknown number of iterations, or if a function
    that allocates calls itself. The remark `memory-at-run-time` gives the reason.

    Errors: buffers that are not contiguous, or whose elements the runtime does
    not know.

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
