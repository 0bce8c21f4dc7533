//===- Passes.td - Braid's conversions ---------------------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_CONVERSION_PASSES_TD
#define BRAID_CONVERSION_PASSES_TD

include "braid/Conversion/DevicePasses.td"
include "braid/Conversion/KernelPasses.td"
include "braid/Conversion/LibraryPasses.td"
include "braid/Conversion/LinalgPasses.td"
include "braid/Conversion/MemoryPasses.td"
include "braid/Conversion/ShardPasses.td"
include "mlir/Pass/PassBase.td"

def SeparateEntriesPass : Pass<"braid-separate-entries", "::mlir::ModuleOp"> {
  let summary = "Give public functions that the program calls a private body";
  let description = [{
    Every public function is an entry point, which gets a signature of its own. If
    the program calls a public function, too, or the function calls itself, the
    pass moves the body to a private function, which the entry point and all
    callers call.

    Before:

    ```mlir
    func.func @main(%a: memref<4xf32>) -> memref<4xf32> {
      %r = call @main(%a) : (memref<4xf32>) -> memref<4xf32>
      return %r : memref<4xf32>
    }
    ```

    After:

    ```mlir
    func.func @main(%a: memref<4xf32>) -> memref<4xf32> {
      %r = call @main_body(%a) : (memref<4xf32>) -> memref<4xf32>
      return %r : memref<4xf32>
    }
    func.func private @main_body(%a: memref<4xf32>) -> memref<4xf32> {
      %r = call @main_body(%a) : (memref<4xf32>) -> memref<4xf32>
      return %r : memref<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def PrepareEntriesPass : Pass<"braid-prepare-entries", "::mlir::ModuleOp"> {
  let summary = "Give public functions the signature of entry points";
  let description = [{
    Every public function is an entry point. Results of static shape become
    arguments that the function writes; the argument replaces an allocation whose
    only use is the return. The attribute `braid.entry` describes the arguments;
    `braid-emit-entry-table` builds the table of entry points from this attribute.
    No function may call an entry point; `braid-separate-entries` sees to that.

    Errors: an entry point that takes or returns a token or a type that the
    runtime does not support, an entry point that the program calls, a function without a body, arithmetic on 8-bit
    floats, and a module without an entry point.

    Before:

    ```mlir
    func.func @main(%a: memref<4xf32>) -> memref<4xf32> {
      %r = memref.alloc() : memref<4xf32>
      ...
      return %r : memref<4xf32>
    }
    ```

    After:

    ```mlir
    func.func @main(%a: memref<4xf32>, %r: memref<4xf32>)
        attributes {braid.entry = [...]} {
      ...
      return
    }
    ```
  }];
  let options = [
    TargetOption<"which runs the kernels">
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def ConvertAssertToBraidRTPass
    : Pass<"convert-assert-to-braid-rt", "::mlir::ModuleOp"> {
  let summary = "Convert assertions to calls of the runtime";
  let description = [{
    An assertion that fails ends the program of its rank with an error that gives
    the position and the message. The process goes on, and the other ranks learn
    of the failure.

    ```mlir
    cf.assert %c, "no rows"
    ```

    becomes a call of `braid_rt_fail` on the condition that `%c` is false.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def EmitEntryTablePass : Pass<"braid-emit-entry-table", "::mlir::ModuleOp"> {
  let summary = "Emit the table of entry points of a program";
  let description = [{
    Works on the LLVM dialect. For each function with `braid.entry` the pass emits
    a function that takes an array of pointers (see `braid-rt/Program.h`). The
    pass also emits the constant `braid_program`, the only symbol that the program
    exports.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def HashSchedulePass : Pass<"braid-hash-schedule", "::mlir::ModuleOp"> {
  let summary = "Record a hash and the numerics of the scheduled program";
  let description = [{
    Records a hash of the text, without locations, as `braid_rt.schedule`: ranks with
    equal hashes start the same operations in the same order. A module marked `comm.mpmd`
    has ranks with different programs, and gets no hash. Records the ops with
    `comm.reordered_sums` as `braid_rt.numerics`, too. The compiled program contains
    both. The pass runs after scheduling.

    ```mlir
    module attributes {braid_rt.numerics = [], braid_rt.schedule = "5f1c9c2b1d1f8e3a"} { ... }
    ```
  }];
}

#endif // BRAID_CONVERSION_PASSES_TD
