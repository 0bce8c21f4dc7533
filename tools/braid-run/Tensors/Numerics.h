//===- Numerics.h - Whether a program may add in another order --*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TENSORS_NUMERICS_H
#define BRAID_TOOLS_BRAID_RUN_TENSORS_NUMERICS_H

#include "braid-rt/Numerics.h"

#include <string>
#include <vector>

namespace braid::run {

/// A sum that may be added in another order than in the program as written.
struct ReorderedSum {
  std::string operation; ///< `all_reduce sum`.
  std::string site;      ///< `prog.mlir:4:8`; empty if unknown.
  std::string reason;    ///< `8 CTAs, transport symmetric`.

  bool operator==(const ReorderedSum &other) const {
    return operation == other.operation && site == other.site &&
           reason == other.reason;
  }
};

/// How the results of a program relate to those of the program as written.
struct Numerics {
  enum Class {
    SameBits,
    ReorderedSums, ///< The same terms, perhaps in another order.
    Unknown        ///< The program does not record it.
  } kind = SameBits;
  std::vector<ReorderedSum> sums; ///< Of ReorderedSums.

  bool operator==(const Numerics &other) const {
    return kind == other.kind && sums == other.sums;
  }
};

/// What a program records, for this world; null: nothing.
Numerics numericsOf(const braid_rt_world *world,
                    const braid_rt_numerics *recorded);

/// How the results of two programs relate to each other, if they come from the
/// same program as written.
Numerics numericsBetween(const Numerics &a, const Numerics &b);

/// `all_reduce sum at prog.mlir:4:8 (8 CTAs), ... and 3 more`.
std::string listSums(const Numerics &numerics);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TENSORS_NUMERICS_H
