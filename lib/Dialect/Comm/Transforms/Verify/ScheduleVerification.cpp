//===- ScheduleVerification.cpp - Whether schedules are checked -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/Transforms/ScheduleVerification.h"

#include "braid/Analysis/Structure/StructuralPass.h"
#include "llvm/Support/CommandLine.h"

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
