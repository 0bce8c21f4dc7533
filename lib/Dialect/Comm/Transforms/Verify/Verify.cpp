//===- Verify.cpp - The pass comm-verify ----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Memory/InFlightAccesses.h"
#include "braid/Analysis/Verification/ProgramVerifier.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMVERIFYPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace mlir;

namespace {
struct CommVerifyPass : comm::impl::CommVerifyPassBase<CommVerifyPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    return comm::checkRanksOption(context, ranks);
  }

  void runOnOperation() override {
    if (failed(onlyBuffers ? comm::checkInFlight(getOperation(), onlyWarns)
                           : verify()))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

  LogicalResult verify() {
    ProgramVerifierOptions options;
    if (ranks != 0)
      options.numRanks = ranks;
    options.sharesLanes = lanes == comm::LaneSharing::Shared;
    options.isStrict = strict;
    options.onlyWarns = onlyWarns;
    options.maxPaths = maxPaths;
    return verifyProgram(getOperation(), options);
  }
};
} // namespace
