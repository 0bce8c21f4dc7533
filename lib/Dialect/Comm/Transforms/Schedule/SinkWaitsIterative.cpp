//===- SinkWaitsIterative.cpp - Waits down, within a budget ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterativePass.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMSINKWAITSITERATIVEPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace mlir;

namespace {
struct CommSinkWaitsIterativePass
    : comm::IterativePass<comm::impl::CommSinkWaitsIterativePassBase<
          CommSinkWaitsIterativePass>> {
  using IterativePass::IterativePass;

  void runOnOperation() override {
    IterativeOptions options = getIterativeOptions();
    options.swapWithCollectives = swapWithCollectives;
    run(std::move(options), sinkWaitsIterative, "Wait node", "moved-waits");
  }
};
} // namespace
