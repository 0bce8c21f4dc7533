//===- Failure.cpp - The failure of a world -------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnosis/Failure.h"

#include <algorithm>

using namespace braid::rt;

bool Failure::concerns(int32_t rank) const {
  return std::count(members.begin(), members.end(), rank) > 0;
}

std::string Failure::textFor(int32_t rank) const {
  if (concerns(rank) || (cause < 0 && members.empty()))
    return text;
  return "rank " + std::to_string(cause < 0 ? members.front() : cause) +
         " failed: " + text;
}
