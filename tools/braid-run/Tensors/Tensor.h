//===- Tensor.h - Values of any element type --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TENSORS_TENSOR_H
#define BRAID_TOOLS_BRAID_RUN_TENSORS_TENSOR_H

#include "braid-rt/braid-rt.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace braid::run {

/// A dense tensor in memory of the runtime's allocator.
class Tensor {
public:
  Tensor() = default;
  /// Allocates uninitialized memory. Throws RunError if there is not enough.
  Tensor(int32_t dtype, std::vector<int64_t> sizes);
  /// Takes ownership of memory that a program has allocated. `data` points into
  /// `allocated`.
  Tensor(int32_t dtype, std::vector<int64_t> sizes, void *allocated,
         void *data);

  int64_t count() const;
  int64_t bytes() const { return count() * braid_rt_dtype_size(dtype); }

  /// `tensor<4x?xf32>`.
  static std::string typeName(int32_t dtype, const std::vector<int64_t> &sizes);
  std::string typeName() const { return typeName(dtype, sizes); }

  /// Element `index` as text, with the digits that identify the number.
  std::string element(int64_t index) const;

  /// Element `index` of integers, booleans and real floats as a number.
  double number(int64_t index) const;

  /// Sets element `index` to a number: rounded to nearest for floats, modulo
  /// the width for integers, not zero for i1.
  void setElement(int64_t index, double value);
  /// The same for a whole number, exactly where the element type has it.
  void setInteger(int64_t index, int64_t value);

  /// All elements in nested brackets; long tensors are shortened.
  std::string text() const;

  int32_t dtype = BRAID_RT_F32;
  std::vector<int64_t> sizes;
  char *data = nullptr;

private:
  std::shared_ptr<void> owner;
};

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TENSORS_TENSOR_H
