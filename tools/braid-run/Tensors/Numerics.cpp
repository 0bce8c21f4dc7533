//===- Numerics.cpp - Whether a program may add in another order *- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors/Numerics.h"
#include "Base/Error.h"

#include <algorithm>

using namespace braid::run;

Numerics braid::run::numericsOf(const braid_rt_world *world,
                                const braid_rt_numerics *recorded) {
  Numerics result;
  if (!recorded) {
    result.kind = Numerics::Unknown;
    return result;
  }
  for (int64_t i = 0; i < recorded->sumCount; ++i) {
    const braid_rt_reordered_sum &sum = *recorded->sums[i];
    if (braid_rt_may_reorder(world, &sum))
      result.sums.push_back({sum.operation,
                             sum.site ? rt::describeSite(*sum.site) : "",
                             sum.reason});
  }
  if (!result.sums.empty())
    result.kind = Numerics::ReorderedSums;
  return result;
}

Numerics braid::run::numericsBetween(const Numerics &a, const Numerics &b) {
  Numerics result = a;
  for (const ReorderedSum &sum : b.sums)
    if (std::find(a.sums.begin(), a.sums.end(), sum) == a.sums.end())
      result.sums.push_back(sum);
  if (!result.sums.empty())
    result.kind = Numerics::ReorderedSums;
  else if (b.kind == Numerics::Unknown)
    result.kind = Numerics::Unknown;
  return result;
}

std::string braid::run::listSums(const Numerics &numerics) {
  constexpr size_t mostListed = 3;
  std::string text;
  size_t count = std::min(mostListed, numerics.sums.size());
  for (size_t i = 0; i < count; ++i) {
    const ReorderedSum &sum = numerics.sums[i];
    text += (text.empty() ? "" : ", ") + sum.operation +
            (sum.site.empty() ? "" : " at " + sum.site) + " (" + sum.reason +
            ")";
  }
  if (size_t left = numerics.sums.size() - count)
    text += " and " + std::to_string(left) + " more";
  return text;
}
