//===- Descriptions.cpp - What tells commands apart -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Commands/Descriptions.h"

#include <cstring>

using namespace braid::rt;
using namespace braid::rt::cuda;

namespace {
/// Appends numbers and addresses, each as a word.
class Words {
public:
  Words(std::vector<uint64_t> &words, CommandKind kind) : words(words) {
    words.push_back(kind);
  }

  template <typename... T> void add(T... values) { (addOne(values), ...); }
  template <typename T> void addAll(const T &values) {
    for (auto value : values)
      addOne(value);
  }

private:
  void addOne(const void *pointer) {
    words.push_back(reinterpret_cast<uintptr_t>(pointer));
  }
  void addOne(double value) {
    uint64_t word = 0;
    std::memcpy(&word, &value, sizeof(word));
    words.push_back(word);
  }
  void addOne(int64_t value) { words.push_back(static_cast<uint64_t>(value)); }
  void addOne(int32_t value) { addOne(static_cast<int64_t>(value)); }
  void addOne(size_t value) { words.push_back(value); }
  void addOne(bool value) { words.push_back(value); }
  void addOne(char value) {
    words.push_back(static_cast<unsigned char>(value));
  }

  std::vector<uint64_t> &words;
};
} // namespace

void cuda::describe(const Matmul &p, const void *a, const void *b,
                    const void *c, std::vector<uint64_t> &words) {
  Words to(words, MatmulCommand);
  to.add(p.dtype, p.transposeA, p.transposeB, p.batch, p.m, p.n, p.k, p.lda,
         p.ldb, p.ldc, p.strideA, p.strideB, p.strideC, p.beta);
  const braid_rt_matmul_options &options = p.options;
  to.add(options.resultDtype, options.epilogue, options.multiprocessors,
         options.precision, options.bias);
  to.add(a, b, c);
}

void cuda::describe(const RoutineCall &call, std::vector<uint64_t> &words) {
  Words to(words, RoutineCommand);
  to.add(call.routine, call.dimensions, call.flags.size());
  to.addAll(call.flags);
  for (const auto *views : {&call.inputs, &call.outputs})
    for (const braid_rt_view &view : *views) {
      to.add(static_cast<const void *>(view.data), view.dtype, view.rank);
      for (int32_t dim = 0; dim < view.rank; ++dim)
        to.add(view.sizes[dim]);
    }
}

void cuda::describe(const Attention &attention, std::vector<uint64_t> &words) {
  Words to(words, AttentionCommand);
  const braid_rt_attention_options &options = attention.options;
  to.add(attention.isBackward, options.scale, options.window, options.causal);
  for (const Attention::Operand &operand : attention.operands) {
    to.add(static_cast<const void *>(operand.data), operand.dtype);
    to.addAll(operand.sizes);
    to.addAll(operand.strides);
  }
}

void cuda::describe(const Convolution &convolution,
                    std::vector<uint64_t> &words) {
  Words to(words, ConvolutionCommand);
  to.add(convolution.kind, convolution.spatialDims, convolution.dtype,
         convolution.precision, convolution.groups);
  for (const Convolution::Dim &dim : convolution.window)
    to.add(dim.stride, dim.dilation, dim.low, dim.high);
  for (const Convolution::Operand &operand : convolution.operands) {
    to.add(static_cast<const void *>(operand.data));
    to.addAll(operand.sizes);
    to.addAll(operand.strides);
  }
}

KeptRoutineCall::KeptRoutineCall(const RoutineCall &from) : call(from) {
  for (auto *views : {&call.inputs, &call.outputs})
    for (braid_rt_view &view : *views) {
      sizes.emplace_back(view.sizes, view.sizes + view.rank);
      view.sizes = sizes.back().data();
    }
}
