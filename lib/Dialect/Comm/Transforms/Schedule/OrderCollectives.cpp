//===- OrderCollectives.cpp - Numbers on starts ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchedulingPass.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Support/IR/Remarks.h"

#include "mlir/IR/Builders.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMORDERCOLLECTIVESPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace mlir;

namespace {
struct CommOrderCollectivesPass
    : comm::PassOnModuleOrFunction<
          comm::impl::CommOrderCollectivesPassBase<CommOrderCollectivesPass>> {
  void runOnOperation() override {
    Builder builder(&getContext());
    int64_t numStarts = 0;
    for (func::FuncOp function : comm::getHostFunctions(getOperation())) {
      int64_t number = 0;
      function->walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (!comm::getAsyncStart(op))
          return;
        op->setAttr(comm::CommDialect::kOrderAttrName,
                    builder.getI64IntegerAttr(number++));
      });
      numStarts += number;
    }
    emitCountRemark(getOperation(), getArgument(), "numbered-starts",
                    numStarts);
  }
};
} // namespace
