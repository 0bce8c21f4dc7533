//===- Attention.h - A call of attention ------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_ENGINE_ATTENTION_H
#define BRAID_RUNTIME_ENGINE_ATTENTION_H

#include "braid-rt/Attention.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace braid::rt {

/// A call of attention or of its gradients, whose operands fit each other.
struct Attention {
  using Sizes = std::array<int64_t, 4>;
  /// An operand; without data there is none.
  struct Operand {
    void *data = nullptr;
    Sizes sizes = {}, strides = {}; ///< Batch, head, position, element.
    int32_t dtype = 0;
  };

  bool isBackward = false;
  braid_rt_attention_options options = {};
  std::array<Operand, BRAID_RT_ATTENTION_BACKWARD_OPERANDS> operands = {};

  const Operand &operand(int32_t role) const {
    return operands[static_cast<size_t>(role)];
  }
  /// `attention 1x32x2048x2048x128 bf16`: batch, heads, queries, keys, depth.
  BRAID_RT_API std::string describe() const;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_ENGINE_ATTENTION_H
