//===- CudnnGraph.h - Graphs of operations as loops -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_INPUTS_FAKECUDA_CUDNNGRAPH_H
#define BRAID_TEST_INPUTS_FAKECUDA_CUDNNGRAPH_H

#include "CUDA/API/Cudnn.h"

#include <array>
#include <map>
#include <vector>

namespace fakecudnn {

using namespace braid::rt::cuda::cudnn;
/// 4 sizes or strides, or 5.
using Sizes = std::array<int64_t, 5>;

struct Tensor {
  ElementType type;
  Sizes sizes, strides;
  int64_t id, alignment;
  bool isVirtual, isValue;

  int64_t count() const {
    return sizes[0] * sizes[1] * sizes[2] * sizes[3] * sizes[4];
  }
  int64_t offset(const Sizes &index) const;
  int64_t bytes() const; ///< From the first element to the last one.
};

struct Operation {
  DescriptorType kind; ///< Of the operation.
  int mode = 0;        ///< PointwiseMode or ReductionOperator.
  int64_t axis = 0;
  Tensor x, y;
  bool hasB = false, hasT = false;
  Tensor b, t;
  /// Of a convolution, for the 3 dimensions behind the features.
  std::array<int64_t, 3> strides = {1, 1, 1}, dilations = {1, 1, 1}, low = {},
                         high = {};

  bool isConvolution() const;
  /// The operands of a convolution: data, filter, result.
  std::array<const Tensor *, 3> roles() const;
};

/// A graph with the memory of its tensors.
struct Run {
  explicit Run(std::vector<Operation> operations)
      : operations(std::move(operations)) {}

  const std::vector<Operation> operations;
  std::map<int64_t, void *> pointers; ///< By id.
  std::map<int64_t, float> values;    ///< Of scalars, by id.
  void run();

private:
  /// Elements in the order of the sizes.
  std::vector<float> load(const Tensor &tensor);
  void store(const Tensor &tensor, std::vector<float> elements);
  void compute(const Operation &operation);

  std::map<int64_t, std::vector<float>> between;
};

} // namespace fakecudnn

#endif // BRAID_TEST_INPUTS_FAKECUDA_CUDNNGRAPH_H
