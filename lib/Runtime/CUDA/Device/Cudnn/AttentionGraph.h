//===- AttentionGraph.h - Attention as a graph of cuDNN ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_CUDNN_ATTENTIONGRAPH_H
#define BRAID_RUNTIME_CUDA_DEVICE_CUDNN_ATTENTIONGRAPH_H

#include "CUDA/Device/Cudnn/Plans.h"
#include "Engine/Attention.h"

#include <list>
#include <vector>

namespace braid::rt::cuda {

/// Attention or its gradients as the operations of which cuDNN knows that they
/// are attention: which operations there are, and their order, decide whether
/// the library has one kernel for all.
class AttentionGraph {
public:
  /// Operands have to be aligned to as many bytes.
  static constexpr int64_t alignment = 16;

  /// With `isFast` the library may add up the gradients of queries in any
  /// order. Throws an Error if an operand has a type that the library does not
  /// have.
  AttentionGraph(const cudnn::Cudnn &cudnn, cudnn::Handle handle,
                 const Attention &attention, bool isFast);
  AttentionGraph(const AttentionGraph &) = delete;
  AttentionGraph &operator=(const AttentionGraph &) = delete;

  /// The graph of operations, finalized.
  cudnn::Descriptor descriptor() const { return graph; }

  /// What a run of the graph reads and writes: operands by their roles, and
  /// scalars, which are values on the host. `memory` has memoryBytes.
  void bind(const Attention &attention, void *memory, std::vector<int64_t> &ids,
            std::vector<void *> &pointers) const;

  /// The bytes that gradients need between two operations of the graph, a
  /// multiple of 256.
  int64_t memoryBytes() const { return bytesBetween; }

private:
  using Sizes = std::array<int64_t, 4>;
  struct Tensor {
    cudnn::Descriptor descriptor;
    Sizes sizes, strides;
  };

  void addForward();
  void addBackward();

  Tensor operand(int32_t role, bool isTransposed = false);
  Tensor tensor(const Sizes &sizes, const Sizes &strides,
                cudnn::ElementType type, int64_t id, bool isVirtual,
                bool isValue = false);
  Tensor between(const Sizes &sizes,
                 cudnn::ElementType type = cudnn::DATA_FLOAT);
  /// A packed tensor of f32 in the memory of the graph.
  Tensor inMemory(const Sizes &sizes);
  Tensor scalar(float value);

  Tensor scores(const Tensor &queries, const Tensor &keys);
  Tensor mask(Tensor scores);
  Tensor keepWhere(const Tensor &scores, cudnn::PointwiseMode comparison,
                   bool isShifted);
  Tensor matmul(const Tensor &a, const Tensor &b, Tensor result);
  Tensor reduce(cudnn::ReductionOperator kind, const Tensor &x, Tensor result);
  Tensor reshape(const Tensor &x, Tensor result);
  Tensor pointwise(cudnn::PointwiseMode mode, const Tensor &x, const Tensor *b,
                   Tensor result, const Tensor *t = nullptr,
                   cudnn::ElementType precision = cudnn::DATA_FLOAT,
                   int64_t axis = -1);
  void sumOverGroup(const Tensor &product, int32_t role);

  void set(cudnn::Descriptor descriptor, cudnn::AttributeName name,
           const Tensor &tensor) {
    own.set(descriptor, name, cudnn::TYPE_BACKEND_DESCRIPTOR,
            tensor.descriptor);
  }
  void addOperation(cudnn::Descriptor operation);

  const Sizes &sizesOf(int32_t role) const;
  Sizes scoreSizes() const;
  Sizes rowSizes() const;

  Descriptors own;
  const size_t version; ///< Of the library.
  const Attention attention;
  const bool isBackward, isFast;
  cudnn::ElementType element;
  std::vector<cudnn::Descriptor> operations;
  cudnn::Descriptor graph = nullptr;
  std::vector<int32_t> roles; ///< Operands of the graph.
  struct Scalar {
    int64_t id;
    float value;
  };
  std::list<Scalar> scalars; ///< Their addresses stay.
  Tensor scale = {};
  /// Tensors in memory: their ids and their places.
  std::vector<std::pair<int64_t, int64_t>> places;
  int64_t bytesBetween = 0, nextId = firstId;
  /// Ids of operands are their roles and 1.
  static constexpr int64_t firstId = BRAID_RT_ATTENTION_BACKWARD_OPERANDS + 1;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_CUDNN_ATTENTIONGRAPH_H
