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

/// The same for scripts, as an object of JSON. `verifier` has compared the
/// results; null: nothing has.
std::string subjectJson(const std::string &role, const Subject &subject,
                        const Verifier *verifier);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_RUN_REPORT_H
