//===- AttentionGraph.cpp - Attention as a graph of cuDNN -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Cudnn/AttentionGraph.h"
#include "Base/Error.h"

#include <algorithm>
#include <limits>

using namespace braid::rt;
using namespace braid::rt::cuda;
using namespace braid::rt::cuda::cudnn;

AttentionGraph::AttentionGraph(const Cudnn &cudnn, Handle handle,
                               const Attention &attention, bool isFast)
    : own(cudnn), version(cudnn.getVersion()), attention(attention),
      isBackward(attention.isBackward), isFast(isFast) {
  int32_t dtype = attention.operands[BRAID_RT_ATTENTION_QUERIES].dtype;
  if (dtype != BRAID_RT_BF16 && dtype != BRAID_RT_F16)
    throw Error("cuDNN has no attention for these elements, expected bf16 or "
                "f16");
  element = dtype == BRAID_RT_BF16 ? DATA_BFLOAT16 : DATA_HALF;
  scale = scalar(static_cast<float>(attention.options.scale));
  if (isBackward)
    addBackward();
  else
    addForward();
  graph = own.createGraph(handle, operations);
}

void AttentionGraph::bind(const Attention &call, void *memory,
                          std::vector<int64_t> &ids,
                          std::vector<void *> &pointers) const {
  auto add = [&](int64_t id, void *pointer) {
    ids.push_back(id);
    pointers.push_back(pointer);
  };
  for (int32_t role : roles)
    add(role + 1, call.operands[static_cast<size_t>(role)].data);
  for (const Scalar &scalar : scalars)
    add(scalar.id, const_cast<float *>(&scalar.value));
  for (auto [id, place] : places)
    add(id, static_cast<char *>(memory) + place);
}

