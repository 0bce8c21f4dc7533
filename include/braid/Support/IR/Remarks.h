//===- Remarks.h - Optimization remarks of the passes ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_IR_REMARKS_H
#define BRAID_SUPPORT_IR_REMARKS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace braid {

/// Returns true if the user asked for remarks (`--remarks-filter`). A pass
/// computes what only its remarks need under this condition.
inline bool areRemarksEnabled(mlir::Operation *op) {
  return op->getContext()->getRemarkEngine() != nullptr;
}

/// Emits a remark of the kind `Passed` at `op` for the pass `passName`, whose
/// name is the remark's category. `name` says what happened; `addValues` adds
/// the values. Does nothing unless the user asked for remarks.
void emitPassedRemark(
    mlir::Operation *op, llvm::StringRef passName, llvm::StringRef name,
    llvm::function_ref<void(mlir::remark::detail::InFlightRemark &)> addValues);

/// Emits a remark as `emitPassedRemark` does, with the value `Count`. Builds of
/// LLVM without statistics, as those of Debian, print none of a pass.
void emitCountRemark(mlir::Operation *op, llvm::StringRef passName,
                     llvm::StringRef name, int64_t count);

} // namespace braid

#endif // BRAID_SUPPORT_IR_REMARKS_H
