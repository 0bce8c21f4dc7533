//===- ReorderedSums.h - The attribute of reordered sums --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_REORDEREDSUMS_H
#define BRAID_DIALECT_COMM_IR_REORDEREDSUMS_H

#include "llvm/ADT/StringRef.h"

namespace braid::comm {

/// On an op that may add in another order than the program as written: a
/// dictionary with the reasons.
constexpr llvm::StringLiteral kReorderedSumsAttrName = "comm.reordered_sums";

/// What the op is a part of, or takes the place of: `in 4 chunks`.
constexpr llvm::StringLiteral kDividedName = "divided";

/// The resources that a pass has chosen for the op: `8 CTAs`.
constexpr llvm::StringLiteral kPlannedName = "planned";

} // namespace braid::comm

#endif // BRAID_DIALECT_COMM_IR_REORDEREDSUMS_H
