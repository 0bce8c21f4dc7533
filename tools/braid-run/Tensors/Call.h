//===- Call.h - An entry with its arguments ---------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TENSORS_CALL_H
#define BRAID_TOOLS_BRAID_RUN_TENSORS_CALL_H

#include "Tensors/Tensor.h"

#include <memory>
#include <vector>

namespace braid::run {

/// Results of this process's ranks, by local rank and number.
using Results = std::vector<std::vector<Tensor>>;

/// An entry and its arguments on the ranks of this process, in memory of their
/// devices. The memory stays the same for all runs.
class Call {
public:
  /// `inputs` has one list for each rank and is not modified. `isHostMemory`:
  /// devices use host memory. Throws RunError if there is not enough memory.
  Call(const braid_rt_entry &entry,
       const std::vector<std::vector<Tensor>> &inputs,
       const std::vector<braid_rt_context *> &contexts, bool isHostMemory);
  ~Call();
  Call(Call &&) noexcept;

  const braid_rt_entry &getEntry() const { return *entry; }

  /// Prepares a run: restores the values of arguments that the last run may
  /// have overwritten.
  void prepare();

  /// One array of arguments for each rank.
  void ***args() { return pointers.data(); }

  /// Takes ownership of results that the program has allocated. Must be called
  /// after a successful run.
  void takeResults();

  /// The results of the last run, in host memory. If the host is the device,
  /// the next run overwrites them.
  Results results();

private:
  class Frame;

  const braid_rt_entry *entry;
  std::vector<Frame> frames;
  std::vector<void **> pointers;
};

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TENSORS_CALL_H
