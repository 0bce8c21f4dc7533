//===- InFlightCheck.cpp - Checks buffers in flight -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../InFlightCheck.h"

#include "braid/Dialect/Comm/Transforms/Passes.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMCHECKINFLIGHTPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid::comm;

namespace {

struct CommCheckInFlightPass
    : public braid::comm::impl::CommCheckInFlightPassBase<
          CommCheckInFlightPass> {
  void runOnOperation() override {
    if (llvm::failed(checkInFlight(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace

LogicalResult braid::comm::checkInFlight(Operation *root) {
  SmallVector<InFlightAccess> accesses = findInFlightAccesses(root);
  for (const InFlightAccess &access : accesses) {
    InFlightDiagnostic diagnostic = access.op->emitOpError()
                                    << access.verb
                                    << " a buffer that an operation in flight "
                                    << (access.isWritten ? "writes" : "reads")
                                    << ", expected its wait before";
    diagnostic.attachNote(access.started)
        << "the operation starts here; "
        << describeRepair(access.op, access.isWritten);
  }
  return success(accesses.empty());
}
