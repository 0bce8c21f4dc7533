//===- ComputeCalls.cpp - Calls of a program as data ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/ComputeCalls.h"
#include "CUDA/Device/Cudnn/Attentions.h"
#include "CUDA/Device/Cudnn/Convolutions.h"
#include "CUDA/Device/Matmuls.h"
#include "CUDA/Device/Memory.h"
#include "CUDA/Device/Modules.h"

#include <cstring>

using namespace braid::rt;
using namespace braid::rt::cuda;

namespace {
enum class Kind : uint64_t {
  Launch,
  Matmul,
  Attention,
  Convolution,
  Copy,
  Write
};
} // namespace

template <typename T> static uint64_t toWord(const T &value) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  uint64_t word = 0;
  std::memcpy(&word, &value, sizeof(T));
  return word;
}

template <typename T> static void fromWord(uint64_t word, T &value) {
  std::memcpy(&value, &word, sizeof(T));
}

template <typename T> static T readWord(const uint64_t *word) {
  T value = {};
  fromWord(*word, value);
  return value;
}

/// Appends bytes, filled up with zeros to whole words.
static void appendBytes(CallWords &words, const void *from, size_t bytes) {
  size_t old = words.size();
  words.resize(old + (bytes + 7) / 8);
  std::memcpy(&words[old], from, bytes);
}

