//===- ProgramVerifier.h - Whole programs of several ranks ---- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_ANALYSIS_VERIFICATION_PROGRAMVERIFIER_H
#define BRAID_ANALYSIS_VERIFICATION_PROGRAMVERIFIER_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/LogicalResult.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace braid {

/// What a program is verified for.
struct ProgramVerifierOptions {
  /// The number of ranks; none to take the number that the program implies.
  std::optional<int64_t> numRanks;
  /// All collectives of a rank share one lane, whatever their communicators.
  bool sharesLanes = false;
  /// What is not proven is an error, too.
  bool isStrict = false;
  /// Findings are warnings.
  bool onlyWarns = false;
  /// The most paths that each entry is followed on.
  unsigned maxPaths = 64;
};

/// Follows every entry of `module`, a public function or one without callers,
/// on all ranks, and emits an error for each token without exactly one wait,
/// each access to a buffer in flight, operations of ranks that do not match,
/// and ranks that wait for each other. Fails if there is one, unless findings
/// are warnings.
llvm::LogicalResult verifyProgram(mlir::ModuleOp module,
                                  const ProgramVerifierOptions &options);

} // namespace braid

#endif // BRAID_ANALYSIS_VERIFICATION_PROGRAMVERIFIER_H
