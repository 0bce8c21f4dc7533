//===- RankTrace.h - What one rank communicates on one path --- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_VERIFICATION_VALUES_RANKTRACE_H
#define BRAID_LIB_ANALYSIS_VERIFICATION_VALUES_RANKTRACE_H

#include "PathValues.h"

#include "braid/Dialect/Comm/IR/Comm.h"

#include <optional>
#include <vector>

namespace braid {

/// An operation between ranks that a rank starts.
struct StartedOperation {
  /// Handles of ops; their methods are not const.
  mutable comm::CollectiveOpInterface op;
  mutable comm::GroupOp group;
  /// The name of its lane within the group; empty for the default lane.
  mlir::StringAttr lane;
  /// The index of the peer of a message.
  std::optional<int64_t> peer;
  /// The sizes of each operand, as far as they are known; for a receive those
  /// of the value. Empty where the type tells all.
  std::vector<llvm::SmallVector<std::optional<int64_t>>> sizes;
  /// The sizes of the parts that an exchange sends to and receives from each
  /// member, as far as they are known; empty if the parts are equal.
  llvm::SmallVector<std::optional<int64_t>> sendSizes, receiveSizes;
  /// The operands, if elements of them are followed.
  llvm::SmallVector<PathValue, 1> inputs;
  /// Something may be known of what members get.
  bool tellsValues = false;
};

/// What one rank communicates on one path, in order.
struct RankTrace {
  struct Event {
    /// The wait; null for a start.
    mlir::Operation *wait;
    /// The position in `operations`.
    unsigned operation;
  };
  std::vector<StartedOperation> operations;
  std::vector<Event> events;
  /// The path was followed to its end.
  bool isComplete = true;
  /// It ends after as many ops as are followed.
  bool isTooLong = false;
  /// A peer of a message comes from outside of the program.
  bool hasUnknownPeer = false;
  /// The first op whose regions communicate and that does not say how it runs
  /// them; null if there is none.
  mlir::Operation *unknownRegions = nullptr;
  /// The path depends on values of collectives of which other ranks tell more.
  bool usesOpenValues = false;
  /// Other ranks may have another trace on the same path.
  bool dependsOnRank = false;
};

/// The members of the communicator of `group` that `rank` is in, by index.
/// Empty if the rank is in no list.
llvm::SmallVector<int64_t> getMembers(comm::GroupOp group, int64_t rank,
                                      int64_t numRanks);

/// "rank 0 starts all_reduce on 'g', broadcast on 'g'": the operations of
/// `rank` around number `position` of `trace`.
std::string describeSequence(const RankTrace &trace, int64_t rank,
                             unsigned position);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_VERIFICATION_VALUES_RANKTRACE_H
