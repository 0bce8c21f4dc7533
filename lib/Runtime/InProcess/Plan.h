//===- Plan.h - The work units of one collective ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_INPROCESS_PLAN_H
#define BRAID_RUNTIME_INPROCESS_PLAN_H

#include "Operations/Operation.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace braid::rt {

/// The data movement of a collective, cut into units that any threads may do in
/// any order and at the same time. A plan is built from the members' operations
/// and refers to their buffers.
class Plan {
public:
  Plan() = default;

  /// Builds the plan of `members`, in the group's order, which agree. A message
  /// has two members: the send and the recv.
  explicit Plan(const std::vector<const Operation *> &members);

  int64_t unitCount() const { return units; }

  /// The bytes that the plan writes on all ranks together.
  int64_t bytes() const { return written; }

  /// Does one unit.
  void run(int64_t unit) const;

private:
  /// One kind of work on one operand, cut into units of `grain` out of
  /// `extent`.
  struct Task {
    enum Kind { Reduce, Copy, Zero, Shuffle } kind = Copy;
    int64_t firstUnit = 0;
    int64_t extent = 0;
    int64_t grain = 1;

    // Reduce: elements; `block` elements of a row of `sources` go to
    // destination after destination (reduce_scatter), or all to all of them.
    int32_t dtype = 0;
    int32_t reduction = 0;
    bool scattered = false;
    int64_t block = 0;
    std::vector<const char *> sources;
    std::vector<char *> destinations;
    std::vector<const unsigned char *> scales;

    // Copy: `extent` bytes in rows of `rowBytes` from the one source to the one
    // destination. Zero: bytes of the one destination. Shuffle: bytes of each
    // source go to the destination of the same index, all read before any is
    // written; a null source is zeros.
    int64_t rowBytes = 0;
    int64_t sourceStride = 0;
    int64_t destinationStride = 0;
  };

  void addCopy(const char *source, char *destination, int64_t rows,
               int64_t rowBytes, int64_t sourceStride,
               int64_t destinationStride);
  void addZero(char *destination, int64_t bytes);
  void addShuffle(std::vector<const char *> sources,
                  std::vector<char *> destinations, int64_t bytes);
  void add(Task task);
  const char *stage(const char *source, int64_t bytes);

  void planReduction(size_t operand);
  void planGather(size_t operand);
  void planFromRoot(size_t operand);
  void planAllToAll(size_t operand);
  void planPairs(size_t operand);
  void planMessage(size_t operand);

  void runReduce(const Task &task, int64_t begin, int64_t end) const;
  void runCopy(const Task &task, int64_t begin, int64_t end) const;
  void runShuffle(const Task &task, int64_t begin, int64_t end) const;

  std::vector<const Operation *> members;
  std::vector<Task> tasks;
  /// Copies of operands that a destination would overwrite before they are
  /// read.
  std::vector<std::unique_ptr<char[]>> staged;
  int64_t units = 0;
  int64_t written = 0;
  bool streaming = false;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_INPROCESS_PLAN_H
