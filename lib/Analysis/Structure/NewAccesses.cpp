//===- NewAccesses.cpp - Accesses in flight that a pass adds --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NewAccesses.h"

#include "braid/Analysis/Memory/InFlightAccesses.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

LogicalResult braid::validateAccesses(const CommunicationSummary &before,
                                      const CommunicationSummary &after,
                                      Operation *root, StringRef pass) {
  size_t numBefore = before.getAccessesInFlight().size();
  if (after.getAccessesInFlight().size() <= numBefore)
    return success();
  SmallVector<comm::InFlightAccess> accesses = comm::findInFlightAccesses(root);
  const auto *access = llvm::find_if(accesses, [&](const auto &other) {
    return !llvm::is_contained(before.getAccessesInFlight(),
                               other.op->getLoc());
  });
  if (access == accesses.end())
    access = &accesses.back();
  InFlightDiagnostic diagnostic =
      access->op->emitOpError()
      << access->verb << " a buffer that an operation in flight "
      << (access->isWritten ? "writes" : "reads") << " after " << pass
      << ", expected its wait before";
  diagnostic.attachNote(access->started) << "the operation starts here";
  return diagnostic;
}
