//===- Operation.h - A collective of one rank -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_OPERATIONS_OPERATION_H
#define BRAID_RUNTIME_OPERATIONS_OPERATION_H

#include "braid-rt/CollectiveTraits.h"

#include <cstdint>
#include <string>
#include <vector>

namespace braid::rt {

class TextSink;

using Sizes = std::vector<int64_t>;

/// The number of elements of a shape.
BRAID_RT_API int64_t elementCount(const Sizes &sizes);

/// `tensor<4x8xf32>`.
BRAID_RT_API std::string tensorType(const Sizes &sizes, int32_t dtype);

/// One operand of a launch: its source and its destination. A send has no
/// destination, a recv no source.
struct Operand {
  const char *source = nullptr;
  char *destination = nullptr;
  int32_t dtype = 0;
  Sizes sourceSizes;
  Sizes destinationSizes;

  int64_t elementBytes() const { return braid_rt_dtype_size(dtype); }
  int64_t sourceBytes() const {
    return elementCount(sourceSizes) * elementBytes();
  }
  int64_t destinationBytes() const {
    return elementCount(destinationSizes) * elementBytes();
  }
};

/// The forms of the splits of an all_to_all.
enum class Splits { Equal, Lists, Matrix };

/// The arguments of a start. The operations of all members of a collective must
/// agree.
struct BRAID_RT_API Operation {
  int32_t kind = BRAID_RT_BARRIER;
  int32_t reduction = -1;
  int64_t root = -1;
  int64_t dim = -1;
  int64_t peer = -1;
  Splits splits = Splits::Equal;
  std::vector<int64_t> sourceSplits;      ///< One per member, for Lists.
  std::vector<int64_t> destinationSplits; ///< One per member, for Lists.
  std::vector<int64_t> matrix;            ///< Row-major, for Matrix.
  std::vector<int64_t> pairs;             ///< Source, target, ... of each pair.
  std::vector<Operand> operands;
  alignas(16) unsigned char scale[16] = {};
  braid_rt_site site = {};

  const braid_rt_collective_traits &traits() const {
    return *braid_rt_get_traits(kind);
  }
  bool isReduction() const { return reduction >= 0; }
  bool isPointToPoint() const { return traits().flow == BRAID_RT_FLOW_MESSAGE; }

  /// The properties in which ranks can disagree:
  /// `all_gather dim 0 tensor<4xf32> -> tensor<8xf32>`.
  std::string signature() const;

  /// The same for a signal handler: allocates nothing.
  void printSignature(TextSink &text) const;

  /// The bytes in the link model (braid_rt_link_bytes).
  int64_t linkBytes() const;

  /// The rows of dimension 0 that `member` sends to a member, and receives from
  /// a member, of an all_to_all.
  int64_t rowsTo(int64_t member, int64_t target, int64_t groupSize,
                 const Operand &operand) const;
  int64_t rowsFrom(int64_t member, int64_t source, int64_t groupSize,
                   const Operand &operand) const;
};

/// Makes the checks that need no other rank: types, shapes, root, splits,
/// pairs, overlap of buffers. `member` is the rank's index in a group of
/// `groupSize`. Throws an Error with the found and the expected value, without
/// a prefix.
BRAID_RT_API void checkOperation(const Operation &operation, int64_t member,
                                 int64_t groupSize);

} // namespace braid::rt

#endif // BRAID_RUNTIME_OPERATIONS_OPERATION_H
