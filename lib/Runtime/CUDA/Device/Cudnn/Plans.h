//===- Plans.h - Plans of cuDNN ---------------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_CUDNN_PLANS_H
#define BRAID_RUNTIME_CUDA_DEVICE_CUDNN_PLANS_H

#include "CUDA/API/Cudnn.h"
#include "CUDA/Device/Memory.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace braid::rt::cuda {

/// Descriptors of cuDNN that end with their owner. Functions throw the Error of
/// the library.
class Descriptors {
public:
  explicit Descriptors(const cudnn::Cudnn &library) : library(library) {}
  ~Descriptors();
  Descriptors(const Descriptors &) = delete;
  Descriptors &operator=(const Descriptors &) = delete;

  cudnn::Descriptor create(cudnn::DescriptorType type);
  void set(cudnn::Descriptor descriptor, cudnn::AttributeName name,
           cudnn::AttributeType type, int64_t count, const void *values) const;
  template <typename Value>
  void set(cudnn::Descriptor descriptor, cudnn::AttributeName name,
           cudnn::AttributeType type, Value value) const {
    set(descriptor, name, type, 1, &value);
  }
  void finalize(cudnn::Descriptor descriptor) const;
  /// A finalized graph of operations.
  cudnn::Descriptor
  createGraph(cudnn::Handle handle,
              const std::vector<cudnn::Descriptor> &operations);

private:
  const cudnn::Cudnn &library;
  std::vector<cudnn::Descriptor> all;
};

/// A plan for a graph of operations.
struct CudnnPlan {
  std::shared_ptr<Descriptors> proposals; ///< The library's, for the graph.
  std::unique_ptr<Descriptors> owned;     ///< The plan for one of them.
  cudnn::Descriptor plan = nullptr;       ///< Null: the library has none.
  int64_t workspaceBytes = 0;
};

/// How one of several plans for a graph is chosen.
struct CudnnTrial {
  /// The graph, the same text on all ranks and in later runs.
  std::string graph;
  /// The number of the fastest plan; some have no `plan`.
  std::function<size_t(const std::vector<CudnnPlan> &)> findFastest;
};

/// cuDNN on the compute stream of a device, with the workspaces of plans.
class CudnnPlans {
public:
  CudnnPlans(const Gpu &gpu, DeviceMemory &memory);
  ~CudnnPlans();
  CudnnPlans(const CudnnPlans &) = delete;
  CudnnPlans &operator=(const CudnnPlans &) = delete;

  /// Loads the library, unless it is loaded. Throws an Error if there is none.
  void open();
  const cudnn::Cudnn &cudnn() const { return *library; }
  cudnn::Handle handle() const { return opened; }

  /// What the library notes of an engine.
  using Notes = std::vector<cudnn::NumericalNote>;
  /// Builds a plan of the first proposal for `graph` by `modes` that the
  /// library can build. Only engines that `takes` is true for count; of these
  /// the deterministic ones come first, and of several by one mode the one
  /// counts that all ranks choose by `trial`, if there is one. Throws an Error
  /// in a recording, because plans compile kernels and allocate memory.
  CudnnPlan build(cudnn::Descriptor graph,
                  const std::vector<cudnn::HeuristicMode> &modes,
                  const std::function<bool(const Notes &)> &takes,
                  const CudnnTrial *trial = nullptr) const;

  /// A workspace of at least `bytes`; 0 without any.
  DevicePointer reserve(int64_t bytes);

  /// Puts the plan into the compute stream, with the memory of the tensors
  /// whose ids are `ids`.
  void run(const CudnnPlan &plan, const std::vector<int64_t> &ids,
           const std::vector<void *> &pointers, DevicePointer workspace) const;

  /// Calls `body`, in which `run` puts plans into another stream.
  void useStream(Stream stream, const std::function<void()> &body) const;

private:
  std::vector<cudnn::Descriptor> propose(cudnn::Descriptor graph,
                                         cudnn::HeuristicMode mode,
                                         Descriptors &owner) const;
  CudnnPlan tryPlan(cudnn::Descriptor proposal,
                    const std::shared_ptr<Descriptors> &proposals) const;
  size_t choose(const std::vector<cudnn::Descriptor> &candidates,
                const std::shared_ptr<Descriptors> &proposals,
                const CudnnTrial &trial, CudnnPlan &built) const;
  Notes getNotes(cudnn::Descriptor proposal) const;

  const Gpu &gpu;
  DeviceMemory &memory;
  std::unique_ptr<cudnn::Cudnn> library;
  cudnn::Handle opened = nullptr;
  /// All workspaces, the largest one last. Recordings may refer to each, so
  /// none is freed before the device. Plans run one after the other on the
  /// compute stream, so they share the last one.
  std::vector<DevicePointer> workspaces;
  int64_t largest = 0; ///< The bytes of the last one.
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_CUDNN_PLANS_H
