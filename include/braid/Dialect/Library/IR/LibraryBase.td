//===- LibraryBase.td - The dialect of library calls -------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_LIBRARY_IR_LIBRARYBASE_TD
#define BRAID_DIALECT_LIBRARY_IR_LIBRARYBASE_TD

include "braid/Dialect/Comm/IR/CommCostInterface.td"
include "braid/Dialect/Comm/IR/CommSplitInterface.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Library_Dialect : Dialect {
  let name = "library";
  let cppNamespace = "::braid::library";
  let summary = "Attention, convolutions, scatters, Fourier transforms and LAPACK's routines";
  let description = [{
    What a compiler leaves to libraries. Attention and convolutions have a library on GPUs; hosts
    and GPUs without the library compute matmuls, sums and elementwise ops instead
    (`braid-decompose-attention`, `braid-decompose-convolutions`). Scatters become a loop on hosts
    and kernels on GPUs (`braid-decompose-scatters`). Fourier transforms have libraries on both.
    LAPACK's routines work on batches of arrays. On GPUs cuSOLVER runs them; where cuSOLVER lacks
    a routine, the GPU waits for the host (`convert-linalg-to-braid-rt`). Sorts have kernels on
    GPUs.
  }];
}

def Library_Data : AnyTypeOf<[AnyRankedTensor, AnyMemRef], "ranked tensor or memref">;

/// An op that writes its outputs and returns them, if they are tensors.
class Library_Op<string mnemonic, list<Trait> traits = []> : Op<Library_Dialect, mnemonic, traits # [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<Comm_CostOpInterface, ["getWork"]>]> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
}

#endif // BRAID_DIALECT_LIBRARY_IR_LIBRARYBASE_TD
