//===- Reduction.h - Reductions in kernels ----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOGPU_REDUCTION_H
#define BRAID_LIB_CONVERSION_LINALGTOGPU_REDUCTION_H

#include "KernelBuilder.h"

namespace braid::kernels {

/// The op that combines one result of a reduction with an element.
struct Combiner {
  /// The op of the body that combines the accumulator with `element`.
  mlir::Operation *op;
  mlir::Value element;
  /// The ops of the body that convert the accumulator to `type` before `op`,
  /// and back behind it; null if the body combines in the type of the result.
  mlir::Operation *widening = nullptr, *narrowing = nullptr;
  /// The operand of `op` with the accumulator.
  unsigned accumulatorOperand;
  /// The neutral element of `op`.
  mlir::TypedAttr neutral;
  /// The type of the accumulator (the type of the result, or f32 for smaller
  /// floats), and the type to which the result is finally rounded.
  mlir::Type type, elementType;

  mlir::Value getNeutral(mlir::ImplicitLocOpBuilder &b, int64_t lanes) const;
  mlir::Value combine(mlir::ImplicitLocOpBuilder &b, mlir::Value accumulator,
                      mlir::Value value) const;
  /// Converts an element or result to the type of the accumulator, and back.
  mlir::Value widen(mlir::ImplicitLocOpBuilder &b, mlir::Value value) const;
  mlir::Value narrow(mlir::ImplicitLocOpBuilder &b, mlir::Value value) const;
  /// Combines the elements of a vector from the first to the last.
  mlir::Value combineLanes(mlir::ImplicitLocOpBuilder &b,
                           mlir::Value vector) const;
  /// Combines the values of `group` threads of a warp with a distance of
  /// `distance`, for each of these threads. Both are powers of two.
  mlir::Value combineThreads(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                             int64_t group, int64_t distance = 1) const;
  /// Combines each of `values`, a power of two of them, as `combineThreads`
  /// does, but returns to each thread only its part of the results. The parts
  /// go to the threads of the group in turn; threads share a part if there are
  /// more threads than values. `isInFirstHalf` says for a power of two whether
  /// the thread is in the first half of the threads when each so many of the
  /// group are taken together.
  llvm::SmallVector<mlir::Value> reduceScatterThreads(
      mlir::ImplicitLocOpBuilder &b, llvm::SmallVector<mlir::Value> values,
      int64_t group, int64_t distance,
      llvm::function_ref<mlir::Value(int64_t threads)> isInFirstHalf) const;

private:
  /// The value of the thread whose number differs by the bit `distance`.
  mlir::Value shuffle(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                      int64_t distance) const;
};

/// The combiners of all results of `nest`, if all allow any order.
std::optional<llvm::SmallVector<Combiner>> matchCombiners(const LoopNest &nest);

/// The loop of `nest` over columns, whose adjacent iterations are adjacent
/// elements of an input and belong to different results. Adjacent elements of
/// the other inputs are adjacent columns, too, or adjacent rows of a column.
/// Prefers the loop along which inputs with the fewest elements are strided;
/// none if there is no such loop.
std::optional<unsigned> findColumnLoop(const LoopNest &nest);

/// The input of `nest` with the most elements of those that are strided along
/// the loop `columns`; null if there is none.
const Access *findStridedInput(const LoopNest &nest, unsigned columns);

/// Copies the body of `nest` without the combiners, and returns their elements
/// as vectors of `lanes` elements of the accumulator's type.
llvm::SmallVector<mlir::Value>
emitElements(mlir::ImplicitLocOpBuilder &b, const LoopNest &nest,
             llvm::ArrayRef<Combiner> combiners, mlir::IRMapping &mapping,
             int64_t lanes, llvm::ArrayRef<mlir::Value> indices);

/// The same, but combines the elements with `accumulators`, of which null ones
/// become the elements. If `isValid` is given and false, neutral elements
/// replace the elements.
void takeElements(mlir::ImplicitLocOpBuilder &b, const LoopNest &nest,
                  llvm::ArrayRef<Combiner> combiners, mlir::IRMapping &mapping,
                  int64_t lanes, llvm::ArrayRef<mlir::Value> indices,
                  mlir::Value isValid,
                  llvm::MutableArrayRef<mlir::Value> accumulators);

/// Emits the loops `reductions` of `nest` in order around its body. They begin
/// with `values`, which become the results, and set their `indices`.
/// `mapIteration` maps the body's arguments, and returns the indices it asks
/// for. Sums of small floats have f32 in between, as in other kernels.
void reduceInOrder(mlir::ImplicitLocOpBuilder &b, const LoopNest &nest,
                   llvm::ArrayRef<unsigned> reductions,
                   llvm::function_ref<mlir::Value(unsigned loop)> getSize,
                   llvm::MutableArrayRef<mlir::Value> indices,
                   llvm::SmallVectorImpl<mlir::Value> &values,
                   llvm::function_ref<llvm::SmallVector<mlir::Value>(
                       mlir::ValueRange values, mlir::IRMapping &mapping)>
                       mapIteration);

/// How a reduction is split.
struct Split {
  /// The loop that becomes two: over parts, and within a part. The loops of
  /// reductions before it are wholly loops over parts.
  unsigned loop = 0;
  /// The iterations of the loop, and those of a part.
  int64_t size = 0, part = 0;
  /// The reductions of the op, by result.
  llvm::SmallVector<Combiner> combiners;
};

/// What `operand` is if the loop of `split` is two, with its map then: the same
/// value for all ops that need it; null if an index has a larger expression of
/// the loop.
mlir::Value splitOperand(mlir::RewriterBase &rewriter, mlir::OpOperand &operand,
                         const Split &split, mlir::AffineMap &map);

/// Gives elementwise ops before `op` that write its inputs the loops of the
/// first step, so that one kernel may compute them and reduce what they write.
void splitProducers(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op,
                    const Split &split);

/// Replaces `op`, whose loops are `nest`, by two reductions, the first of which
/// reduces parts. Returns the second one.
mlir::linalg::LinalgOp createSteps(mlir::RewriterBase &rewriter,
                                   mlir::linalg::LinalgOp op,
                                   const LoopNest &nest, const Split &split);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_REDUCTION_H
