//===- ScatterBuilder.h - What scatters become ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_LIBRARY_TRANSFORMS_SCATTERBUILDER_H
#define BRAID_LIB_DIALECT_LIBRARY_TRANSFORMS_SCATTERBUILDER_H

#include "braid/Dialect/Library/IR/Library.h"
#include "braid/Support/IR/Operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::library {

/// Builds the ops in front of one scatter on tensors.
class ScatterBuilder {
public:
  ScatterBuilder(mlir::RewriterBase &rewriter, ScatterOp op)
      : b(op.getLoc(), rewriter), op(op), indices(op.getIndices()),
        updates(op.getUpdates()), output(op.getOutput()),
        type(mlir::cast<mlir::RankedTensorType>(output.getType())),
        indexType(mlir::cast<mlir::RankedTensorType>(indices.getType())
                      .getElementType()),
        batchDims(op.getBatchDims()), indexedDims(op.getIndexedDims()),
        windowDims(op.getWindowDims()), numUpdates(op.getNumUpdates()),
        numWindows(op.getNumWindows()), element(type.getElementType()),
        accumulated(getAccumulatedType()) {
    for (int64_t dim : batchDims)
      batchSizes.push_back(type.getDimSize(dim));
  }

  bool isEmpty() const { return numUpdates == 0 || type.getNumElements() == 0; }
  /// A loop over the updates, of scalars if `mayUseScalars` and if windows are.
  mlir::Value loop(bool mayUseScalars);
  mlir::Value link();

private:
  using Conversion = mlir::Value (ScatterBuilder::*)(
      mlir::ImplicitLocOpBuilder &, mlir::Value);

  mlir::Value constant(mlir::ImplicitLocOpBuilder &at, mlir::Type kind,
                       int64_t value) {
    return mlir::arith::ConstantOp::create(at, at.getIntegerAttr(kind, value));
  }

  /// The type of an element between two updates: f32 if the updates of small
  /// floats are added or multiplied, so that the result rounds once.
  mlir::Type getAccumulatedType();
  /// The new element of `element`, of the accumulated type, and `update`, by
  /// the region of the op.
  mlir::Value combine(mlir::ImplicitLocOpBuilder &at, mlir::Value element,
                      mlir::Value update);
  /// The same of two values of the accumulated type.
  mlir::Value combineAccumulated(mlir::ImplicitLocOpBuilder &at,
                                 mlir::Value first, mlir::Value second);
  /// True if the order of the updates changes no more than roundings.
  bool isAssociative();
  /// Converts an element to the accumulated type, and back.
  mlir::Value widen(mlir::ImplicitLocOpBuilder &at, mlir::Value value) {
    return accumulated == element
               ? value
               : mlir::arith::ExtFOp::create(at, accumulated, value);
  }
  mlir::Value narrow(mlir::ImplicitLocOpBuilder &at, mlir::Value value) {
    return accumulated == element
               ? value
               : mlir::arith::TruncFOp::create(at, element, value);
  }

  mlir::AffineMap getMap(unsigned numDims,
                         llvm::ArrayRef<mlir::AffineExpr> results) {
    return mlir::AffineMap::get(numDims, 0, results, b.getContext());
  }

  //===--- Loop -----------------------------------------------------------===//

  /// The elements of `array` after `convert`, in `init`.
  mlir::Value convertArray(mlir::Value array, mlir::Value init,
                           Conversion convert);
  mlir::Value loopOverBatch(unsigned number, mlir::Value array,
                            llvm::SmallVector<mlir::Value> &positions);
  mlir::Value updateWindow(mlir::Value array,
                           llvm::ArrayRef<mlir::Value> positions);

  //===--- Lists ----------------------------------------------------------===//

  bool isSorted();
  mlir::Value expandWindows(mlir::Value found);
  /// The map from an element of the result to that of its window.
  mlir::AffineMap getMapOfWindows() {
    llvm::SmallVector<mlir::AffineExpr> dims = getBatchExprs(batchDims);
    llvm::append_range(dims, getBatchExprs(indexedDims));
    return getMap(type.getRank(), dims);
  }
  /// An integer or index for each element of the result: the number of its
  /// window.
  mlir::Value getWindow(mlir::ImplicitLocOpBuilder &at, mlir::Type kind);
  llvm::SmallVector<mlir::AffineExpr>
  getBatchExprs(llvm::ArrayRef<int64_t> dims) {
    return llvm::map_to_vector(
        dims, [&](int64_t dim) { return b.getAffineDimExpr(dim); });
  }
  /// Computes each element of the result of its old value, of `inputs` and of
  /// the indices of loops.
  mlir::Value computeElements(mlir::ValueRange inputs,
                              llvm::ArrayRef<mlir::AffineMap> maps,
                              ElementBody body);
  /// The position of update `number` (an i32) of the current batch.
  llvm::SmallVector<mlir::Value>
  getPositions(mlir::ImplicitLocOpBuilder &at, mlir::Value number,
               llvm::ArrayRef<mlir::Value> places) {
    llvm::SmallVector<mlir::Value> positions = llvm::map_to_vector(
        batchDims, [&](int64_t dim) { return places[dim]; });
    positions.push_back(
        mlir::arith::IndexCastOp::create(at, at.getIndexType(), number));
    return positions;
  }
  /// The element of `list` for update `number` (an i32) of the current batch.
  mlir::Value extractOf(mlir::ImplicitLocOpBuilder &at, mlir::Value list,
                        mlir::Value number,
                        llvm::ArrayRef<mlir::Value> places) {
    return mlir::tensor::ExtractOp::create(at, list,
                                           getPositions(at, number, places));
  }
  /// The element of update `number` (an i32) that belongs to the current
  /// element of the result.
  mlir::Value extractUpdate(mlir::ImplicitLocOpBuilder &at, mlir::Value number,
                            llvm::ArrayRef<mlir::Value> places);
  /// `value` combined with that update.
  mlir::Value combineUpdate(mlir::ImplicitLocOpBuilder &at, mlir::Value value,
                            mlir::Value number,
                            llvm::ArrayRef<mlir::Value> places);
  /// The same for the update at `place` (an i32) of the sorted updates.
  mlir::Value combineSorted(mlir::ImplicitLocOpBuilder &at, mlir::Value value,
                            mlir::Value sorted, mlir::Value place,
                            llvm::ArrayRef<mlir::Value> places);
  /// The places in the sorted updates where those of the window of the current
  /// element begin and end.
  std::pair<mlir::Value, mlir::Value>
  getRun(mlir::ImplicitLocOpBuilder &at, mlir::Value begins,
         llvm::ArrayRef<mlir::Value> places);
  bool hasLongLists();
  /// The number of updates of a chunk.
  int64_t getChunk();
  /// For each batch, each chunk of `sorted` and each place of a window: the
  /// combination of the updates of the chunk, if all of them are of one window.
  mlir::Value combineChunks(mlir::Value sorted);
  mlir::Value linkFew();
  mlir::Value takeLast();
  mlir::Value followLists();
  mlir::Value combineRuns();

  mlir::ImplicitLocOpBuilder b;
  ScatterOp op;
  mlir::Value indices, updates, output;
  mlir::RankedTensorType type;
  mlir::Type indexType;
  llvm::ArrayRef<int64_t> batchDims, indexedDims;
  llvm::SmallVector<int64_t> windowDims, batchSizes;
  int64_t numUpdates, numWindows;
  mlir::Type element, accumulated;
  bool useScalars = false;
};

} // namespace braid::library

#endif // BRAID_LIB_DIALECT_LIBRARY_TRANSFORMS_SCATTERBUILDER_H
