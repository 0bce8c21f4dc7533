//===- ReportFormat.h - Formats of numbers in reports -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_REPORT_REPORTFORMAT_H
#define BRAID_LIB_REPORT_REPORTFORMAT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <cstdint>
#include <optional>
#include <string>

namespace braid {

struct Report;

/// `value` with `digits` decimal places.
std::string formatFixed(double value, unsigned digits);

/// A fraction in percent: 0.125 is "12.5 %".
std::string formatPercent(double fraction);

/// Writes a member of a JSON object: a number with six decimal places, which is
/// equal on every machine, or null.
void printFraction(llvm::json::OStream &json, llvm::StringRef key,
                   std::optional<double> value);

/// Writes `report` as a JSON value.
void printReport(const Report &report, llvm::json::OStream &json);

} // namespace braid

#endif // BRAID_LIB_REPORT_REPORTFORMAT_H
