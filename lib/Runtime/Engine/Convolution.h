//===- Convolution.h - A call of a convolution ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_ENGINE_CONVOLUTION_H
#define BRAID_RUNTIME_ENGINE_CONVOLUTION_H

#include "braid-rt/Convolution.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace braid::rt {

/// A call of a convolution or of a gradient, whose operands fit each other.
struct Convolution {
  /// An operand: features, then spatial dimensions; the rest is 0.
  struct Operand {
    void *data = nullptr;
    std::array<int64_t, BRAID_RT_CONVOLUTION_MAX_RANK> sizes = {}, strides = {};
  };
  /// A spatial dimension.
  struct Dim {
    int64_t stride = 0, dilation = 0, low = 0, high = 0;
  };

  int32_t kind = 0; ///< braid_rt_convolution_kind
  int32_t spatialDims = 0;
  int32_t dtype = 0;
  int32_t precision = 0;
  int64_t groups = 0;
  std::array<Dim, BRAID_RT_CONVOLUTION_MAX_SPATIAL> window = {};
  std::array<Operand, BRAID_RT_CONVOLUTION_OPERANDS> operands = {};

  const Operand &operand(int32_t role) const {
    return operands[static_cast<size_t>(role)];
  }
  size_t rank() const { return static_cast<size_t>(spatialDims) + 2; }
  /// `convolution 8x64x56x56 by 64x64x3x3 bf16`: the data and the filter.
  BRAID_RT_API std::string describe() const;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_ENGINE_CONVOLUTION_H
