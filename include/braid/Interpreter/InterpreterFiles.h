//===- InterpreterFiles.h - Arguments and results in files ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_INTERPRETER_INTERPRETERFILES_H
#define BRAID_INTERPRETER_INTERPRETERFILES_H

#include "braid/Interpreter/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

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

#endif // BRAID_INTERPRETER_INTERPRETERFILES_H
