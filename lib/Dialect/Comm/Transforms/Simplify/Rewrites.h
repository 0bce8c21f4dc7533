//===- Rewrites.h - The rewrites of comm-simplify ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_SIMPLIFY_REWRITES_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_SIMPLIFY_REWRITES_H

#include "AwaitedValue.h"

#include "braid/Dialect/Comm/Transforms/PassOptions.h"

namespace braid::comm {

/// How many collectives each rewrite has changed or erased.
struct SimplifyCounts {
  int64_t moved = 0;
  int64_t merged = 0;
  int64_t erased = 0;
  int64_t scattered = 0;
  int64_t joined = 0;
};

/// What rewrites share: how they change the program, what they may change, and
/// what they have done. A rewrite gets a wait, and returns false if it has
/// changed nothing.
struct RewriteState {
  mlir::RewriterBase &rewriter;
  Numerics numerics = Numerics::Exact;
  ErasedStarts erased;
  SimplifyCounts counts;
};

/// Erases a collective whose value nothing uses.
bool eraseUnused(RewriteState &state, WaitOp wait);

/// Computes elementwise what uses the value of `wait` alone in front of the
/// collective, if fewer bytes are transferred then, or if a gather becomes one
/// along dimension 0. The values of several collectives with the same
/// operation may be combined so: `f(all_gather a, all_gather b)` becomes
/// `all_gather f(a, b)`, and a sum of sums the sum of a sum.
bool moveInFront(RewriteState &state, WaitOp wait);

/// Moves a conversion to a narrower type, with which all users of the value of
/// `wait` begin, in front of the collective.
bool moveConversionInFront(RewriteState &state, WaitOp wait);

/// True if `moveBehind` changes the collective of `wait`.
bool canMoveBehind(WaitOp wait);

/// Computes elementwise what the collective of `wait` takes behind it, if fewer
/// bytes are transferred then: `all_gather (widen x)` becomes
/// `widen (all_gather x)`.
bool moveBehind(RewriteState &state, WaitOp wait);

/// Replaces parts of the value of `wait` that are this rank's own ones: of a
/// gather by its operand, of an all-reduce, if all users take only them, by the
/// value of a reduce-scatter.
bool takeOwnParts(RewriteState &state, WaitOp wait);

/// True if `joinGather` changes the collective of `wait`.
bool canJoinGather(WaitOp wait);

/// Replaces a reduce-scatter and the gather of its parts, whose wait is `wait`,
/// by an all-reduce.
bool joinGather(RewriteState &state, WaitOp wait);

/// Two collectives that do the same to the same operands, in this order.
struct EqualCollectives {
  WaitOp first, second;
};

/// Visits the collectives of `block` that an earlier one of the block is equal
/// to, in program order, each with the earliest one. `visit` may merge them.
void visitEqualCollectives(
    mlir::Block &block,
    llvm::function_ref<void(const EqualCollectives &)> visit);

/// True if the first value lives until the second collective starts, so that
/// nothing lives longer without the second one.
bool isStillLive(const EqualCollectives &equal);

/// Replaces the second value by the first one.
void mergeEqual(RewriteState &state, const EqualCollectives &equal);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_SIMPLIFY_REWRITES_H
