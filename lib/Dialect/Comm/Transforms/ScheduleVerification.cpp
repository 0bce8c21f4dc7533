//===- ScheduleVerification.cpp - Whether schedules are checked -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/Transforms/ScheduleVerification.h"

#include "llvm/Support/CommandLine.h"

static bool &getSetting() {
  static bool isVerified = true;
  return isVerified;
}

bool braid::comm::isScheduleVerified() { return getSetting(); }

void braid::comm::setScheduleVerified(bool isVerified) {
  getSetting() = isVerified;
}

void braid::comm::registerScheduleVerificationOption() {
  static llvm::cl::opt<bool, /*ExternalStorage=*/true> option(
      "verify-schedule",
      llvm::cl::desc("Check the order of every block that a scheduling pass "
                     "changes, from the program alone"),
      llvm::cl::location(getSetting()), llvm::cl::init(true));
}
