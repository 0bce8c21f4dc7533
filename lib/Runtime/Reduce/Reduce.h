//===- Reduce.h - Reductions of buffers -------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_REDUCE_REDUCE_H
#define BRAID_RUNTIME_REDUCE_REDUCE_H

#include "braid-rt/Types.h"

#include <cstdint>

namespace braid::rt {

/// A reduction of `count` elements of `sourceCount` buffers, in this order. All
/// `destinationCount` destinations get the result. A destination may be a
/// source.
struct Reduction {
  int32_t dtype;
  int32_t reduction;
  int64_t count;
  int64_t sourceCount;
  const char *const *sources;
  /// For premul_sum, one element for each source.
  const unsigned char *const *scales;
  int64_t destinationCount;
  char *const *destinations;
  /// Whether the stores of the result bypass the caches.
  bool streaming;
};

BRAID_RT_API void reduce(const Reduction &reduction);

/// The same for processors with AVX2, with the same bits. Called by `reduce`.
void reduceAVX2(const Reduction &reduction);

/// Copies bytes. With `streaming` the stores bypass the caches.
BRAID_RT_API void copyBytes(char *destination, const char *source,
                            int64_t bytes, bool streaming);

} // namespace braid::rt

#endif // BRAID_RUNTIME_REDUCE_REDUCE_H
