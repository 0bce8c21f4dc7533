//===- Transforms.h - Fourier transforms with cuFFT -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_TRANSFORMS_H
#define BRAID_RUNTIME_CUDA_DEVICE_TRANSFORMS_H

#include "CUDA/API/Cufft.h"
#include "CUDA/Device/Memory.h"
#include "Engine/Routine.h"

#include <map>
#include <memory>
#include <vector>

namespace braid::rt::cuda {

/// Fourier transforms on the compute stream. The first one loads cuFFT. The
/// first use of each signature (routine, type, sizes) makes a plan and
/// allocates its memory; both are kept.
class Transforms {
public:
  Transforms(const Gpu &gpu, DeviceMemory &memory) : gpu(gpu), memory(memory) {}
  ~Transforms();
  Transforms(const Transforms &) = delete;
  Transforms &operator=(const Transforms &) = delete;

  /// Throws an Error if there is no cuFFT, if it does not support the
  /// transform, or if a recording asks for a signature that no invocation
  /// before it has used.
  void transform(const RoutineCall &call);

private:
  struct Plan {
    cufft::Handle handle = -1;
    DevicePointer work = 0;
    /// Memory for the input, which some transforms overwrite, and which cuFFT
    /// wants aligned; 0 until it is needed.
    DevicePointer copy = 0;
  };
  /// The signature as numbers.
  using Key = std::vector<int64_t>;

  Plan &find(const RoutineCall &call);
  void make(const RoutineCall &call, Plan &plan);
  void *copyInput(const RoutineCall &call, Plan &plan);
  void refuseInRecording() const;

  const Gpu &gpu;
  DeviceMemory &memory;
  std::unique_ptr<cufft::Cufft> library;
  std::map<Key, Plan> plans;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_TRANSFORMS_H
