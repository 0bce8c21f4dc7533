//===- Library.h - Calls of library routines --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_LIBRARY_IR_LIBRARY_H
#define BRAID_DIALECT_LIBRARY_IR_LIBRARY_H

#include "braid/Dialect/Comm/IR/CommCostInterface.h"
#include "braid/Dialect/Comm/IR/CommSplitInterface.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "braid/Dialect/Library/IR/LibraryDialect.h.inc"

namespace braid::library {

/// The sizes of attention.
struct AttentionShape {
  int64_t batch = 0;
  int64_t heads = 0, keyHeads = 0;   ///< Of queries; of keys and values.
  int64_t queries = 0, keys = 0;     ///< In a sequence.
  int64_t depth = 0, valueDepth = 0; ///< Of queries and keys; of values.
  bool causal = false;
  int64_t window = 0; ///< Keys that a query reads at most; 0: all.

  /// The pairs of a query and a key that the query reads, in one head;
  /// saturates.
  uint64_t countPairs() const;
};

/// A spatial dimension of a convolution.
struct ConvolutionDim {
  unsigned input = 0, kernel = 0, output = 0; ///< Dimensions of operands.
  int64_t inputs = 0, taps = 0, outputs = 0;  ///< Their sizes.
  int64_t stride = 1, lhsDilation = 1, rhsDilation = 1;
  int64_t low = 0, high = 0; ///< Padding of the dilated input.
  bool isReversed = false;

  /// The size of the input with its dilation and padding.
  int64_t padded() const { return (inputs - 1) * lhsDilation + 1 + low + high; }
  /// The size of the dilated kernel.
  int64_t window() const { return (taps - 1) * rhsDilation + 1; }
  /// The pairs of a place of the output and a place of the kernel that read an
  /// element of the input, or of its padding, but no gap of a dilated input.
  uint64_t countPairs() const;
};

/// The dimensions of the operands of a convolution.
struct ConvolutionShape {
  unsigned inputBatch = 0, inputFeature = 0;
  unsigned kernelInput = 0, kernelOutput = 0;
  unsigned outputBatch = 0, outputFeature = 0;
  int64_t featureGroups = 1, batchGroups = 1;
  bool hasKernelInputGroups = false; ///< Groups divide inputs of the kernel.
  mlir::SmallVector<ConvolutionDim, 3> spatial;

  /// True for the gradient of a convolution by its kernel. It sums over the
  /// batch, which it therefore calls features: in the order of dimensions that
  /// all layouts of programs share the batch comes first. Sizes would not tell:
  /// pictures may be as small as kernels.
  bool isGradientByKernel() const;
};

} // namespace braid::library

#define GET_OP_CLASSES
#include "braid/Dialect/Library/IR/LibraryOps.h.inc"

namespace braid::library {

/// The number of the element type `type` in the runtime's ABI; -1 for a type
/// that no routine takes.
int32_t getDtype(mlir::Type type);

} // namespace braid::library

#endif // BRAID_DIALECT_LIBRARY_IR_LIBRARY_H
