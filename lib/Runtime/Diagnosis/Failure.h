//===- Failure.h - The failure of a world -----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_DIAGNOSIS_FAILURE_H
#define BRAID_RUNTIME_DIAGNOSIS_FAILURE_H

#include "braid-rt/Types.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace braid::rt {

/// The failure that ended the world. Later ones are ignored.
struct BRAID_RT_API Failure {
  std::string text;             ///< Without a prefix.
  std::vector<int32_t> members; ///< The members of the operation, if any.
  int32_t cause = -1;           ///< The rank that failed; -1: no single one.
  /// The `match` of the OpenOperation that cannot end; 0: none.
  uint64_t match = 0;
  int64_t sequence = 0;

  /// True if the rank takes part in the failure. Other ranks fail as a
  /// consequence.
  bool concerns(int32_t rank) const;
  /// The message for the rank.
  std::string textFor(int32_t rank) const;

  template <typename Self> static auto fields(Self &self) {
    return std::tie(self.text, self.members, self.cause, self.match,
                    self.sequence);
  }
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_DIAGNOSIS_FAILURE_H
