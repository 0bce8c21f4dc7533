//===- CudnnGraph.cpp - Graphs of operations as loops ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudnnGraph.h"
#include "FakeCUDA.h"
#include "Reduce/SmallFloat.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace braid::rt;
using namespace fakecudnn;

int64_t Tensor::offset(const Sizes &index) const {
  int64_t sum = 0;
  for (size_t i = 0; i != 5; ++i)
    sum += index[i] * strides[i];
  return sum;
}

static int64_t bytesOf(ElementType type) {
  return type == DATA_HALF || type == DATA_BFLOAT16 ? 2
         : type == DATA_BOOLEAN                     ? 1
                                                    : 4;
}

int64_t Tensor::bytes() const {
  Sizes last = sizes;
  for (int64_t &size : last)
    --size;
  return (offset(last) + 1) * bytesOf(type);
}

template <typename Body> static void forEach(const Sizes &sizes, Body body) {
  Sizes i = {};
  for (i[0] = 0; i[0] != sizes[0]; ++i[0])
    for (i[1] = 0; i[1] != sizes[1]; ++i[1])
      for (i[2] = 0; i[2] != sizes[2]; ++i[2])
        for (i[3] = 0; i[3] != sizes[3]; ++i[3])
          for (i[4] = 0; i[4] != sizes[4]; ++i[4])
            body(i);
}

/// The element of a tensor of `sizes` that goes with element `index` of one of
/// `wider` sizes: all, or some neighbours, share it.
static size_t share(const Sizes &index, const Sizes &wider,
                    const Sizes &sizes) {
  int64_t position = 0;
  for (size_t i = 0; i != 5; ++i)
    position = position * sizes[i] + index[i] * sizes[i] / wider[i];
  return static_cast<size_t>(position);
}

static float roundTo(ElementType type, float value) {
  switch (type) {
  case DATA_HALF:
    return f16ToFloat(floatToF16(value));
  case DATA_BFLOAT16:
    return bf16ToFloat(floatToBf16(value));
  default:
    return value;
  }
}

std::vector<float> Run::load(const Tensor &tensor) {
  if (tensor.isValue)
    return {values.at(tensor.id)};
  if (tensor.isVirtual) {
    auto found = between.find(tensor.id);
    if (found == between.end())
      fake_cuda_abort("cudnnBackendExecute",
                      "an operation reads what none has computed");
    return found->second;
  }
  std::vector<float> elements;
  const void *memory = pointers.at(tensor.id);
  forEach(tensor.sizes, [&](const Sizes &index) {
    int64_t offset = tensor.offset(index);
    if (tensor.type == DATA_FLOAT)
      elements.push_back(static_cast<const float *>(memory)[offset]);
    else if (tensor.type == DATA_HALF)
      elements.push_back(
          f16ToFloat(static_cast<const uint16_t *>(memory)[offset]));
    else
      elements.push_back(
          bf16ToFloat(static_cast<const uint16_t *>(memory)[offset]));
  });
  return elements;
}

void Run::store(const Tensor &tensor, std::vector<float> elements) {
  for (float &element : elements)
    element = roundTo(tensor.type, element);
  if (!tensor.isVirtual) {
    void *memory = pointers.at(tensor.id);
    size_t number = 0;
    forEach(tensor.sizes, [&](const Sizes &index) {
      int64_t offset = tensor.offset(index);
      float element = elements[number++];
      if (tensor.type == DATA_FLOAT)
        static_cast<float *>(memory)[offset] = element;
      else
        static_cast<uint16_t *>(memory)[offset] = tensor.type == DATA_HALF
                                                      ? floatToF16(element)
                                                      : floatToBf16(element);
    });
  }
  between[tensor.id] = std::move(elements);
}

static float applyPointwise(int mode, float x, float b, float t) {
  switch (mode) {
  case POINTWISE_ADD:
    return x + b;
  case POINTWISE_MUL:
    return x * b;
  case POINTWISE_DIV:
    return x / b;
  case POINTWISE_SUB:
    return x - b;
  case POINTWISE_EXP:
    return std::exp(x);
  case POINTWISE_LOG:
    return std::log(x);
  case POINTWISE_IDENTITY:
    return x;
  case POINTWISE_CMP_GT:
    return x > b ? 1 : 0;
  case POINTWISE_CMP_GE:
    return x >= b ? 1 : 0;
  case POINTWISE_BINARY_SELECT:
    return t != 0 ? x : b;
  default:
    fake_cuda_abort("cudnnBackendExecute", "an unknown pointwise mode");
  }
}

/// y = x b, for each batch and head.
static std::vector<float> multiply(const Operation &op,
                                   const std::vector<float> &x,
                                   const std::vector<float> &b) {
  std::vector<float> y;
  forEach(op.y.sizes, [&](const Sizes &index) {
    double sum = 0;
    for (int64_t k = 0; k != op.x.sizes[3]; ++k) {
      Sizes left = index, right = index;
      left[3] = right[2] = k;
      Sizes leftSizes = op.y.sizes, rightSizes = op.y.sizes;
      leftSizes[3] = rightSizes[2] = op.x.sizes[3];
      sum += static_cast<double>(x[share(left, leftSizes, op.x.sizes)]) *
             b[share(right, rightSizes, op.b.sizes)];
    }
    y.push_back(static_cast<float>(sum));
  });
  return y;
}

