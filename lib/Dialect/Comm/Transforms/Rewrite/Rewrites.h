//===- Rewrites.h - The rewrites of comm-fuse-elementwise -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_REWRITES_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_REWRITES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// True if an elementwise kernel computes the matmul `op` in no more time than
/// a library, on a GPU that computes `opsPerByte` operations while it moves a
/// byte: each result is the sum of a few products, and reading their operands
/// takes no longer than moving all operands once and launching a kernel.
bool isShortProduct(mlir::linalg::LinalgOp op, int64_t opsPerByte);

/// Replaces each such matmul below `root` by a linalg.generic without
/// attributes, which other ops may absorb, and many matmuls of few rows and
/// columns by sums of rows. Small floats are summed in f32 and rounded once, as
/// libraries do.
void generalizeShortProducts(mlir::RewriterBase &rewriter,
                             mlir::Operation *root, int64_t opsPerByte);

/// Replaces `op`, a reduction of a few elements to each of many results or a
/// short product, by an elementwise op that combines these elements in the
/// order of the reduction. An op stays if it reduces elements that are adjacent
/// in memory, or if a library computes it. Returns true if it replaced `op`.
bool unrollReduction(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op,
                     int64_t opsPerByte);

/// If `sum` adds a slice in a tensor of zeros to another tensor, adds the slice
/// to that slice of the other tensor instead, as for the gradient of a slice in
/// a loop: no zeros are written, and no other element is read. Zeros of floats
/// keep their signs. Returns true if it did.
bool addToSlice(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp sum);

/// If each element of the result of `op` reduces all elements of its input up
/// to its place, or from its place on (a window of the whole length over a
/// padded input), replaces `op` by scans of blocks, a scan of the results of
/// blocks, and an op that combines both. For n elements this takes some
/// 2 n sqrt(n) operations instead of n * n. On a host (`opsPerByte` is 0) loops
/// over the elements take n. Floats are added in another order. Returns true if
/// it replaced `op`.
bool splitScan(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op,
               int64_t opsPerByte);

/// If `op` keeps the largest or smallest elements and their places, as JAX's
/// `argmax` does, replaces it by a reduction that finds these elements, and one
/// that finds the least place of an element equal to it: both allow any order.
/// The results are the same. A host (`opsPerByte` is 0) is faster only along
/// the innermost loop. Returns true if it replaced `op`.
bool splitArgMax(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op,
                 int64_t opsPerByte);

/// Permutes the dimensions of large tensors that only linalg.generic ops below
/// `root` write and read, so that these ops read and write fewer bytes along
/// different loops. Matmuls that do, too, exchange rows and columns. Returns
/// the number of tensors with another layout.
int64_t alignLayouts(mlir::RewriterBase &rewriter, mlir::Operation *root);

/// Lets matmuls of 8-bit floats below `root` read what the library of a Hopper
/// GPU multiplies: transposed copies, whose elements along the sum are
/// adjacent, or copies of 16 bits where sizes or types have no kernel.
void arrangeFloat8Matmuls(mlir::RewriterBase &rewriter, mlir::Operation *root);

/// Lets matmuls of TF32 below `root` that sum over the outer dimension of both
/// operands, as the gradients of weights do, read a transposed copy of the
/// smaller one, if the copy takes less time than the matmul gains. Returns the
/// number of copies.
int64_t transposeOperands(mlir::RewriterBase &rewriter, mlir::Operation *root);

/// Makes elementwise ops of the slices below `root` that are read or inserted
/// at offsets which are elements of tensors, such as the position in a cache of
/// keys: the body reads the offsets. On a GPU nobody waits for an element then,
/// and the step stays one CUDA graph. Leaves slices alone if another op needs
/// the element outside of bodies, too, or if the copy takes longer than the
/// host waits.
void readOffsetsInBodies(mlir::RewriterBase &rewriter, mlir::Operation *root);

/// Lets each `linalg.generic` below `root` whose body uses an element of a
/// tensor without dimensions that is read outside, as the predicate of a
/// `select`, take the tensor as an input. On a GPU nobody waits for the element
/// then. Leaves elements alone that other ops need, too.
void takeElementsAsInputs(mlir::RewriterBase &rewriter, mlir::Operation *root);

/// Lets loops and branches below `root` pass on as scalars what they pass on as
/// tensors without dimensions, if it follows from scalars and if a host that
/// launches kernels would wait for an element that follows from it, such as the
/// counter in the condition of a `while` of JAX. Replaces these reads. Places
/// in tensors are left to bodies.
void carryScalars(mlir::RewriterBase &rewriter, mlir::Operation *root);

/// Replaces each `tensor.extract` below `root`, outside of the bodies of linalg
/// ops, of an integer that follows from scalars alone, by ops on scalars. The
/// tensor may be a result of elementwise ops, fills, slices and reshapes of
/// such tensors, as the offsets that JAX's `scan` reads from an `arange`, or of
/// a loop that inserts a row of them in each iteration, as JAX's gradients of
/// `scan` read. Erases what nobody reads afterwards, stacks of loops included.
///
/// A GPU that computes such a tensor has to send the element to the host, which
/// waits for the element, and CUDA graphs cannot contain the program.
///
/// `mayReplace` tells which reads this is for.
void computeScalarReads(
    mlir::RewriterBase &rewriter, mlir::Operation *root,
    llvm::function_ref<bool(mlir::tensor::ExtractOp)> mayReplace =
        [](mlir::tensor::ExtractOp) { return true; });

/// Lets slices below `root` that read rows of a stack of a loop, if these are
/// slices of a tensor, read that tensor: no loop copies its slices to a stack.
void readSlicesThroughStacks(mlir::RewriterBase &rewriter,
                             mlir::Operation *root);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_REWRITES_H