void AttentionGraph::addOperation(Descriptor operation) {
  own.finalize(operation);
  operations.push_back(operation);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static std::array<int64_t, 4> packed(const std::array<int64_t, 4> &sizes) {
  return {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1};
}

AttentionGraph::Tensor AttentionGraph::tensor(const Sizes &sizes,
                                              const Sizes &strides,
                                              ElementType type, int64_t id,
                                              bool isVirtual, bool isValue) {
  Descriptor descriptor = own.create(TENSOR_DESCRIPTOR);
  own.set(descriptor, TENSOR_DATA_TYPE, TYPE_DATA_TYPE, type);
  own.set(descriptor, TENSOR_DIMENSIONS, TYPE_INT64, 4, sizes.data());
  own.set(descriptor, TENSOR_STRIDES, TYPE_INT64, 4, strides.data());
  own.set(descriptor, TENSOR_UNIQUE_ID, TYPE_INT64, id);
  own.set(descriptor, TENSOR_BYTE_ALIGNMENT, TYPE_INT64, alignment);
  if (isVirtual)
    own.set(descriptor, TENSOR_IS_VIRTUAL, TYPE_BOOLEAN, true);
  if (isValue)
    own.set(descriptor, TENSOR_IS_BY_VALUE, TYPE_BOOLEAN, true);
  own.finalize(descriptor);
  return {descriptor, sizes, strides};
}

AttentionGraph::Tensor AttentionGraph::operand(int32_t role,
                                               bool isTransposed) {
  const Attention::Operand &operand =
      attention.operands[static_cast<size_t>(role)];
  Sizes sizes = operand.sizes, strides = operand.strides;
  if (isTransposed) {
    std::swap(sizes[2], sizes[3]);
    std::swap(strides[2], strides[3]);
  }
  roles.push_back(role);
  ElementType type = role == BRAID_RT_ATTENTION_LOG_SUMS ? DATA_FLOAT : element;
  return tensor(sizes, strides, type, role + 1, /*isVirtual=*/false);
}

AttentionGraph::Tensor AttentionGraph::between(const Sizes &sizes,
                                               ElementType type) {
  return tensor(sizes, packed(sizes), type, nextId++, /*isVirtual=*/true);
}

AttentionGraph::Tensor AttentionGraph::inMemory(const Sizes &sizes) {
  places.emplace_back(nextId, bytesBetween);
  int64_t bytes = sizes[0] * sizes[1] * sizes[2] * sizes[3] *
                  static_cast<int64_t>(sizeof(float));
  bytesBetween += (bytes + 255) / 256 * 256;
  return tensor(sizes, packed(sizes), DATA_FLOAT, nextId++,
                /*isVirtual=*/false);
}

AttentionGraph::Tensor AttentionGraph::scalar(float value) {
  scalars.push_back({nextId++, value});
  return tensor({1, 1, 1, 1}, {1, 1, 1, 1}, DATA_FLOAT, scalars.back().id,
                /*isVirtual=*/false, /*isValue=*/true);
}

const AttentionGraph::Sizes &AttentionGraph::sizesOf(int32_t role) const {
  return attention.operands[static_cast<size_t>(role)].sizes;
}

AttentionGraph::Sizes AttentionGraph::scoreSizes() const {
  const Sizes &queries = sizesOf(BRAID_RT_ATTENTION_QUERIES);
  return {queries[0], queries[1], queries[2],
          sizesOf(BRAID_RT_ATTENTION_KEYS)[2]};
}

AttentionGraph::Sizes AttentionGraph::rowSizes() const {
  Sizes sizes = scoreSizes();
  sizes[3] = 1;
  return sizes;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

AttentionGraph::Tensor AttentionGraph::matmul(const Tensor &a, const Tensor &b,
                                              Tensor result) {
  Descriptor kind = own.create(MATMUL_DESCRIPTOR);
  own.set(kind, MATMUL_COMP_TYPE, TYPE_DATA_TYPE, DATA_FLOAT);
  own.finalize(kind);
  Descriptor operation = own.create(OPERATION_MATMUL_DESCRIPTOR);
  set(operation, OPERATION_MATMUL_ADESC, a);
  set(operation, OPERATION_MATMUL_BDESC, b);
  set(operation, OPERATION_MATMUL_CDESC, result);
  own.set(operation, OPERATION_MATMUL_DESC, TYPE_BACKEND_DESCRIPTOR, kind);
  addOperation(operation);
  return result;
}

AttentionGraph::Tensor AttentionGraph::reduce(ReductionOperator how,
                                              const Tensor &x, Tensor result) {
  Descriptor kind = own.create(REDUCTION_DESCRIPTOR);
  own.set(kind, REDUCTION_COMP_TYPE, TYPE_DATA_TYPE, DATA_FLOAT);
  own.set(kind, REDUCTION_OPERATOR, TYPE_REDUCTION_OPERATOR_TYPE, how);
  own.finalize(kind);
  Descriptor operation = own.create(OPERATION_REDUCTION_DESCRIPTOR);
  own.set(operation, OPERATION_REDUCTION_DESC, TYPE_BACKEND_DESCRIPTOR, kind);
  set(operation, OPERATION_REDUCTION_XDESC, x);
  set(operation, OPERATION_REDUCTION_YDESC, result);
  addOperation(operation);
  return result;
}

AttentionGraph::Tensor AttentionGraph::reshape(const Tensor &x, Tensor result) {
  Descriptor operation = own.create(OPERATION_RESHAPE_DESCRIPTOR);
  set(operation, OPERATION_RESHAPE_XDESC, x);
  set(operation, OPERATION_RESHAPE_YDESC, result);
  addOperation(operation);
  return result;
}

AttentionGraph::Tensor
AttentionGraph::pointwise(PointwiseMode mode, const Tensor &x, const Tensor *b,
                          Tensor result, const Tensor *t, ElementType precision,
                          int64_t axis) {
  Descriptor kind = own.create(POINTWISE_DESCRIPTOR);
  own.set(kind, POINTWISE_MODE, TYPE_POINTWISE_MODE, mode);
  own.set(kind, POINTWISE_MATH_PREC, TYPE_DATA_TYPE, precision);
  if (axis >= 0)
    own.set(kind, POINTWISE_AXIS, TYPE_INT64, axis);
  own.finalize(kind);
  Descriptor operation = own.create(OPERATION_POINTWISE_DESCRIPTOR);
  own.set(operation, OPERATION_POINTWISE_PW_DESCRIPTOR, TYPE_BACKEND_DESCRIPTOR,
          kind);
  set(operation, OPERATION_POINTWISE_XDESC, x);
  set(operation, OPERATION_POINTWISE_YDESC, result);
  if (b)
    set(operation, OPERATION_POINTWISE_BDESC, *b);
  if (t)
    set(operation, OPERATION_POINTWISE_TDESC, *t);
  own.set(operation, OPERATION_POINTWISE_ALPHA1, TYPE_FLOAT, 1.0f);
  own.set(operation, OPERATION_POINTWISE_ALPHA2, TYPE_FLOAT, 1.0f);
  addOperation(operation);
  return result;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// scale * q.k^T + bias.
AttentionGraph::Tensor AttentionGraph::scores(const Tensor &queries,
                                              const Tensor &keys) {
  Tensor products = matmul(queries, keys, between(scoreSizes()));
  Tensor result =
      pointwise(POINTWISE_MUL, products, &scale, between(scoreSizes()));
  if (!attention.operands[BRAID_RT_ATTENTION_BIAS].data)
    return result;
  Tensor bias = operand(BRAID_RT_ATTENTION_BIAS);
  return pointwise(POINTWISE_ADD, result, &bias, between(scoreSizes()));
}

/// Keeps scores for whose query and key the comparison holds: of the query with
/// the key, or, if it is shifted, of the key and the window with the query.
AttentionGraph::Tensor AttentionGraph::keepWhere(const Tensor &scores,
                                                 PointwiseMode comparison,
                                                 bool isShifted) {
  // Older versions compute no NaN if all scores of a row are this.
  float masked = version < 91000 ? std::numeric_limits<float>::lowest()
                                 : -std::numeric_limits<float>::infinity();
  constexpr int64_t queryAxis = 2, keyAxis = 3;
  Tensor query = pointwise(POINTWISE_GEN_INDEX, scores, nullptr,
                           between(scoreSizes(), DATA_INT32), nullptr,
                           DATA_FLOAT, queryAxis);
  Tensor key = pointwise(POINTWISE_GEN_INDEX, scores, nullptr,
                         between(scoreSizes(), DATA_INT32), nullptr, DATA_FLOAT,
                         keyAxis);
  Tensor left = query, right = key;
  if (isShifted) {
    Tensor window = scalar(static_cast<float>(attention.options.window));
    left = pointwise(POINTWISE_ADD, key, &window, between(scoreSizes()));
    right = query;
  }
  Tensor isKept =
      pointwise(comparison, left, &right, between(scoreSizes(), DATA_BOOLEAN),
                nullptr, DATA_BOOLEAN);
  Tensor other = scalar(masked);
  return pointwise(POINTWISE_BINARY_SELECT, scores, &other,
                   between(scoreSizes()), &isKept);
}

AttentionGraph::Tensor AttentionGraph::mask(Tensor scores) {
  if (attention.options.causal)
    scores = keepWhere(scores, POINTWISE_CMP_GE, /*isShifted=*/false);
  if (attention.options.window > 0)
    scores = keepWhere(scores, POINTWISE_CMP_GT, /*isShifted=*/true);
  return scores;
}

//===----------------------------------------------------------------------===//
// Attention and gradients
//===----------------------------------------------------------------------===//

void AttentionGraph::addForward() {
  Tensor queries = operand(BRAID_RT_ATTENTION_QUERIES);
  Tensor keys = operand(BRAID_RT_ATTENTION_KEYS, /*isTransposed=*/true);
  Tensor masked = mask(scores(queries, keys));
  Tensor most = reduce(REDUCE_MAX, masked, between(rowSizes()));
  Tensor less = pointwise(POINTWISE_SUB, masked, &most, between(scoreSizes()));
  Tensor powers =
      pointwise(POINTWISE_EXP, less, nullptr, between(scoreSizes()));
  Tensor sums = reduce(REDUCE_ADD, powers, between(rowSizes()));
  Tensor logs = pointwise(POINTWISE_LOG, sums, nullptr, between(rowSizes()));
  pointwise(POINTWISE_ADD, most, &logs, operand(BRAID_RT_ATTENTION_LOG_SUMS));
  Tensor weights =
      pointwise(POINTWISE_DIV, powers, &sums, between(scoreSizes(), element));
  matmul(weights, operand(BRAID_RT_ATTENTION_VALUES),
         operand(BRAID_RT_ATTENTION_RESULT));
}

/// Adds up what the heads of a group give for the keys or values that they
/// share, into the operand of `role`.
void AttentionGraph::sumOverGroup(const Tensor &product, int32_t role) {
  reduce(REDUCE_ADD, product, operand(role));
}

void AttentionGraph::addBackward() {
  Sizes transposed = scoreSizes();
  std::swap(transposed[2], transposed[3]);
  Sizes transposedStrides = packed(transposed);
  transposedStrides[2] = 1;
  transposedStrides[3] = transposed[2];
  // The transposed weights of scores, rounded.
  auto transpose = [&](const Tensor &x) {
    return reshape(x, tensor(transposed, transposedStrides, element, nextId++,
                             /*isVirtual=*/true));
  };
  // a.b, or the sum of such products, for keys or values.
  auto multiplyForKeys = [&](const Tensor &a, const Tensor &b, int32_t role) {
    Sizes sizes = sizesOf(role);
    if (sizes[1] == transposed[1]) {
      matmul(a, b, operand(role));
      return;
    }
    sizes[1] = transposed[1];
    sumOverGroup(matmul(a, b, between(sizes, element)), role);
  };

  Tensor gradient = operand(BRAID_RT_ATTENTION_RESULT_GRADIENT);
  Tensor result = operand(BRAID_RT_ATTENTION_RESULT);
  Sizes resultSizes = sizesOf(BRAID_RT_ATTENTION_RESULT);
  // The strides by which the library recognizes this product.
  Sizes resultStrides = packed(resultSizes);
  resultStrides[2] = resultSizes[1] * resultSizes[3];
  Tensor shares =
      pointwise(POINTWISE_MUL, gradient, &result,
                tensor(resultSizes, resultStrides, DATA_FLOAT, nextId++,
                       /*isVirtual=*/true));
  Tensor shareSums = reduce(REDUCE_ADD, shares, between(rowSizes()));
  Tensor one = scalar(1);
  Tensor rowSums =
      pointwise(POINTWISE_MUL, shareSums, &one, inMemory(rowSizes()));

  Tensor queries = operand(BRAID_RT_ATTENTION_QUERIES);
  Tensor keys = operand(BRAID_RT_ATTENTION_KEYS, /*isTransposed=*/true);
  Tensor products = scores(queries, keys);
  Tensor logs = operand(BRAID_RT_ATTENTION_LOG_SUMS);
  Tensor less =
      pointwise(POINTWISE_SUB, products, &logs, between(scoreSizes()));
  Tensor weights =
      pointwise(POINTWISE_EXP, mask(less), nullptr, between(scoreSizes()));
  multiplyForKeys(transpose(weights), gradient,
                  BRAID_RT_ATTENTION_VALUE_GRADIENT);

  Tensor weightGradients = matmul(
      gradient, operand(BRAID_RT_ATTENTION_VALUES, /*isTransposed=*/true),
      between(scoreSizes()));
  Tensor others = pointwise(POINTWISE_SUB, weightGradients, &rowSums,
                            between(scoreSizes()));
  Tensor scoreGradients =
      pointwise(POINTWISE_MUL, others, &weights, between(scoreSizes()));
  if (attention.operands[BRAID_RT_ATTENTION_BIAS_GRADIENT].data)
    reduce(REDUCE_ADD, scoreGradients,
           operand(BRAID_RT_ATTENTION_BIAS_GRADIENT));
  Tensor scaled =
      pointwise(POINTWISE_MUL, scoreGradients, &scale, between(scoreSizes()));
  multiplyForKeys(transpose(scaled), queries, BRAID_RT_ATTENTION_KEY_GRADIENT);
  const Attention::Operand &keyOperand =
      attention.operands[BRAID_RT_ATTENTION_KEYS];
  Tensor upright =
      reshape(keys, tensor(keyOperand.sizes, keyOperand.strides, DATA_FLOAT,
                           nextId++, /*isVirtual=*/true));
  // Blocks of keys add to sums in memory, in any order. Without these sums the
  // library keeps the gradients of scores in memory instead, which takes
  // longer. Older versions do not clear the sums.
  bool hasSums = isFast && version >= 90600 &&
                 !attention.operand(BRAID_RT_ATTENTION_BIAS_GRADIENT).data;
  if (!hasSums) {
    matmul(scaled, upright, operand(BRAID_RT_ATTENTION_QUERY_GRADIENT));
    return;
  }
  Tensor sums = matmul(scaled, upright,
                       inMemory(sizesOf(BRAID_RT_ATTENTION_QUERY_GRADIENT)));
  pointwise(POINTWISE_IDENTITY, sums, nullptr,
            operand(BRAID_RT_ATTENTION_QUERY_GRADIENT));
}