static std::vector<float> reduce(const Operation &op,
                                 const std::vector<float> &x) {
  bool isMax = op.mode == REDUCE_MAX;
  std::vector<double> sums(static_cast<size_t>(op.y.count()),
                           isMax ? -std::numeric_limits<double>::infinity()
                                 : 0.0);
  size_t number = 0;
  forEach(op.x.sizes, [&](const Sizes &index) {
    double &sum = sums[share(index, op.x.sizes, op.y.sizes)];
    double element = x[number++];
    sum = isMax ? std::max(sum, element) : sum + element;
  });
  return {sums.begin(), sums.end()};
}

/// The same memory with other sizes and strides.
static std::vector<float> reshape(const Operation &op,
                                  const std::vector<float> &x) {
  std::map<int64_t, float> memory;
  size_t number = 0;
  forEach(op.x.sizes, [&](const Sizes &index) {
    memory[op.x.offset(index)] = x[number++];
  });
  std::vector<float> y;
  forEach(op.y.sizes, [&](const Sizes &index) {
    y.push_back(memory.at(op.y.offset(index)));
  });
  return y;
}

bool Operation::isConvolution() const {
  return kind >= OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR &&
         kind <= OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
}

std::array<const Tensor *, 3> Operation::roles() const {
  if (kind == OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)
    return {&x, &b, &y};
  if (kind == OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR)
    return {&y, &b, &x};
  return {&x, &y, &b};
}

/// The output of a convolution or a gradient, of its other two operands.
static std::vector<float> convolve(const Operation &op,
                                   const std::vector<float> &first,
                                   const std::vector<float> &second) {
  // Lambdas capture no structured bindings before C++20.
  std::array<const Tensor *, 3> roles = op.roles();
  const Tensor *data = roles[0], *filter = roles[1], *result = roles[2];
  const std::vector<float> *inputs[] = {data == &op.x ? &first : nullptr,
                                        filter == &op.b ? &second : nullptr,
                                        result == &op.x   ? &first
                                        : result == &op.b ? &second
                                                          : nullptr};
  std::vector<double> sums(static_cast<size_t>(op.y.count()));
  int64_t groups = data->sizes[1] / filter->sizes[1];
  forEach(result->sizes, [&](const Sizes &place) {
    forEach(filter->sizes, [&](const Sizes &tap) {
      if (tap[0] != place[1])
        return;
      Sizes at = place;
      int64_t group = place[1] / (filter->sizes[0] / groups);
      at[1] = group * filter->sizes[1] + tap[1];
      for (size_t i = 0; i != 3; ++i) {
        at[2 + i] = place[2 + i] * op.strides[i] +
                    tap[2 + i] * op.dilations[i] - op.low[i];
        if (at[2 + i] < 0 || at[2 + i] >= data->sizes[2 + i])
          return;
      }
      size_t places[] = {share(at, data->sizes, data->sizes),
                         share(tap, filter->sizes, filter->sizes),
                         share(place, result->sizes, result->sizes)};
      double product = 1;
      size_t target = 0;
      for (size_t i = 0; i != 3; ++i)
        if (inputs[i])
          product *= (*inputs[i])[places[i]];
        else
          target = places[i];
      sums[target] += product;
    });
  });
  return {sums.begin(), sums.end()};
}

void Run::compute(const Operation &op) {
  std::vector<float> x = load(op.x), b, t, y;
  if (op.hasB)
    b = load(op.b);
  if (op.hasT)
    t = load(op.t);
  if (op.kind == OPERATION_MATMUL_DESCRIPTOR)
    y = multiply(op, x, b);
  else if (op.kind == OPERATION_REDUCTION_DESCRIPTOR)
    y = reduce(op, x);
  else if (op.kind == OPERATION_RESHAPE_DESCRIPTOR)
    y = reshape(op, x);
  else if (op.isConvolution())
    y = convolve(op, x, b);
  else
    forEach(op.y.sizes, [&](const Sizes &index) {
      if (op.mode == POINTWISE_GEN_INDEX)
        return y.push_back(
            static_cast<float>(index[static_cast<size_t>(op.axis)]));
      auto at = [&](const std::vector<float> &elements, const Tensor &tensor) {
        return elements[share(index, op.y.sizes, tensor.sizes)];
      };
      y.push_back(applyPointwise(op.mode, at(x, op.x),
                                 op.hasB ? at(b, op.b) : 0,
                                 op.hasT ? at(t, op.t) : 0));
    });
  store(op.y, std::move(y));
}

void Run::run() {
  between.clear();
  for (const Operation &operation : operations)
    compute(operation);
}
