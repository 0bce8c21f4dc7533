//===- Attentions.h - Attention with cuDNN ----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_CUDNN_ATTENTIONS_H
#define BRAID_RUNTIME_CUDA_DEVICE_CUDNN_ATTENTIONS_H

#include "CUDA/Device/Cudnn/AttentionGraph.h"
#include "CUDA/Device/Cudnn/Plans.h"

#include <map>
#include <memory>
#include <vector>

namespace braid::rt::cuda {

/// Attention and its gradients on the compute stream. The first one loads
/// cuDNN. The first use of each signature (sizes, strides, types, options)
/// builds a plan and allocates its workspace; both are kept.
class Attentions {
public:
  Attentions(const Gpu &gpu, CudnnPlans &cudnn) : gpu(gpu), cudnn(cudnn) {}
  Attentions(const Attentions &) = delete;
  Attentions &operator=(const Attentions &) = delete;

  /// Throws an Error if there is no cuDNN, if it does not support the
  /// attention, or if a recording asks for a signature that no invocation
  /// before it has used.
  void attend(const Attention &attention);

private:
  struct Plan {
    std::unique_ptr<AttentionGraph> graph;
    CudnnPlan plan;
    DevicePointer workspace = 0;
  };
  /// The signature as numbers.
  using Key = std::vector<int64_t>;

  Plan &find(const Attention &attention);
  Plan build(const Attention &attention) const;
  void run(const Plan &plan, const Attention &attention) const;

  const Gpu &gpu;
  CudnnPlans &cudnn;
  std::map<Key, Plan> plans;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_CUDNN_ATTENTIONS_H
