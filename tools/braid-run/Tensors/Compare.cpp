//===- Compare.cpp - Comparing results --------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors/Compare.h"
#include "Common/Parallel.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <mutex>

using namespace braid::run;

/// Half the distance between 1 and the next number; 0 for exact types.
static double roundingError(int32_t dtype) {
  switch (dtype) {
  case BRAID_RT_F64:
  case BRAID_RT_COMPLEX_F64:
    return 0x1p-53;
  case BRAID_RT_F32:
  case BRAID_RT_COMPLEX_F32:
    return 0x1p-24;
  case BRAID_RT_F16:
    return 0x1p-11;
  case BRAID_RT_BF16:
    return 0x1p-8;
  case BRAID_RT_F8E4M3FN:
    return 0x1p-4;
  case BRAID_RT_F8E5M2:
    return 0x1p-3;
  default:
    return 0;
  }
}

/// The largest error that is rounding.
static constexpr double mostRelative = 0.25;

Allowance braid::run::allowRounding(int32_t dtype, int64_t depth) {
  double own = roundingError(dtype);
  if (own == 0)
    return {};
  double sums = std::min(own, roundingError(BRAID_RT_F32));
  // A computation has a few intermediate values of the type, each of them
  // rounded.
  constexpr double roundings = 16;
  double relative =
      roundings * own + 4 * std::sqrt(static_cast<double>(depth)) * sums;
  // A larger tolerance would not detect a missing operand.
  constexpr double outliers = 1e-5;
  bool isNarrow = own > roundingError(BRAID_RT_F32);
  return {false, std::min(relative, mostRelative), isNarrow ? outliers : 0};
}

int64_t braid::run::reductionDepth(const braid_rt_entry &entry, int32_t ranks) {
  int64_t largest = 1;
  for (int64_t i = 0; i < entry.argumentCount; ++i) {
    const braid_rt_argument &argument = entry.arguments[i];
    for (int32_t d = 0; d < argument.rank; ++d)
      largest = std::max(largest, argument.sizes[d]);
  }
  return largest * ranks;
}

/// `[1, 2]`: the position of element `index`.
static std::string positionText(const std::vector<int64_t> &sizes,
                                int64_t index) {
  std::string text;
  for (size_t i = sizes.size(); i-- > 0;) {
    text = std::to_string(index % sizes[i]) + (text.empty() ? "" : ", ") + text;
    index /= sizes[i];
  }
  return "[" + text + "]";
}

static std::string differenceText(const Tensor &found, const Tensor &expected,
                                  int64_t first, int64_t different,
                                  const std::string &origin) {
  return "differs at " + positionText(found.sizes, first) + ": " +
         found.element(first) + ", " + origin + " " + expected.element(first) +
         " (" + std::to_string(different) + " of " +
         std::to_string(found.count()) + " elements differ";
}

static bool haveSameBits(const Tensor &found, const Tensor &expected) {
  auto bytes = static_cast<size_t>(found.bytes());
  return bytes == 0 || std::memcmp(found.data, expected.data, bytes) == 0;
}

static Difference compareBits(const Tensor &found, const Tensor &expected,
                              const std::string &origin) {
  int64_t size = braid_rt_dtype_size(found.dtype);
  int64_t first = -1, different = 0;
  for (int64_t i = 0; i < found.count(); ++i)
    if (std::memcmp(found.data + i * size, expected.data + i * size,
                    static_cast<size_t>(size)) != 0) {
      first = first < 0 ? i : first;
      ++different;
    }
  return {differenceText(found, expected, first, different, origin) + ")", 0};
}

/// Converts complex numbers to real ones, with another dimension for the parts.
static Tensor asReal(Tensor tensor) {
  bool isSingle = tensor.dtype == BRAID_RT_COMPLEX_F32;
  if (!isSingle && tensor.dtype != BRAID_RT_COMPLEX_F64)
    return tensor;
  tensor.dtype = isSingle ? BRAID_RT_F32 : BRAID_RT_F64;
  tensor.sizes.push_back(2);
  return tensor;
}

/// The distance of `a` and `b`; infinite if only one of them is finite.
static double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return 0;
  if (!std::isfinite(a) || !std::isfinite(b))
    return std::numeric_limits<double>::infinity();
  return std::fabs(a - b);
}

Difference braid::run::compareTensors(const Tensor &found,
                                      const Tensor &expected,
                                      const Allowance &allowance,
                                      const std::string &origin) {
  if (found.sizes != expected.sizes || found.dtype != expected.dtype)
    return {"is " + found.typeName() + ", " + origin + " " +
                expected.typeName(),
            0};
  if (haveSameBits(found, expected))
    return {"", 0, /*isBitwise=*/true};
  if (allowance.exact)
    return compareBits(found, expected, origin);
  Tensor a = asReal(found), b = asReal(expected);
  double largest = 0, error = 0;
  std::mutex mutex;
  forEachPiece(b.count(), [&](int64_t begin, int64_t end) {
    double own = 0;
    for (int64_t i = begin; i < end; ++i)
      if (double value = std::fabs(b.number(i)); std::isfinite(value))
        own = std::max(own, value);
    std::lock_guard<std::mutex> lock(mutex);
    largest = std::max(largest, own);
  });
  double allowed = allowance.relative * largest;
  int64_t first = -1, different = 0;
  forEachPiece(a.count(), [&](int64_t begin, int64_t end) {
    double ownError = 0;
    int64_t ownFirst = -1, ownDifferent = 0;
    for (int64_t i = begin; i < end; ++i) {
      double far = distance(a.number(i), b.number(i));
      ownError = std::max(ownError, far);
      if (far <= allowed)
        continue;
      ownFirst = ownFirst < 0 ? i : ownFirst;
      ++ownDifferent;
    }
    std::lock_guard<std::mutex> lock(mutex);
    error = std::max(error, ownError);
    different += ownDifferent;
    if (ownFirst >= 0 && (first < 0 || ownFirst < first))
      first = ownFirst;
  });
  Difference result;
  result.relative = error == 0 ? 0 : error / largest;
  double mostOutliers = allowance.outliers * static_cast<double>(b.count());
  double mostOff =
      std::min(Allowance::outlierFactor * allowance.relative, mostRelative);
  if (first < 0 || (static_cast<double>(different) <= mostOutliers &&
                    result.relative <= mostOff))
    return result;
  char text[160];
  std::snprintf(text, sizeof(text),
                " by more than %.3g of the largest, %.6g; the largest error is "
                "%.3g of it)",
                allowance.relative, largest, result.relative);
  result.text = differenceText(a, b, first, different, origin) + text;
  return result;
}
