//===- Call.h - An entry with its arguments ---------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_CALL_H
#define BRAID_TOOLS_BRAID_RUN_CALL_H

#include "Tensor.h"

#include <memory>
#include <vector>

namespace braid::run {

/// Results of this process's ranks, by local rank and number.
using Results = std::vector<std::vector<Tensor>>;

/// An entry and its arguments on the ranks of this process, in memory of their
/// devices. The memory stays the same for all runs.
class Call {
public:
  /// `inputs` has one list for each rank and stays as it is. `isHostMemory`:
  /// devices read the memory of the host. Throws RunError when there is too
  /// little memory.
  Call(const braid_rt_entry &entry,
       const std::vector<std::vector<Tensor>> &inputs,
       const std::vector<braid_rt_context *> &contexts, bool isHostMemory);
  ~Call();
  Call(Call &&) noexcept;

  const braid_rt_entry &getEntry() const { return *entry; }

  /// Makes everything ready for a run: what the last one may have overwritten
  /// gets its old values.
  void prepare();

  /// One array of arguments for each rank.
  void ***args() { return pointers.data(); }

  /// To be called after a run that succeeded: takes over what the program has
  /// allocated.
  void takeResults();

  /// What the last run has left, in the host's memory. Where the host is the
  /// device, the next run overwrites it.
  Results results();

private:
  class Frame;

  const braid_rt_entry *entry;
  std::vector<Frame> frames;
  std::vector<void **> pointers;
};

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_CALL_H
