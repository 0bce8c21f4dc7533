//===- Verify.cpp - The pass comm-verify ----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Memory/InFlightAccesses.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Analysis/Verification/ProgramVerifier.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Dialect/Comm/Transforms/ScheduleVerification.h"
#include "llvm/Support/CommandLine.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMVERIFYPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace mlir;

bool braid::comm::isScheduleVerified() { return arePassesValidated(); }

void braid::comm::setScheduleVerified(bool isVerified) {
  setPassesValidated(isVerified);
}

void braid::comm::registerScheduleVerificationOption() {
  static llvm::cl::opt<bool> option(
      "verify-schedule",
      llvm::cl::desc("Check what every scheduling and structural pass does to "
                     "communication, from the program alone"),
      llvm::cl::init(true), llvm::cl::callback([](const bool &isVerified) {
        setScheduleVerified(isVerified);
      }));
}

namespace {
struct CommVerifyPass : comm::impl::CommVerifyPassBase<CommVerifyPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    if (maxPaths == 0)
      return emitError(UnknownLoc::get(context))
             << "invalid number 0 in option 'max-paths', expected at least 1";
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
