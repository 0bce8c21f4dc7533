//===- DropDeallocations.cpp - Erase deallocations ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace braid {
#define GEN_PASS_DEF_DROPDEALLOCATIONSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {
struct DropDeallocationsPass
    : public braid::StructuralPass<
          braid::impl::DropDeallocationsPassBase<DropDeallocationsPass>> {
  LogicalResult transform() override {
    getOperation()->walk([](memref::DeallocOp dealloc) { dealloc->erase(); });
    return success();
  }
};
} // namespace
