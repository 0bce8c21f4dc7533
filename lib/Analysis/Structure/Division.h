//===- Division.h - Operations that are divided into parts ---- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_STRUCTURE_DIVISION_H
#define BRAID_LIB_ANALYSIS_STRUCTURE_DIVISION_H

#include "braid/Analysis/Structure/CommunicationSummary.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>

namespace braid {

/// The dimension along which `part`, a start, transfers a part of what `whole`
/// transfers: the same operation on fewer elements. None if it does not, and
/// where members join or split this dimension, unless `mayKeepParts`: each part
/// then has parts of all members' rows.
std::optional<int64_t> getDividedDim(const StartSummary &whole,
                                     const StartSummary &part,
                                     bool mayKeepParts);

/// The elements along dimension `dim` that `start` transfers.
int64_t getTransferredSize(const StartSummary &start, int64_t dim);

/// What is wrong with the operands of the starts of `waits`, the parts of a
/// gather of operands of type `source`: each element of the operand is in one
/// of them. Empty if nothing is.
std::string findGapOfOperands(llvm::ArrayRef<comm::WaitOp> waits,
                              mlir::Type source, int64_t dim);

/// What is wrong with the places at which the values of `waits`, the parts of
/// the value of type `whole`, are put together along `dim`: each element of the
/// whole comes from one of them. Empty if nothing is.
std::string findGap(llvm::ArrayRef<comm::WaitOp> waits, mlir::Type whole,
                    int64_t dim);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_STRUCTURE_DIVISION_H
