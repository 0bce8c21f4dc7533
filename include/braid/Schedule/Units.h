//===- Units.h - Times and rates as users write them ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_UNITS_H
#define BRAID_SCHEDULE_UNITS_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace braid {

/// Nanoseconds of a time such as `20us`, `1.5ms`, `600ns` or `2s`; none if
/// `text` is no number of at least 0 with one of these units.
std::optional<double> parseDurationNs(llvm::StringRef text);

/// Bytes per second of a rate such as `10GB/s`, `1.5TB/s`, `800MB/s`, `64KB/s`
/// or `100B/s` (powers of 1000); none if `text` is no number of at least 0 with
/// one of these units.
std::optional<double> parseBandwidth(llvm::StringRef text);

} // namespace braid

#endif // BRAID_SCHEDULE_UNITS_H
