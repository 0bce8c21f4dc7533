//===- Compare.h - Comparing results ----------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TENSORS_COMPARE_H
#define BRAID_TOOLS_BRAID_RUN_TENSORS_COMPARE_H

#include "Options/Options.h"
#include "Tensors/Tensor.h"

#include <string>

namespace braid::run {

/// The allowed error of a result.
struct Allowance {
  bool exact = true;
  double relative = 0; ///< To the largest element of the expected tensor.
  /// The fraction of the elements that may be off by `outlierFactor` as much.
  double outliers = 0;
  static constexpr double outlierFactor = 4;
};

/// The allowed error between two computations with different rounding: a few
/// roundings to `dtype`, and those of sums of `depth` terms in the type of the
/// accumulation, whose errors add up like a random walk. A value of 8 or 16
/// bits that is rounded the other way grows over several layers, so few
/// elements in 100,000 of such types may be off by more. Integers and booleans
/// are exact.
Allowance allowRounding(int32_t dtype, int64_t depth);

/// An estimate of the longest sum of a program: the largest size of an argument
/// or result of its entry, times the number of ranks.
int64_t reductionDepth(const braid_rt_entry &entry, int32_t ranks);

/// The result of a comparison.
struct Difference {
  std::string text;    ///< The first difference; empty: within the allowance.
  double relative = 0; ///< The largest error, as in Allowance.
  bool isBitwise = false; ///< Not even a bit is different.
};

/// Compares two tensors. `origin` is the origin of the expected tensor,
/// `as written`.
Difference compareTensors(const Tensor &found, const Tensor &expected,
                          const Allowance &allowance,
                          const std::string &origin);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TENSORS_COMPARE_H
