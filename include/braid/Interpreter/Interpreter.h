//===- Interpreter.h - Runs all ranks of a program ------------ -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_INTERPRETER_INTERPRETER_H
#define BRAID_INTERPRETER_INTERPRETER_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <cstdint>
#include <string>
#include <vector>

namespace braid {

/// A scalar, tensor or buffer: its elements, row-major.
struct InterpreterTensor {
  llvm::SmallVector<int64_t, 2> sizes;
  std::vector<mlir::Attribute> elements;

  bool operator==(const InterpreterTensor &other) const {
    return sizes == other.sizes && elements == other.elements;
  }
  bool operator!=(const InterpreterTensor &other) const {
    return !(*this == other);
  }
};

/// How a program is run.
struct InterpreterOptions {
  int64_t numRanks = 2;
  /// Chooses, at each step, which rank continues and which operation ends.
  uint64_t seed = 0;
  /// No choice: the lowest rank continues until it waits, and operations end in
  /// their order when no rank can go on.
  bool isInOrder = false;
  /// The arguments of each rank; without them they are made up.
  std::vector<std::vector<InterpreterTensor>> arguments;
  /// The value of integer and index arguments that are made up.
  int64_t argument = 1;
  /// The most ops that all ranks run together.
  uint64_t maxSteps = 1'000'000;
};

/// Why a run failed.
enum class InterpreterFailure {
  None,
  /// A token is awaited twice, or never.
  Token,
  /// A buffer is touched while an operation in flight uses it, or after it was
  /// freed.
  Buffer,
  /// Operations that match differ, or one has no counterpart.
  Mismatch,
  /// Ranks wait for each other.
  Deadlock,
  /// The interpreter does not know an op, or gave up.
  Unsupported,
};

struct InterpreterResult {
  InterpreterFailure failure = InterpreterFailure::None;
  mlir::Operation *op = nullptr;
  std::string message;
  /// The results of each rank.
  std::vector<std::vector<InterpreterTensor>> results;
};

/// A copy of `module` in which MLIR has expanded what the interpreter runs in
/// other ops alone: the affine dialect, computation on complex numbers,
/// padding, concatenation and some functions of `math`. Null if there is none
/// of these. Fails, with an error, where MLIR cannot expand an op.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
prepareForInterpreter(mlir::ModuleOp module);

/// Runs `entry` on all ranks in one process, in the interleaving that the seed
/// gives, with generated arguments that depend on the rank. Checks each element
/// that an op touches, and each token.
InterpreterResult interpret(mlir::FunctionOpInterface entry,
                            const InterpreterOptions &options);

/// The files by which another program, `braid-run`, exchanges data with the
/// interpreter. All are in one folder.
///
/// `entries` has a line `entry NAME` for each public function with a body, and
/// after it a line for each argument and result: `in`, `inout` or `out`, the
/// element type, and the sizes, -1 where they are dynamic. Instead of these an
/// entry with an argument or result that has no such form has the line `other`
/// with its type.
///
/// `RANK.NUMBER.in` and `RANK.NUMBER.out` are the arguments and the results of
/// each rank: the sizes as 64-bit integers, then the elements, row-major, with
/// whole bytes, little endian.

/// Writes `entries` for `module`. Emits an error and fails if the file cannot
/// be written.
llvm::LogicalResult writeInterpreterEntries(mlir::ModuleOp module,
                                            llvm::StringRef folder);

/// Reads the arguments of `entry` on all ranks into `options`.
llvm::LogicalResult readInterpreterArguments(mlir::FunctionOpInterface entry,
                                             llvm::StringRef folder,
                                             InterpreterOptions &options);

/// Writes the results of all ranks.
llvm::LogicalResult
writeInterpreterResults(mlir::FunctionOpInterface entry, llvm::StringRef folder,
                        llvm::ArrayRef<std::vector<InterpreterTensor>> results);

} // namespace braid

#endif // BRAID_INTERPRETER_INTERPRETER_H
