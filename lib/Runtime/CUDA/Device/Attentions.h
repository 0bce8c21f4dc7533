//===- Attentions.h - Attention with cuDNN ----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_ATTENTIONS_H
#define BRAID_RUNTIME_CUDA_DEVICE_ATTENTIONS_H

#include "CUDA/Device/AttentionGraph.h"
#include "CUDA/Device/Memory.h"

#include <map>
#include <memory>
#include <vector>

namespace braid::rt::cuda {

/// Attention and its gradients on the compute stream. The first one loads
/// cuDNN. The first use of each signature (sizes, strides, types, options)
/// builds a plan and allocates its workspace; both are kept.
class Attentions {
public:
  Attentions(const Gpu &gpu, DeviceMemory &memory);
  ~Attentions();
  Attentions(const Attentions &) = delete;
  Attentions &operator=(const Attentions &) = delete;

  /// Throws an Error if there is no cuDNN, if it does not support the
  /// attention, or if a recording asks for a signature that no invocation
  /// before it has used.
  void attend(const Attention &attention);

private:
  class Descriptors;
  struct Plan {
    std::unique_ptr<AttentionGraph> graph;
    /// The chosen proposal of the library, and the plan for it.
    std::unique_ptr<Descriptors> owned;
    cudnn::Descriptor plan = nullptr;
    int64_t workspaceBytes = 0; ///< Of the library.
    DevicePointer workspace = 0;
  };
  /// The signature as numbers.
  using Key = std::vector<int64_t>;

  void open();
  Plan &find(const Attention &attention);
  Plan build(const Attention &attention);
  /// The proposals of the library for `graph`, best first, which `owner` owns.
  std::vector<cudnn::Descriptor> propose(const AttentionGraph &graph,
                                         cudnn::HeuristicMode mode,
                                         Descriptors &owner) const;
  /// A plan for `proposal`, which `owner` owns; null if the library cannot
  /// build it.
  cudnn::Descriptor tryPlan(cudnn::Descriptor proposal,
                            Descriptors &owner) const;
  bool isDeterministic(cudnn::Descriptor proposal) const;
  DevicePointer reserve(int64_t bytes);
  void run(const Plan &plan, const Attention &attention) const;

  const Gpu &gpu;
  DeviceMemory &memory;
  std::unique_ptr<cudnn::Cudnn> library;
  cudnn::Handle handle = nullptr;
  std::map<Key, Plan> plans;
  /// All workspaces, the largest one last. Recordings may refer to each, so
  /// none is freed before the device. Attention runs one after the other on the
  /// compute stream, so plans share the last one.
  std::vector<DevicePointer> workspaces;
  int64_t largest = 0; ///< The bytes of the last one.
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_ATTENTIONS_H
