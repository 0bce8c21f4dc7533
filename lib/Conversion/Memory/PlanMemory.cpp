//===- PlanMemory.cpp - Buffers as views of one arena ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/Buffers.h"
#include "../Support/ProgramAttributes.h"
#include "../Support/RuntimeCalls.h"
#include "BufferFlow.h"
#include "Conversion/Support/ProgramAttributes.h"
#include "RotateLoopBuffers.h"

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/MemoryPlan/ArenaPlan.h"
#include "braid/Support/IR/Remarks.h"
#include "mlir/Analysis/CallGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SCCIterator.h"

namespace braid {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {

constexpr int64_t kArenaAlignment = 256;

/// The time of each op of a function, in text order. An op with regions has an
/// interval.
class Times {
public:
  explicit Times(Operation *root) { number(root); }
  int64_t getBegin(Operation *op) const { return times.lookup(op).first; }
  int64_t getEnd(Operation *op) const { return times.lookup(op).second; }

private:
  void number(Operation *op) {
    int64_t begin = next++;
    for (Region &region : op->getRegions())
      for (Operation &nested : region.getOps())
        number(&nested);
    times[op] = {begin, next - 1};
  }

  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> times;
  int64_t next = 0;
};

/// The op during which the whole buffer of `allocation` is live because of its
/// use in `user`: the outermost enclosing loop without the allocation, or the
/// op around blocks that do not run in text order, or `user` itself.
Operation *getWholeUser(Operation *user, Operation *allocation) {
  Operation *whole = user;
  for (Operation *op = user;;) {
    Region *region = op->getParentRegion();
    Operation *parent = region->getParentOp();
    bool isAround = parent->isProperAncestor(allocation);
    if (!region->hasOneBlock() ||
        (isa<LoopLikeOpInterface>(parent) && !isAround))
      whole = parent;
    if (isAround)
      return whole;
    op = parent;
  }
}

class FunctionPlanner {
public:
  /// Plans all buffers of `function` except for those of the allocations
  /// `atRunTime`.
  FunctionPlanner(func::FuncOp function,
                  const llvm::SetVector<Operation *> &atRunTime)
      : function(function), times(function) {
    function.walk([&](memref::AllocOp op) {
      if (!atRunTime.contains(op))
        allocations.push_back(op);
    });
  }

  void plan();
  /// Replaces the allocations by views of `arena`.
  void replace(Value arena);

  bool empty() const { return allocations.empty(); }
  const ArenaPlan &getPlan() const { return arenaPlan; }

private:
  ArenaBuffer getLifetime(memref::AllocOp allocation);

