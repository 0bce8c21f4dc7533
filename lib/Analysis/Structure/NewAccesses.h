//===- NewAccesses.h - Accesses in flight that a pass adds ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_STRUCTURE_NEWACCESSES_H
#define BRAID_LIB_ANALYSIS_STRUCTURE_NEWACCESSES_H

#include "braid/Analysis/Structure/CommunicationSummary.h"

namespace braid {

/// Checks that no op below `root`, whose communication is `after`, accesses a
/// buffer in flight that did not do so before `pass`.
llvm::LogicalResult validateAccesses(const CommunicationSummary &before,
                                     const CommunicationSummary &after,
                                     mlir::Operation *root,
                                     llvm::StringRef pass);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_STRUCTURE_NEWACCESSES_H
