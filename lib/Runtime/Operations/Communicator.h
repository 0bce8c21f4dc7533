//===- Communicator.h - What identifies a communicator ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_OPERATIONS_COMMUNICATOR_H
#define BRAID_RUNTIME_OPERATIONS_COMMUNICATOR_H

#include "braid-rt/Types.h"

#include <cstdint>
#include <string>
#include <vector>

namespace braid::rt {

/// The lane of a communicator's collectives. The default lane has no name.
struct LaneSpec {
  std::string name;
  int32_t ctas = 0; ///< Thread blocks of a collective at most; 0: any number.
  int32_t transport = BRAID_RT_TRANSPORT_DEFAULT;
  /// Bytes for copies of operands that are arguments of the program.
  int64_t staging = 0;
};

/// One list of a group and one of its lanes, for the rank that is member
/// `index` of the list.
struct CommunicatorSpec {
  /// The name and all lists of the group, the lane's name, and the number of
  /// this list: members of one communicator have equal keys.
  std::string key;
  std::string name;           ///< The group's name.
  std::vector<int32_t> ranks; ///< World ranks, in the group's order.
  int64_t index = 0;          ///< The rank's position in `ranks`.
  LaneSpec lane;

  int64_t size() const { return static_cast<int64_t>(ranks.size()); }
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_OPERATIONS_COMMUNICATOR_H