  func::FuncOp function;
  Times times;
  SmallVector<memref::AllocOp> allocations;
  ArenaPlan arenaPlan;
};

/// True if a loop of blocks around `allocation` may carry its buffer to the
/// next iteration.
static bool isCarriedByBlocks(memref::AllocOp allocation) {
  Region *region = allocation->getParentRegion();
  if (region->hasOneBlock() ||
      llvm::none_of(getAliases(allocation.getResult()), [&](Value alias) {
        auto argument = dyn_cast<BlockArgument>(alias);
        return argument && argument.getParentRegion() == region;
      }))
    return false;
  for (auto component = llvm::scc_begin(region); !component.isAtEnd();
       ++component)
    if (component.hasCycle() &&
        llvm::is_contained(*component, allocation->getBlock()))
      return true;
  return false;
}

/// True if `function` may return the buffer of `allocation`.
static bool isReturned(memref::AllocOp allocation, func::FuncOp function) {
  return llvm::any_of(getAliases(allocation.getResult()), [&](Value alias) {
    return llvm::any_of(alias.getUsers(), [&](Operation *user) {
      return isa<func::ReturnOp>(user) && user->getParentOp() == function;
    });
  });
}

/// Replaces every memref.alloca of `function` by a memref.alloc, because
/// kernels cannot access the stack of the host.
static void replaceAllocas(func::FuncOp function) {
  SmallVector<memref::AllocaOp> allocas;
  function.walk([&](memref::AllocaOp op) { allocas.push_back(op); });
  for (memref::AllocaOp op : allocas) {
    OpBuilder builder(op);
    auto allocation = memref::AllocOp::create(
        builder, op.getLoc(), op.getType(), op.getDynamicSizes());
    op.replaceAllUsesWith(allocation.getResult());
    op.erase();
  }
}

/// Checks that the runtime can allocate the buffers of `function`.
static LogicalResult checkTypes(func::FuncOp function) {
  WalkResult result = function.walk([](memref::AllocOp op) {
    MemRefType type = op.getType();
    if (!type.getLayout().isIdentity() ||
        !getRuntimeDtype(type.getElementType())) {
      op.emitOpError() << "allocates a buffer of type " << type
                       << ", expected a contiguous row-major buffer of a type "
                          "that the runtime knows";
      return WalkResult::interrupt();
    }
    if (type.hasStaticShape() && !getTotalBytes(type)) {
      op.emitOpError() << "allocates a buffer of type " << type
                       << ", which is larger than any memory";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

ArenaBuffer FunctionPlanner::getLifetime(memref::AllocOp allocation) {
  ArenaBuffer buffer;
  buffer.bytes = *getTotalBytes(allocation.getType());
  buffer.begin = times.getEnd(function) + 1;
  buffer.end = -1;
  // A buffer is live from its first use on, not from its allocation.
  for (Value alias : getAliases(allocation.getResult()))
    for (Operation *user : alias.getUsers()) {
      Operation *whole = getWholeUser(user, allocation);
      buffer.begin = std::min(buffer.begin, times.getBegin(whole));
      buffer.end = std::max(buffer.end, times.getEnd(whole));
    }
  if (buffer.end < 0)
    buffer.begin = buffer.end = times.getBegin(allocation);
  return buffer;
}

void FunctionPlanner::plan() {
  times = Times(function);
  SmallVector<ArenaBuffer> buffers;
  for (memref::AllocOp allocation : allocations)
    buffers.push_back(getLifetime(allocation));
  arenaPlan = planArena(buffers, kArenaAlignment);
}

void FunctionPlanner::replace(Value arena) {
  llvm::DenseMap<int64_t, Value> constants;
  OpBuilder builder(function.getContext());
  for (auto [allocation, offset] :
       llvm::zip_equal(allocations, arenaPlan.offsets)) {
    Value &constant = constants[offset];
    if (!constant) {
      builder.setInsertionPointAfterValue(arena);
      constant =
          arith::ConstantIndexOp::create(builder, function.getLoc(), offset);
    }
    builder.setInsertionPoint(allocation);
    Value view = memref::ViewOp::create(builder, allocation.getLoc(),
                                        allocation.getType(), arena, constant,
                                        ValueRange());
    allocation.replaceAllUsesWith(view);
    allocation.erase();
  }
}

struct PlanMemoryPass : public braid::StructuralPass<
                            braid::impl::PlanMemoryPassBase<PlanMemoryPass>> {
  LogicalResult transform() override {
    ModuleOp module = getOperation();
    module.walk(replaceAllocas);
    SmallVector<func::FuncOp> order = sort();
    for (func::FuncOp function : order) {
      if (failed(checkTypes(function)))
        return failure();
      keepUnplannable(function);
    }
    keepReturned(order);
    for (func::FuncOp function : order) {
      for (Operation *endless : rotateLoopBuffers(function, atRunTime))
        keep(endless, "a loop with operations in flight carries it for an "
                      "unknown number of iterations");
      // Also what the loops now allocate for copies.
      keepUnplannable(function);
    }
    keepReturned(order);
    int64_t most = 0;
    for (func::FuncOp function : order)
      if (failed(plan(function, most)))
        return failure();
    module->setAttr(kArenaBytesAttrName,
                    Builder(module).getI64IntegerAttr(most));
    return success();
  }

private:
  /// Leaves `allocation` to the running program.
  void keep(Operation *allocation, StringRef reason) {
    if (!atRunTime.insert(allocation))
      return;
    emitPassedRemark(allocation, getArgument(), "memory-at-run-time",
                     [&](auto &remark) {
                       remark << mlir::remark::metric("Because", reason);
                     });
  }

  void keepUnplannable(func::FuncOp function);
  void keepReturned(ArrayRef<func::FuncOp> functions);
  SmallVector<func::FuncOp> sort();
  LogicalResult plan(func::FuncOp function, int64_t &most);
  Value addArenaArgument(func::FuncOp function, MemRefType type);

  /// The allocations that stay.
  llvm::SetVector<Operation *> atRunTime;
  /// The functions that call themselves, also through others.
  llvm::DenseSet<Operation *> recursive;
};

void PlanMemoryPass::keepUnplannable(func::FuncOp function) {
  function.walk([&](memref::AllocOp op) {
    if (!op.getType().hasStaticShape())
      keep(op, "only the program knows its size");
    else if (recursive.contains(function))
      keep(op, "its function calls itself");
    else if (isCarriedByBlocks(op))
      keep(op, "a loop of blocks carries it");
    else if (function->hasAttr(kEntryAttrName) && isReturned(op, function))
      keep(op, "the caller of the program frees it");
  });
}

/// If a buffer stays, ownership-based deallocation runs on all functions. The
/// deallocation copies a buffer that a function returns and does not own, and
/// buffers in flight cannot be copied: so returned buffers stay, too.
void PlanMemoryPass::keepReturned(ArrayRef<func::FuncOp> functions) {
  if (atRunTime.empty())
    return;
  for (func::FuncOp function : functions)
    function.walk([&](memref::AllocOp op) {
      if (isReturned(op, function))
        keep(op, "its function returns it, and other buffers stay");
    });
}

/// All functions, each after those that it calls.
SmallVector<func::FuncOp> PlanMemoryPass::sort() {
  SmallVector<func::FuncOp> order;
  const auto &graph = getAnalysis<CallGraph>();
  for (auto component = llvm::scc_begin(&graph); !component.isAtEnd();
       ++component) {
    for (CallGraphNode *node : *component) {
      if (node->isExternal())
        continue;
      auto function =
          dyn_cast<func::FuncOp>(node->getCallableRegion()->getParentOp());
      if (!function)
        continue;
      if (component.hasCycle())
        recursive.insert(function);
      order.push_back(function);
    }
  }
  return order;
}

/// Gives `function` an argument for its arena, and each call of it a buffer.
Value PlanMemoryPass::addArenaArgument(func::FuncOp function, MemRefType type) {
  unsigned number = function.getNumArguments();
  (void)function.insertArgument(number, type, DictionaryAttr(),
                                function.getLoc());
  auto uses = SymbolTable::getSymbolUses(function, getOperation());
  for (SymbolTable::SymbolUse use : *uses) {
    auto call = dyn_cast<func::CallOp>(use.getUser());
    if (!call)
      continue;
    OpBuilder builder(call);
    auto arena =
        memref::AllocOp::create(builder, call.getLoc(), type,
                                builder.getI64IntegerAttr(kArenaAlignment));
    call.getOperandsMutable().append(arena.getResult());
    if (recursive.contains(call->getParentOfType<func::FuncOp>()))
      keep(arena, "its function calls itself");
  }
  return function.getArgument(number);
}

LogicalResult PlanMemoryPass::plan(func::FuncOp function, int64_t &most) {
  // The arena of a callee may contain loop-carried buffers.
  for (Operation *endless : rotateLoopBuffers(function, atRunTime))
    return endless->emitOpError()
           << "holds what a function allocates that a loop calls; the loop "
              "carries it for an unknown number of iterations along with "
              "operations in flight, expected the function to be inlined";
  FunctionPlanner planner(function, atRunTime);
  if (planner.empty())
    return success();
  planner.plan();
  const ArenaPlan &plan = planner.getPlan();
  OpBuilder builder(function.getContext());
  auto type = MemRefType::get(plan.bytes, builder.getI8Type());
  Value arena;
  if (function->hasAttr(kEntryAttrName)) {
    builder.setInsertionPointToStart(&function.getBody().front());
    auto allocation =
        memref::AllocOp::create(builder, function.getLoc(), type,
                                builder.getI64IntegerAttr(kArenaAlignment));
    allocation->setAttr(kArenaAttrName, builder.getUnitAttr());
    arena = allocation;
    most = std::max(most, plan.bytes);
  } else {
    arena = addArenaArgument(function, type);
  }
  planner.replace(arena);
  emitPassedRemark(function, getArgument(), "arena", [&](auto &remark) {
    using mlir::remark::metric;
    remark << metric("ArenaBytes", plan.bytes)
           << metric("LowerBoundBytes", plan.lowerBound)
           << metric("Buffers", plan.offsets.size());
  });
  return success();
}

} // namespace
