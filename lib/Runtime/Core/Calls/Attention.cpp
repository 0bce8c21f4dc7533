//===- Attention.cpp - Attention --------------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine/Attention.h"
#include "Core/Context.h"

#include <algorithm>

using namespace braid::rt;

/// The names of operands in messages, by their roles.
static const char *const names[] = {
    "queries",
    "keys",
    "values",
    "bias",
    "result",
    "logarithms",
    "gradient of the result",
    "gradient of the queries",
    "gradient of the keys",
    "gradient of the values",
    "gradient of the bias",
};

static std::string describeSizes(const Attention::Sizes &sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::string Attention::describe() const {
  const Sizes &queries = operand(BRAID_RT_ATTENTION_QUERIES).sizes;
  const char *dtype =
      braid_rt_dtype_name(operand(BRAID_RT_ATTENTION_QUERIES).dtype);
  return std::string(isBackward ? "attention_backward " : "attention ") +
         describeSizes({queries[0], queries[1], queries[2],
                        operand(BRAID_RT_ATTENTION_KEYS).sizes[2]}) +
         "x" + std::to_string(queries[3]) + " " + (dtype ? dtype : "?");
}

/// Throws an Error unless operand `role` has `sizes` and elements of `dtype`.
static void checkOperand(const Attention &attention, int32_t role,
                         const Attention::Sizes &sizes, int32_t dtype) {
  const Attention::Operand &operand = attention.operand(role);
  auto describe = [](const Attention::Sizes &found, int32_t type) {
    const char *name = braid_rt_dtype_name(type);
    return describeSizes(found) + " of " +
           (name ? name : "type " + std::to_string(type));
  };
  if (operand.sizes != sizes || operand.dtype != dtype)
    throw Error(attention.describe() + ": operand " + names[role] + " is " +
                describe(operand.sizes, operand.dtype) + ", expected " +
                describe(sizes, dtype));
}

static void checkOperands(const Attention &attention) {
  for (int32_t role = 0; role != BRAID_RT_ATTENTION_BACKWARD_OPERANDS; ++role) {
    bool isOptional = role == BRAID_RT_ATTENTION_BIAS ||
                      role == BRAID_RT_ATTENTION_BIAS_GRADIENT;
    if (!attention.operand(role).data && !isOptional &&
        (attention.isBackward || role < BRAID_RT_ATTENTION_OPERANDS))
      throw Error("attention: operand " + std::to_string(role) + " (" +
                  names[role] + ") has no data");
  }
  const Attention::Operand &queries =
      attention.operand(BRAID_RT_ATTENTION_QUERIES);
  const Attention::Operand &keys = attention.operand(BRAID_RT_ATTENTION_KEYS);
  const Attention::Operand &values =
      attention.operand(BRAID_RT_ATTENTION_VALUES);
  auto [batch, heads, positions, depth] = queries.sizes;
  int64_t keyHeads = keys.sizes[1], valueDepth = values.sizes[3];
  int32_t dtype = queries.dtype;
  if (keyHeads <= 0 || heads % keyHeads != 0)
    throw Error(attention.describe() + ": there are " +
                std::to_string(keyHeads) +
                " heads of keys, expected a number that divides " +
                std::to_string(heads));
  checkOperand(attention, BRAID_RT_ATTENTION_KEYS,
               {batch, keyHeads, keys.sizes[2], depth}, dtype);
  checkOperand(attention, BRAID_RT_ATTENTION_VALUES,
               {batch, keyHeads, keys.sizes[2], valueDepth}, dtype);
  checkOperand(attention, BRAID_RT_ATTENTION_RESULT,
               {batch, heads, positions, valueDepth}, dtype);
  checkOperand(attention, BRAID_RT_ATTENTION_LOG_SUMS,
               {batch, heads, positions, 1},
               dtype == BRAID_RT_F64 ? BRAID_RT_F64 : BRAID_RT_F32);
  if (const Attention::Operand &bias =
          attention.operand(BRAID_RT_ATTENTION_BIAS);
      bias.data)
    checkOperand(attention, BRAID_RT_ATTENTION_BIAS,
                 {bias.sizes[0] == 1 ? 1 : batch,
                  bias.sizes[1] == 1 ? 1 : heads,
                  bias.sizes[2] == 1 ? 1 : positions, keys.sizes[2]},
                 bias.dtype);
  if (!attention.isBackward)
    return;
  checkOperand(attention, BRAID_RT_ATTENTION_RESULT_GRADIENT,
               {batch, heads, positions, valueDepth}, dtype);
  for (auto [gradient, of] :
       {std::pair(BRAID_RT_ATTENTION_QUERY_GRADIENT,
                  BRAID_RT_ATTENTION_QUERIES),
        std::pair(BRAID_RT_ATTENTION_KEY_GRADIENT, BRAID_RT_ATTENTION_KEYS),
        std::pair(BRAID_RT_ATTENTION_VALUE_GRADIENT, BRAID_RT_ATTENTION_VALUES),
        std::pair(BRAID_RT_ATTENTION_BIAS_GRADIENT, BRAID_RT_ATTENTION_BIAS)})
    if (attention.operand(gradient).data)
      checkOperand(attention, gradient, attention.operand(of).sizes,
                   attention.operand(of).dtype);
}

static void attend(const braid_rt_attention_options *options,
                   const braid_rt_attention_operand *operands, bool isBackward,
                   const braid_rt_site *site) {
  leaveOnError([&](Context &context) {
    context.atSite(site, [&]() {
      Attention attention;
      attention.isBackward = isBackward;
      attention.options = *options;
      size_t count = isBackward ? BRAID_RT_ATTENTION_BACKWARD_OPERANDS
                                : BRAID_RT_ATTENTION_OPERANDS;
      for (size_t i = 0; i != count; ++i) {
        if (!operands[i].data)
          continue;
        Attention::Operand &operand = attention.operands[i];
        operand.data = operands[i].data;
        operand.dtype = operands[i].dtype;
        std::copy_n(operands[i].sizes, 4, operand.sizes.begin());
        std::copy_n(operands[i].strides, 4, operand.strides.begin());
      }
      checkOperands(attention);
      if (!context.skips(BRAID_RT_SKIP_COMPUTE))
        context.device.attend(attention);
    });
  });
}

void braid_rt_attention(const braid_rt_attention_options *options,
                        const braid_rt_attention_operand *operands,
                        const braid_rt_site *site) {
  attend(options, operands, /*isBackward=*/false, site);
}

void braid_rt_attention_backward(const braid_rt_attention_options *options,
                                 const braid_rt_attention_operand *operands,
                                 const braid_rt_site *site) {
  attend(options, operands, /*isBackward=*/true, site);
}
