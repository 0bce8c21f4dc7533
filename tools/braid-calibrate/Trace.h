//===- Trace.h - Operations in the trace of a rank --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_CALIBRATE_TRACE_H
#define BRAID_TOOLS_BRAID_CALIBRATE_TRACE_H

#include <cstdint>

namespace braid::calibrate {

/// Where the times of single operations come from.
enum class Traces {
  None,
  /// Events of the device, which need no library of their own. A collective
  /// begins when its lane goes on.
  Events,
  /// CUPTI. A collective begins when its kernel does.
  Activities
};

/// An operation of a rank in a trace, in ns.
struct TracedSpan {
  bool isCollective;
  int64_t beginNs, endNs;
};

} // namespace braid::calibrate

#endif // BRAID_TOOLS_BRAID_CALIBRATE_TRACE_H
