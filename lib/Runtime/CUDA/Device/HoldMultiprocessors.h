//===- HoldMultiprocessors.h - Multiprocessors without work -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_HOLDMULTIPROCESSORS_H
#define BRAID_RUNTIME_CUDA_DEVICE_HOLDMULTIPROCESSORS_H

#include "CUDA/Device/Memory.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace braid::rt::cuda {

/// Kernels whose blocks hold multiprocessors for a time and do nothing else.
/// Each block fills its multiprocessor. Measurements learn from them what
/// others lack meanwhile. Only the launcher's thread calls the functions, while
/// the rank does not run.
class HeldMultiprocessors {
public:
  /// `gpu` and `memory` must outlive the object. Nothing is loaded before the
  /// first call.
  HeldMultiprocessors(const Gpu &gpu, DeviceMemory &memory)
      : gpu(gpu), memory(memory) {}
  ~HeldMultiprocessors();
  HeldMultiprocessors(const HeldMultiprocessors &) = delete;
  HeldMultiprocessors &operator=(const HeldMultiprocessors &) = delete;

  /// The multiprocessors on which no blocks in clusters of two find a place
  /// while `blocks` single blocks hold one each: at least `blocks`. 0 if this
  /// cannot be measured.
  int64_t measureTakenFromPairs(int64_t blocks);

private:
  void open();
  /// Has `blocks` blocks hold a multiprocessor each for some milliseconds, on a
  /// stream of the highest priority. First waits for the end of the blocks of
  /// an earlier call. Returns when all blocks have begun. Throws an Error if
  /// they have not begun after a second.
  void hold(int64_t blocks);
  void awaitEnd() const;
  void launch(Function kernel, int64_t blocks, DevicePointer begins, int64_t ns,
              Stream stream) const;
  std::optional<int64_t> tryPairs(int64_t blocks);

  /// The times at which `count` blocks have begun, in ns of the GPU's clock; 0
  /// of blocks that have not.
  std::vector<uint64_t> readBegins(DevicePointer begins, int64_t count) const;
  /// Behind the begins of the blocks that hold.
  DevicePointer beginsOfPairs() const;
  int64_t beginBytes() const;

  const Gpu &gpu;
  DeviceMemory &memory;
  Module module = nullptr;
  Function single = nullptr, pair = nullptr;
  int sharedBytes = 0; ///< All that a block may have.
  Stream stream = nullptr;
  Event ended = nullptr; ///< Behind the last blocks that hold.
  DevicePointer begins = 0;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_HOLDMULTIPROCESSORS_H
