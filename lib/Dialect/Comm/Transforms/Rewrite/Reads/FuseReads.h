//===- FuseReads.h - Compute what is read, where it is read -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_READS_FUSEREADS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_READS_FUSEREADS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// True if the body of `op` computes an element of the only result from
/// elements of the inputs whose places are dimensions or constants.
bool isComputedAnywhere(mlir::linalg::GenericOp op);

/// The element at `places` of the result of `producer`, which is computed
/// anywhere, by ops at the insertion point of `rewriter`. `read` gives the
/// element of an input, a tensor, at some places; `mapping` has what stands for
/// scalars that are not there.
mlir::Value computeElement(
    mlir::RewriterBase &rewriter, mlir::Location loc,
    mlir::linalg::GenericOp producer, mlir::ArrayRef<mlir::Value> places,
    llvm::function_ref<mlir::Value(mlir::Value, mlir::ArrayRef<mlir::Value>)>
        read,
    mlir::IRMapping mapping = {});

/// True if each dimension of the reshape but one of each group has one element.
bool movesOnlyUnits(mlir::RankedTensorType expanded,
                    mlir::ArrayRef<mlir::ReassociationIndices> groups);

/// The places of the source of `expand`, which moves only units, at `places` of
/// its result.
mlir::SmallVector<mlir::Value>
getPlacesInSource(mlir::tensor::ExpandShapeOp expand,
                  mlir::ArrayRef<mlir::Value> places);

/// The element of `tensor` at `places` if `isInside`, otherwise `outside`.
/// `readsOnce` tells that no two iterations read the same element.
mlir::Value readInside(mlir::ImplicitLocOpBuilder &b, mlir::Value isInside,
                       mlir::Value tensor, mlir::ArrayRef<mlir::Value> places,
                       mlir::Value outside, bool readsOnce = false);

/// If bodies of linalg ops read single elements of the result of `producer`, an
/// elementwise op, with `tensor.extract`, and no other op reads the result,
/// computes these elements in the bodies and erases `producer`. Does nothing if
/// the bodies read more elements than the result has, unless to compute an
/// element is to read one. Returns true if it did.
bool fuseIntoReads(mlir::RewriterBase &rewriter,
                   mlir::linalg::GenericOp producer);

/// Lets elementwise ops, if no other op reads a fill with `insert`, read the
/// source where it is, instead, and erases `insert`, which leaves elements out
/// between those of the source. Returns true if it did.
bool readThroughInsert(mlir::RewriterBase &rewriter,
                       mlir::tensor::InsertSliceOp insert);

/// Lets bodies that read single elements of a tensor with constant padding, or
/// elementwise ops that read slices of it, if no other op reads it, read the
/// source instead, and erases `pad`. Returns true if it did. What the ops
/// compute for that may take the time of `opsPerByte` for each byte of the
/// padding.
bool readThroughPad(mlir::RewriterBase &rewriter, mlir::tensor::PadOp pad,
                    int64_t opsPerByte);

/// Lets bodies that read single elements of a tensor with more dimensions of
/// one element read the tensor itself, and erases `expand` if nobody else uses
/// it.
void readThroughExpand(mlir::RewriterBase &rewriter,
                       mlir::tensor::ExpandShapeOp expand);

/// Lets bodies that read single elements of a collapsed result of an
/// elementwise op, if no other op reads it, read the result itself, and erases
/// `collapse`. Returns true if it did.
bool readThroughCollapse(mlir::RewriterBase &rewriter,
                         mlir::tensor::CollapseShapeOp collapse);

/// The number of ops that compute an element of `table` from its place; none if
/// the elements are no integers, or too many without a rule.
std::optional<uint64_t> countOpsOfTable(mlir::ElementsAttr table);

/// The element of `table`, which `countOpsOfTable` has ops for, at `places`.
mlir::Value readTable(mlir::DenseIntElementsAttr table,
                      mlir::ArrayRef<mlir::Value> places,
                      mlir::ImplicitLocOpBuilder &b);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_READS_FUSEREADS_H
