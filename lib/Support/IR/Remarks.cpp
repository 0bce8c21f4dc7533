//===- Remarks.cpp - Optimization remarks of the passes -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/IR/Remarks.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <mutex>

using namespace mlir;

/// MLIR's remark engine has no lock of its own, and function passes run in
/// several threads.
static std::mutex remarkMutex;

void braid::emitPassedRemark(
    Operation *op, StringRef passName, StringRef name,
    function_ref<void(remark::detail::InFlightRemark &)> addValues) {
  if (!areRemarksEnabled(op))
    return;
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<FunctionOpInterface>();
  remark::RemarkOpts options =
      remark::RemarkOpts::name(name).category(passName);
  if (function)
    options = options.function(function.getName());
  // The destructor of the remark emits it, under the lock.
  std::lock_guard<std::mutex> lock(remarkMutex);
  remark::detail::InFlightRemark remark = remark::passed(op->getLoc(), options);
  if (remark)
    addValues(remark);
}

void braid::emitCountRemark(Operation *op, StringRef passName, StringRef name,
                            int64_t count) {
  emitPassedRemark(op, passName, name, [&](auto &remark) {
    remark << remark::metric("Count", count);
  });
}
