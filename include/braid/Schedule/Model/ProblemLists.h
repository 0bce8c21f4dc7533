//===- ProblemLists.h - Awaits and buffers by node --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_MODEL_PROBLEMLISTS_H
#define BRAID_SCHEDULE_MODEL_PROBLEMLISTS_H

#include "braid/Schedule/Model/SchedulingProblem.h"

namespace braid {

/// Lists of numbers, one for each index, in one array.
class FlatLists {
public:
  FlatLists() = default;
  /// From (index, number) pairs; the numbers of an index keep their order.
  FlatLists(unsigned size,
            llvm::ArrayRef<std::pair<unsigned, unsigned>> entries);

  llvm::ArrayRef<unsigned> operator[](unsigned index) const {
    return llvm::ArrayRef<unsigned>(values.data() + begin[index],
                                    begin[index + 1] - begin[index]);
  }
  size_t numEntries() const { return values.size(); }

private:
  std::vector<unsigned> begin, values;
};

/// The starts that each node awaits, and the nodes that await each start, in
/// program order.
struct AwaitLists {
  explicit AwaitLists(const SchedulingProblem &problem);
  FlatLists awaited, awaiters;
};

/// The buffers that each node uses, and the nodes that use each buffer, without
/// repetition.
struct BufferLists {
  explicit BufferLists(const SchedulingProblem &problem);
  FlatLists buffersOf, usersOf;
};

} // namespace braid

#endif // BRAID_SCHEDULE_MODEL_PROBLEMLISTS_H
