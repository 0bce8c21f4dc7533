//===- Convolution.cpp - Convolutions ---------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine/Convolution.h"
#include "Core/Context.h"

#include <algorithm>

using namespace braid::rt;

static std::string describeShape(const Convolution::Operand &operand,
                                 size_t rank) {
  std::string text;
  for (size_t i = 0; i != rank; ++i)
    text += (i ? "x" : "") + std::to_string(operand.sizes[i]);
  return text;
}

std::string Convolution::describe() const {
  const char *kinds[] = {"convolution ", "convolution_backward_data ",
                         "convolution_backward_filter "};
  const char *name = braid_rt_dtype_name(dtype);
  return kinds[kind] + describeShape(operand(BRAID_RT_CONVOLUTION_X), rank()) +
         " by " + describeShape(operand(BRAID_RT_CONVOLUTION_W), rank()) + " " +
         (name ? name : "?");
}

/// Throws an Error unless operand `name` of the call has `expected` elements in
/// dimension `dim`.
static void checkSize(const Convolution &call, const char *name,
                      const Convolution::Operand &operand, size_t dim,
                      int64_t expected) {
  if (operand.sizes[dim] != expected)
    throw Error(call.describe() + ": operand " + name + " is " +
                describeShape(operand, call.rank()) + ", expected " +
                std::to_string(expected) + " elements in dimension " +
                std::to_string(dim));
}

/// Throws an Error unless the options have values of their enumerations.
static void checkOptions(const braid_rt_convolution_options &options) {
  auto check = [](const char *name, int64_t value, int64_t least,
                  int64_t most) {
    if (value < least || value > most)
      throw Error("convolution: " + std::string(name) + " is " +
                  std::to_string(value) + ", expected " +
                  std::to_string(least) + " to " + std::to_string(most));
  };
  check("kind", options.kind, BRAID_RT_CONVOLUTION_FORWARD,
        BRAID_RT_CONVOLUTION_BACKWARD_FILTER);
  check("spatialDims", options.spatialDims, 1,
        BRAID_RT_CONVOLUTION_MAX_SPATIAL);
  check("groups", options.groups, 1, INT32_MAX);
  check("precision", options.precision, BRAID_RT_PRECISION_F32,
        BRAID_RT_PRECISION_TF32);
  for (int32_t i = 0; i != options.spatialDims; ++i) {
    check("stride", options.window[4 * i], 1, INT32_MAX);
    check("dilation", options.window[4 * i + 1], 1, INT32_MAX);
    check("low padding", options.window[4 * i + 2], 0, INT32_MAX);
    check("high padding", options.window[4 * i + 3], 0, INT32_MAX);
  }
}

static void checkFit(const Convolution &call) {
  const char *const names[] = {"x", "w", "y"};
  for (size_t i = 0; i != BRAID_RT_CONVOLUTION_OPERANDS; ++i) {
    const Convolution::Operand &operand = call.operands[i];
    if (!operand.data)
      throw Error(call.describe() + ": operand " + names[i] + " has no data");
    for (size_t dim = 0; dim != call.rank(); ++dim)
      if (operand.sizes[dim] < 1)
        throw Error(call.describe() + ": operand " + names[i] + " is " +
                    describeShape(operand, call.rank()) +
                    ", expected at least 1 element in each dimension");
  }
  const Convolution::Operand &x = call.operand(BRAID_RT_CONVOLUTION_X);
  const Convolution::Operand &w = call.operand(BRAID_RT_CONVOLUTION_W);
  const Convolution::Operand &y = call.operand(BRAID_RT_CONVOLUTION_Y);
  if (x.sizes[1] % call.groups != 0 || w.sizes[0] % call.groups != 0)
    throw Error(call.describe() + ": there are " + std::to_string(call.groups) +
                " groups, expected a number that divides the features " +
                std::to_string(x.sizes[1]) + " and " +
                std::to_string(w.sizes[0]));
  checkSize(call, "w", w, 1, x.sizes[1] / call.groups);
  checkSize(call, "y", y, 0, x.sizes[0]);
  checkSize(call, "y", y, 1, w.sizes[0]);
  for (size_t i = 0; i + 2 != call.rank(); ++i) {
    const Convolution::Dim &dim = call.window[i];
    int64_t room = x.sizes[2 + i] + dim.low + dim.high -
                   dim.dilation * (w.sizes[2 + i] - 1) - 1;
    checkSize(call, "y", y, 2 + i, room < 0 ? 0 : room / dim.stride + 1);
  }
}

void braid_rt_convolution(const braid_rt_convolution_options *options,
                          const braid_rt_convolution_operand *operands,
                          const braid_rt_site *site) {
  leaveOnError([&](Context &context) {
    context.atSite(site, [&]() {
      checkOptions(*options);
      Convolution call;
      call.kind = options->kind;
      call.spatialDims = options->spatialDims;
      call.dtype = options->dtype;
      call.precision = options->precision;
      call.groups = options->groups;
      for (size_t i = 0; i + 2 != call.rank(); ++i) {
        const int64_t *dim = options->window + 4 * i;
        call.window[i] = {dim[0], dim[1], dim[2], dim[3]};
      }
      for (size_t i = 0; i != BRAID_RT_CONVOLUTION_OPERANDS; ++i) {
        Convolution::Operand &operand = call.operands[i];
        operand.data = operands[i].data;
        std::copy_n(operands[i].sizes, call.rank(), operand.sizes.begin());
        std::copy_n(operands[i].strides, call.rank(), operand.strides.begin());
      }
      checkFit(call);
      if (!context.skips(BRAID_RT_SKIP_COMPUTE))
        context.device.convolve(call);
    });
  });
}
