//===- UpdateLists.h - Updates of each window of a scatter ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_LIBRARY_TRANSFORMS_UPDATELISTS_H
#define BRAID_LIB_DIALECT_LIBRARY_TRANSFORMS_UPDATELISTS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace braid::library {

/// For each batch and each of `numWindows` windows, an i32: the number of the
/// first update of this window; the number of updates if there is none.
/// `indices` has the window of each update; the last dimension is that of the
/// updates.
mlir::Value findFirstUpdates(mlir::ImplicitLocOpBuilder &b, mlir::Value indices,
                             int64_t numWindows);

/// The same, but the last update; -1 if there is none.
mlir::Value findLastUpdates(mlir::ImplicitLocOpBuilder &b, mlir::Value indices,
                            int64_t numWindows);

/// For each batch and update, an i32: the number of the next update of the same
/// window; the number of updates if there is none.
mlir::Value findNextUpdates(mlir::ImplicitLocOpBuilder &b, mlir::Value indices);

/// Sorts the updates of each batch by their windows, and updates of one window
/// by their numbers. Of each i64 of the result, which has the sizes of
/// `indices`, the upper half is a window and the lower half an update. An index
/// that is no window becomes `numWindows`. All numbers are less than 2^30.
mlir::Value sortUpdates(mlir::ImplicitLocOpBuilder &b, mlir::Value indices,
                        int64_t numWindows);

/// For each batch of `sorted` and each window, an i32: the place in `sorted` of
/// the first update of this window or, if there is none, of a later one.
mlir::Value findFirstInSorted(mlir::ImplicitLocOpBuilder &b, mlir::Value sorted,
                              int64_t numWindows);

/// The window, an i64, of an element of `sortUpdates`, and the update, an i32.
mlir::Value getWindowOf(mlir::ImplicitLocOpBuilder &at, mlir::Value element);
mlir::Value getUpdateOf(mlir::ImplicitLocOpBuilder &at, mlir::Value element);

} // namespace braid::library

#endif // BRAID_LIB_DIALECT_LIBRARY_TRANSFORMS_UPDATELISTS_H
