//===- SinkWaits.cpp - Every wait as late as possible ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Baselines/Inductor/SinkWaits.h"

#include "SchedulingPass.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Support/IR/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMSINKWAITSPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace mlir;

namespace {
struct CommSinkWaitsPass
    : comm::PassOnModuleOrFunction<
          comm::impl::CommSinkWaitsPassBase<CommSinkWaitsPass>> {
  void runOnOperation() override {
    CallEffects calls = comm::getCallEffects(getOperation());
    RankUniformity uniformity(getOperation());
    auto noCost = [](Operation *) -> int64_t { return 0; };
    auto isWait = [](NodeKind kind) { return kind == NodeKind::Wait; };
    ScheduleChanges changes;
    FailureOr<unsigned> moved = comm::scheduleFunctions(
        comm::getHostFunctions(getOperation()), changes,
        [&](func::FuncOp function) {
          return comm::scheduleGraphs(function, calls, uniformity, noCost,
                                      sinkWaits, isWait, changes);
        });
    if (failed(moved) ||
        failed(comm::verifyChanges(getOperation(), changes, getArgument())))
      return signalPassFailure();
    emitCountRemark(getOperation(), getArgument(), "moved-waits", *moved);
  }
};
} // namespace
