//===- SplitDeallocations.cpp - Free buffers without aliases --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

namespace braid {
#define GEN_PASS_DEF_SPLITDEALLOCATIONSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

namespace {

/// Splits off the buffers that `dealloc` frees in any case: allocations of its
/// own block that no other operand of `dealloc` aliases.
void split(bufferization::DeallocOp dealloc, BufferViewFlowAnalysis &aliases) {
  llvm::DenseMap<Value, unsigned> timesNamed;
  for (Value buffer : dealloc.getMemrefs())
    ++timesNamed[buffer];
  for (Value buffer : dealloc.getRetained())
    ++timesNamed[buffer];
  auto isFreed = [&](Value buffer, Value condition) {
    auto allocation = buffer.getDefiningOp<memref::AllocOp>();
    return allocation && allocation->getBlock() == dealloc->getBlock() &&
           matchPattern(condition, m_One()) && timesNamed.at(buffer) == 1 &&
           llvm::none_of(aliases.resolve(buffer), [&](Value alias) {
             return alias != buffer && timesNamed.contains(alias);
           });
  };

  OpBuilder builder(dealloc);
  SmallVector<Value> buffers, conditions;
  for (auto [buffer, condition] :
       llvm::zip_equal(dealloc.getMemrefs(), dealloc.getConditions())) {
    if (isFreed(buffer, condition)) {
      memref::DeallocOp::create(builder, dealloc.getLoc(), buffer);
      continue;
    }
    buffers.push_back(buffer);
    conditions.push_back(condition);
  }
  if (buffers.empty() && dealloc.getRetained().empty()) {
    dealloc.erase();
    return;
  }
  dealloc.getMemrefsMutable().assign(buffers);
  dealloc.getConditionsMutable().assign(conditions);
}

struct SplitDeallocationsPass
    : public braid::impl::SplitDeallocationsPassBase<SplitDeallocationsPass> {
  void runOnOperation() override {
    BufferViewFlowAnalysis aliases(getOperation());
    SmallVector<bufferization::DeallocOp> deallocs;
    getOperation().walk(
        [&](bufferization::DeallocOp dealloc) { deallocs.push_back(dealloc); });
    for (bufferization::DeallocOp dealloc : deallocs)
      split(dealloc, aliases);
  }
};

} // namespace
