//===- AssertToBraidRT.cpp - Assertions that fail a rank ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/RuntimeCalls.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace braid {
#define GEN_PASS_DEF_CONVERTASSERTTOBRAIDRTPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

/// Replaces assertion number `number` of `module`.
static void convertAssertion(ModuleOp module, cf::AssertOp assertion,
                             size_t number) {
  Location loc = assertion.getLoc();
  OpBuilder builder(assertion);
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  Value fails = arith::XOrIOp::create(builder, loc, assertion.getArg(), yes);
  auto branch = scf::IfOp::create(builder, loc, fails);
  builder.setInsertionPointToStart(branch.thenBlock());
  LLVM::GlobalOp message = createString(
      builder, module, loc, ("braid.assertion." + Twine(number)).str(),
      assertion.getMsg());
  RuntimeCallBuilder calls(builder, assertion);
  Value text = LLVM::AddressOfOp::create(builder, loc, message);
  calls.call("braid_rt_fail", Type(), {text, calls.getSite()});
  assertion->erase();
}

namespace {
struct ConvertAssertToBraidRTPass
    : public braid::StructuralPass<braid::impl::ConvertAssertToBraidRTPassBase<
          ConvertAssertToBraidRTPass>> {
  LogicalResult transform() override {
    SmallVector<cf::AssertOp> assertions;
    getOperation().walk(
        [&](cf::AssertOp assertion) { assertions.push_back(assertion); });
    for (auto [number, assertion] : llvm::enumerate(assertions))
      convertAssertion(getOperation(), assertion, number);
    return success();
  }
};
} // namespace
