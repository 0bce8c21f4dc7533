//===- CombinedStarts.h - Several starts as one launch ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_COMBINEDSTARTS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_COMBINEDSTARTS_H

#include "Schedule/Planning/LaunchGroups.h"

#include "braid/Cost/IR/OpCostModel.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/ScheduleIR/GraphBuilder.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// The starts of `block` that may share a launch with others. Those with one
/// key agree in all but their operands, results, labels and costs. The
/// keys with at least two starts are numbered from 0, those with the most
/// starts first. `kinds` are the kinds of collectives that may be combined.
llvm::SmallVector<LaunchItem>
findCombinableStarts(const BlockGraph &block, OpCostModel &model,
                     llvm::ArrayRef<CollectiveKind> kinds);

/// `block` for the copies of its ops in `mapping`.
BlockGraph mapGraph(const BlockGraph &block, const mlir::IRMapping &mapping);

/// Replaces the starts of each group of `groups`, which stand in the order of
/// `groups`, by one start at the place of the last one. The values of a token
/// do not change.
void combineStarts(mlir::RewriterBase &rewriter, const BlockGraph &block,
                   const LaunchGroups &groups);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_COMBINEDSTARTS_H
