//===- IterationCount.h - How often a counted loop runs ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_ITERATIONCOUNT_H
#define BRAID_SUPPORT_ITERATIONCOUNT_H

#include <cstdint>
#include <optional>

namespace llvm {
class APInt;
} // namespace llvm

namespace braid {

/// The number of iterations of a loop from `lower` to `upper`, exclusive, by
/// `step`; the largest number there is if the count needs more than 64 bits.
/// All have one width, and are unsigned if `isUnsigned`. Zero if `lower` is not
/// below `upper`, whatever the step is; otherwise none for a step that is not
/// positive. `mlir::constantTripCount` is not exact for distances that fill the
/// width.
std::optional<uint64_t> countIterations(const llvm::APInt &lower,
                                        const llvm::APInt &upper,
                                        const llvm::APInt &step,
                                        bool isUnsigned);

} // namespace braid

#endif // BRAID_SUPPORT_ITERATIONCOUNT_H
