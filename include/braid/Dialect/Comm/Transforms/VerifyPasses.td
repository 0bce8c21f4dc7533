//===- VerifyPasses.td - Passes that verify programs -------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_TRANSFORMS_VERIFYPASSES_TD
#define BRAID_DIALECT_COMM_TRANSFORMS_VERIFYPASSES_TD

include "braid/Dialect/Comm/Transforms/CostOptions.td"
include "mlir/Pass/PassBase.td"

def CommVerifyPass : Pass<"comm-verify", "::mlir::ModuleOp"> {
  let summary = "Check what ranks do together";
  let description = [{
    Follows every entry of the module, a public function or one without callers,
    on all ranks, through calls, loops and branches. The pass emits an error

    * at a start whose token has no wait on a path, and at a second wait;
    * at each access to a buffer in flight;
    * where operations that meet differ in kind, root, reduction, dimension, type
      or size, where a member starts fewer operations than another one, and where
      a send has no receive;
    * where a rank that is in no list of a group runs its collectives, and where a
      peer does not exist;
    * where ranks wait for each other.

    With `only-buffers` the pass looks for accesses to buffers in flight alone, one
    block at a time and without paths: every access that may overlap is an error.

    Errors about order name two ranks and what each of them starts. The pass does
    not change the program, and judges the program that it is given: passes that
    move waits can repair a deadlock. docs/guides/verify.md says what is proven and when
    to run the pass.

    ```mlir
    comm.group @world all
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      // error: 'comm.all_reduce' op has a token without a wait, expected one wait
      // of each token on every path
      %t = comm.all_reduce sum %x on @world : tensor<4xf32>
      return %x : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", /*default=*/"0",
           "The number of ranks; 0 is the number that the program implies">,
    lanes,
    Option<"strict", "strict", "bool", /*default=*/"false",
           "What is not proven is an error, too">,
    Option<"onlyWarns", "only-warns", "bool", /*default=*/"false",
           "Findings are warnings, and the pass succeeds">,
    Option<"onlyBuffers", "only-buffers", "bool", /*default=*/"false",
           "Check only accesses to buffers in flight, block by block">,
    Option<"maxPaths", "max-paths", "unsigned", /*default=*/"64",
           "The most paths that each entry is followed on">
  ];
}

def CommInterpretPass : Pass<"comm-interpret", "::mlir::ModuleOp"> {
  let summary = "Run all ranks of a program and check what they do";
  let description = [{
    Runs a function on all ranks, in one process, with generated arguments and in
    random interleavings, and checks every element that an op touches. The pass
    emits an error at the op at which a run fails: a token that is awaited twice
    or never, an access to an element in flight, operations that meet and differ,
    ranks that wait for each other, or results that differ between interleavings.
    What `comm-verify` finds on all paths happens here on the paths of the given
    arguments, and nothing else does. Programs are small: every op is folded.

    ```
    braid-opt prog.mlir --comm-interpret="ranks=3 arguments=0,1,4 rounds=20"
    ```
  }];
  let options = [
    Option<"entry", "entry", "std::string", /*default=*/"\"main\"",
           "The function to run">,
    Option<"ranks", "ranks", "int64_t", /*default=*/"0",
           "The number of ranks; 0 is the number that the program implies">,
    ListOption<"arguments", "arguments", "int64_t",
               "The values of integer and index arguments: a run for each; 1 without it">,
    Option<"rounds", "rounds", "unsigned", /*default=*/"4",
           "The interleavings of each run">,
    Option<"seed", "seed", "uint64_t", /*default=*/"0",
           "The seed of the interleavings">,
    Option<"inOrder", "in-order", "bool", /*default=*/"false",
           "The lowest rank goes on until it waits, instead of a random one">,
    Option<"data", "data", "std::string", /*default=*/"\"\"",
           "The folder of the files of arguments and results, instead of arguments that "
           "are made up; for braid-run">,
    Option<"describe", "describe", "bool", /*default=*/"false",
           "Only write the file of the entries to the folder of data, and run nothing">,
    Option<"printResults", "print-results", "bool", /*default=*/"false",
           "A remark at the function tells the results on each rank">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::complex::ComplexDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"
  ];
}

#endif // BRAID_DIALECT_COMM_TRANSFORMS_VERIFYPASSES_TD
