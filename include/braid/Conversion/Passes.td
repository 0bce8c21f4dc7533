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
include "braid/Conversion/LinalgPasses.td"
include "braid/Conversion/MemoryPasses.td"
include "mlir/Pass/PassBase.td"

def PrepareEntriesPass : Pass<"braid-prepare-entries", "::mlir::ModuleOp"> {
  let summary = "Give public functions the signature of entry points";
  let description = [{
    Every public function is an entry point. Its results of static shape become
    arguments that it writes; an allocation that is only returned is replaced by
    the argument. What the arguments are is written to the attribute
    `braid.entry`, from which `braid-emit-entry-table` makes the table. A public
    function that the program also calls gets a private body of its own.

    Errors: an entry point that takes or returns a token or a type that the
    runtime does not know, a function without a body, arithmetic on 8-bit
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
    Option<"target", "target", "std::string", /*default=*/"\"host\"",
           "Where kernels run: host or cuda">
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def ConvertAssertToBraidRTPass
    : Pass<"convert-assert-to-braid-rt", "::mlir::ModuleOp"> {
  let summary = "Convert assertions to failures of their rank";
  let description = [{
    An assertion that does not hold ends the program on its rank with an error
    that says the position and the message, and not the process: the other
    ranks hear of it.

    ```mlir
    cf.assert %c, "no rows"
    ```

    becomes a call of `braid_rt_fail` where `%c` is false.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def EmitEntryTablePass : Pass<"braid-emit-entry-table", "::mlir::ModuleOp"> {
  let summary = "Emit the table of entry points of a program";
  let description = [{
    Works on the LLVM dialect. For each function with `braid.entry` it emits a
    function that takes an array of pointers, as `braid-rt/Program.h` describes
    it, and the constant `braid_program`, the one symbol that the program
    exports.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def HashSchedulePass : Pass<"braid-hash-schedule", "::mlir::ModuleOp"> {
  let summary = "Note a hash of the program's text";
  let description = [{
    Notes a hash of the module's text, without locations, for the program's
    table (`schedule`). It runs after scheduling: ranks that compare their
    hashes start the same operations in the same order. A module marked
    `comm.mpmd` gets none, for its ranks run different texts.

    ```mlir
    module attributes {braid_rt.schedule = "5f1c9c2b1d1f8e3a"} { ... }
    ```
  }];
}

#endif // BRAID_CONVERSION_PASSES_TD
