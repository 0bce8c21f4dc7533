//===- VerifyEachPass.h - Programs checked after each pass ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_PIPELINES_VERIFYEACHPASS_H
#define BRAID_PIPELINES_VERIFYEACHPASS_H

#include "braid/Analysis/Verification/ProgramVerifier.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir {
class PassManager;
} // namespace mlir

namespace braid {

/// Lets `addPasses` fill `pm`, a pass manager of modules, and runs
/// `verifyProgram` with `options` before the first pass and after each one.
/// The passes of a nested pipeline count as one. The first wrong program is an
/// error that names the pass, or says that the input was wrong; no later pass
/// is checked, and the run of `pm` fails. Fails if `addPasses` does.
llvm::LogicalResult verifyProgramAfterEachPass(
    mlir::PassManager &pm, const ProgramVerifierOptions &options,
    llvm::function_ref<llvm::LogicalResult(mlir::PassManager &)> addPasses);

} // namespace braid

#endif // BRAID_PIPELINES_VERIFYEACHPASS_H
