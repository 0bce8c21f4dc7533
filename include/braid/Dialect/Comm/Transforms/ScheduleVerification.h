//===- ScheduleVerification.h - Whether schedules are checked - -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_TRANSFORMS_SCHEDULEVERIFICATION_H
#define BRAID_DIALECT_COMM_TRANSFORMS_SCHEDULEVERIFICATION_H

namespace braid::comm {

/// True if each scheduling and structural pass checks its result from the
/// program alone; by default they do.
bool isScheduleVerified();

/// Sets that for all passes of this process. Not while passes run.
void setScheduleVerified(bool isVerified);

/// Adds `--verify-schedule` to the command line.
void registerScheduleVerificationOption();

} // namespace braid::comm

#endif // BRAID_DIALECT_COMM_TRANSFORMS_SCHEDULEVERIFICATION_H