static void begin(CallWords &words, Kind kind) {
  words.assign(1, static_cast<uint64_t>(kind));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

// kind, kernel, grid, block, shared memory, number of arguments, and for each
// argument its bytes and its value.

void braid::rt::cuda::encodeLaunch(CallWords &words,
                                   const braid_rt_kernel &kernel,
                                   const LaunchSize &size, void **arguments,
                                   const std::vector<size_t> &sizes) {
  begin(words, Kind::Launch);
  words.push_back(toWord(&kernel));
  for (const int64_t *triple : {size.grid, size.block})
    for (int i = 0; i < 3; ++i)
      words.push_back(toWord(triple[i]));
  words.push_back(toWord(size.sharedBytes));
  words.push_back(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    words.push_back(sizes[i]);
    appendBytes(words, arguments[i], sizes[i]);
  }
}

static void makeLaunch(Modules &modules, const uint64_t *words) {
  const auto *kernel = readWord<const braid_rt_kernel *>(words++);
  LaunchSize size = {};
  for (int64_t *triple : {size.grid, size.block})
    for (int i = 0; i < 3; ++i)
      fromWord(*words++, triple[i]);
  fromWord(*words++, size.sharedBytes);
  uint64_t count = *words++;
  std::vector<void *> arguments;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t bytes = *words++;
    // The driver only reads arguments.
    arguments.push_back(const_cast<uint64_t *>(words));
    words += (bytes + 7) / 8;
  }
  modules.launch(*kernel, size, arguments.data(), static_cast<int64_t>(count));
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

/// Visits every field: the padding of the struct has no defined value.
template <typename Matmul, typename Visit>
static void forEachField(Matmul &matmul, Visit visit) {
  visit(matmul.dtype);
  visit(matmul.transposeA);
  visit(matmul.transposeB);
  visit(matmul.batch);
  visit(matmul.m);
  visit(matmul.n);
  visit(matmul.k);
  visit(matmul.lda);
  visit(matmul.ldb);
  visit(matmul.beta);
  visit(matmul.ldc);
  visit(matmul.strideA);
  visit(matmul.strideB);
  visit(matmul.strideC);
  visit(matmul.options.resultDtype);
  visit(matmul.options.epilogue);
  visit(matmul.options.multiprocessors);
  visit(matmul.options.precision);
  visit(matmul.options.bias);
}

void braid::rt::cuda::encodeMatmul(CallWords &words, const Matmul &matmul,
                                   const void *a, const void *b, void *c) {
  begin(words, Kind::Matmul);
  forEachField(matmul,
               [&](const auto &field) { words.push_back(toWord(field)); });
  words.insert(words.end(), {toWord(a), toWord(b), toWord(c)});
}

static void makeMatmul(Matmuls &matmuls, const uint64_t *words) {
  Matmul matmul = {};
  forEachField(matmul, [&](auto &field) { fromWord(*words++, field); });
  matmuls.multiply(matmul, readWord<const void *>(words),
                   readWord<const void *>(words + 1),
                   readWord<void *>(words + 2));
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Visits every field: the padding of the structs has no defined value.
template <typename AttentionLike, typename Visit>
static void forEachFieldOf(AttentionLike &attention, Visit visit) {
  visit(attention.isBackward);
  visit(attention.options.scale);
  visit(attention.options.window);
  visit(attention.options.causal);
  visit(attention.options.reserved);
  for (auto &operand : attention.operands) {
    visit(operand.data);
    visit(operand.dtype);
    for (auto &size : operand.sizes)
      visit(size);
    for (auto &stride : operand.strides)
      visit(stride);
  }
}

void braid::rt::cuda::encodeAttention(CallWords &words,
                                      const Attention &attention) {
  begin(words, Kind::Attention);
  forEachFieldOf(attention,
                 [&](const auto &field) { words.push_back(toWord(field)); });
}

static void makeAttention(Attentions &attentions, const uint64_t *words) {
  Attention attention;
  forEachFieldOf(attention, [&](auto &field) { fromWord(*words++, field); });
  attentions.attend(attention);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Visits every field: the padding of the structs has no defined value.
template <typename ConvolutionLike, typename Visit>
static void forEachPartOf(ConvolutionLike &convolution, Visit visit) {
  visit(convolution.kind);
  visit(convolution.spatialDims);
  visit(convolution.dtype);
  visit(convolution.precision);
  visit(convolution.groups);
  for (auto &dim : convolution.window) {
    visit(dim.stride);
    visit(dim.dilation);
    visit(dim.low);
    visit(dim.high);
  }
  for (auto &operand : convolution.operands) {
    visit(operand.data);
    for (auto &size : operand.sizes)
      visit(size);
    for (auto &stride : operand.strides)
      visit(stride);
  }
}

void braid::rt::cuda::encodeConvolution(CallWords &words,
                                        const Convolution &convolution) {
  begin(words, Kind::Convolution);
  forEachPartOf(convolution,
                [&](const auto &field) { words.push_back(toWord(field)); });
}

static void makeConvolution(Convolutions &convolutions, const uint64_t *words) {
  Convolution convolution;
  forEachPartOf(convolution, [&](auto &field) { fromWord(*words++, field); });
  convolutions.convolve(convolution);
}

//===----------------------------------------------------------------------===//
// Copies and writes
//===----------------------------------------------------------------------===//

void braid::rt::cuda::encodeCopy(CallWords &words, DevicePointer destination,
                                 DevicePointer source, int64_t bytes) {
  begin(words, Kind::Copy);
  words.insert(words.end(),
               {toWord(destination), toWord(source), toWord(bytes)});
}

void braid::rt::cuda::encodeWrite(CallWords &words, DevicePointer device,
                                  const void *host, int64_t bytes) {
  begin(words, Kind::Write);
  words.insert(words.end(), {toWord(device), toWord(bytes)});
  appendBytes(words, host, static_cast<size_t>(bytes));
}

void braid::rt::cuda::makeCall(const CallTargets &targets,
                               const uint64_t *words) {
  auto kind = static_cast<Kind>(*words++);
  switch (kind) {
  case Kind::Launch:
    return makeLaunch(targets.modules, words);
  case Kind::Matmul:
    return makeMatmul(targets.matmuls, words);
  case Kind::Attention:
    return makeAttention(targets.attentions, words);
  case Kind::Convolution:
    return makeConvolution(targets.convolutions, words);
  case Kind::Copy:
    return targets.memory.copy(readWord<DevicePointer>(words),
                               readWord<DevicePointer>(words + 1),
                               readWord<int64_t>(words + 2));
  case Kind::Write:
    return targets.memory.write(readWord<DevicePointer>(words), words + 2,
                                readWord<int64_t>(words + 1));
  }
}
