//===- Compare.h - Comparing results ----------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_COMPARE_H
#define BRAID_TOOLS_BRAID_RUN_COMPARE_H

#include "Options.h"
#include "Tensor.h"

#include <string>

namespace braid::run {

/// How far a result may be from what was expected.
struct Allowance {
  bool exact = true;
  double relative = 0; ///< To the largest element of the expected tensor.
};

/// How far two computations of one result may be apart that round differently:
/// a few roundings to `dtype`, and those of sums of `depth` terms in the type
/// of the accumulation, whose errors add up like a random walk. Integers and
/// truth values are exact.
Allowance allowRounding(int32_t dtype, int64_t depth);

/// The longest sum of a program as its entry shows it: the largest size of its
/// arguments and results, on every rank.
int64_t reductionDepth(const braid_rt_entry &entry, int32_t ranks);

/// What a comparison has found.
struct Difference {
  std::string text;    ///< Where and what, empty: within the allowance.
  double relative = 0; ///< The largest error, as in Allowance.
};

/// Compares two tensors. `origin` says of the expected one where it is from,
/// `as written`.
Difference compareTensors(const Tensor &found, const Tensor &expected,
                          const Allowance &allowance,
                          const std::string &origin);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_COMPARE_H
