//===- Report.h - The measurements of a session -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_RUN_REPORT_H
#define BRAID_TOOLS_BRAID_RUN_RUN_REPORT_H

#include "Run/Session.h"

#include <string>

namespace braid::run {

/// `as written: 1.234 ms (median of 9), ...` and the other measurements, each
/// on a line.
std::string describeSubject(const std::string &what, const Subject &subject);

/// The rank with the longest exposed communication.
size_t worstRank(const Recording &recording);

inline double toMs(int64_t ns) { return static_cast<double>(ns) / 1e6; }

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_RUN_REPORT_H
