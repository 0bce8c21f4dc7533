//===- Convolutions.h - Convolutions with cuDNN -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_CUDNN_CONVOLUTIONS_H
#define BRAID_RUNTIME_CUDA_DEVICE_CUDNN_CONVOLUTIONS_H

#include "CUDA/Device/Cudnn/Plans.h"
#include "CUDA/Device/Trials.h"
#include "Engine/Convolution.h"

#include <map>
#include <memory>
#include <vector>

namespace braid::rt::cuda {

/// Convolutions and their gradients on the compute stream. The first one loads
/// cuDNN. The first use of each signature (kind, sizes, strides, window, type,
/// alignment) builds a plan, the fastest of several in a trial, and allocates
/// its workspace; both are kept.
class Convolutions {
public:
  Convolutions(const Gpu &gpu, CudnnPlans &cudnn, Trials &trials)
      : gpu(gpu), cudnn(cudnn), trials(trials) {}
  Convolutions(const Convolutions &) = delete;
  Convolutions &operator=(const Convolutions &) = delete;

  /// Throws an Error if there is no cuDNN, if it does not support the
  /// convolution, or if a recording asks for a signature that no invocation
  /// before it has used.
  void convolve(const Convolution &convolution);

private:
  struct Plan {
    /// The descriptors of the graph.
    std::unique_ptr<Descriptors> graph;
    CudnnPlan plan;
    DevicePointer workspace = 0;
  };
  /// The signature as numbers.
  using Key = std::vector<int64_t>;

  Plan &find(const Convolution &convolution);
  Key keyOf(const Convolution &convolution) const;
  bool isExact(const Convolution &convolution) const;
  Plan build(const Convolution &convolution, const Key &key) const;
  size_t findFastest(const Convolution &convolution,
                     const std::vector<CudnnPlan> &candidates) const;
  void run(const CudnnPlan &plan, const Convolution &convolution,
           DevicePointer workspace) const;

  const Gpu &gpu;
  CudnnPlans &cudnn;
  Trials &trials;
  std::map<Key, Plan> plans;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_CUDNN_CONVOLUTIONS_H
