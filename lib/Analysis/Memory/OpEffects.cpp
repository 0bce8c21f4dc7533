//===- OpEffects.cpp - What ops do besides computing ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Memory/OpEffects.h"

#include "BufferAccesses.h"
#include "BufferRange.h"
#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid;

bool OpEffects::hasSideEffects() const {
  return isUnknown || hasStart || hasWait ||
         llvm::any_of(
             resources,
             [](const ResourceAccess &access) { return access.isWrite; }) ||
         llvm::any_of(accesses, [](const Access &access) {
           return access.isWrite && !access.buffer;
         });
}

static void addMemoryEffects(MemoryEffectOpInterface op, OpEffects &effects) {
  SmallVector<MemoryEffects::EffectInstance> instances;
  op.getEffects(instances);
  for (const MemoryEffects::EffectInstance &instance : instances) {
    SideEffects::Resource *resource = instance.getResource();
    // What orders communication is told by starts, waits and their tokens.
    if (isa<comm::CommunicatorResource, comm::RequestResource>(resource))
      continue;
    // An allocation makes new memory, which no one else knows.
    if (isa<MemoryEffects::Allocate>(instance.getEffect()))
      continue;
    bool isWrite = !isa<MemoryEffects::Read>(instance.getEffect());
    if (instance.getValue() || isa<SideEffects::DefaultResource>(resource))
      effects.accesses.push_back({instance.getValue(), isWrite});
    else
      effects.resources.push_back({resource->getResourceID(), isWrite});
  }
}

/// Adds the effects of `op` alone; returns true if those of what is nested in
/// it count too.
static bool addOwnEffects(Operation *op, CallEffects &calls,
                          OpEffects &effects) {
  if (comm::getAsyncStart(op)) {
    effects.hasStart = true;
    auto collective = dyn_cast<comm::CollectiveOpInterface>(op);
    effects.hasMessage |= collective && collective.isPointToPoint();
  }
  effects.hasWait |= isa<comm::WaitOp>(op);

  if (auto call = dyn_cast<CallOpInterface>(op)) {
    calls.addEffects(call, effects);
    return false;
  }
  // The dialect gpu does not say what a launch does.
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op)) {
    calls.addEffects(launch, effects);
    return false;
  }

  bool isRecursive = op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
  if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
    addMemoryEffects(interface, effects);
  else if (!isRecursive)
    effects.isUnknown = true;
  return isRecursive;
}

bool braid::hasNestedOps(Operation *op) {
  return llvm::any_of(op->getRegions(),
                      [](Region &region) { return !region.empty(); });
}

OpEffects braid::getOpEffects(Operation *op, CallEffects &calls) {
  OpEffects effects;
  if (!hasNestedOps(op)) {
    addOwnEffects(op, calls, effects);
    return effects;
  }
  op->walk<WalkOrder::PreOrder>([&](Operation *nested) {
    return addOwnEffects(nested, calls, effects) ? WalkResult::advance()
                                                 : WalkResult::skip();
  });
  return effects;
}

//===----------------------------------------------------------------------===//
// CallEffects
//===----------------------------------------------------------------------===//

CallEffects::CallEffects(bool entersBodies)
    : entersBodies(entersBodies), kernels(std::make_unique<KernelAccesses>()) {}

CallEffects::~CallEffects() = default;

bool CallEffects::Summary::operator==(const Summary &other) const {
  return isUnknown == other.isUnknown && hasStart == other.hasStart &&
         hasMessage == other.hasMessage && hasWait == other.hasWait &&
         readsMemory == other.readsMemory &&
         writesMemory == other.writesMemory &&
         readsArgument == other.readsArgument &&
         writesArgument == other.writesArgument;
}

/// Works out the effects of `callee` and of all that it calls.
void CallEffects::summarizeWithCallees(Operation *callee) {
  llvm::SetVector<Operation *> functions;
  llvm::DenseMap<Operation *, SmallVector<Operation *>> callers;
  functions.insert(callee);
  for (size_t i = 0; i != functions.size(); ++i) {
    Operation *caller = functions[i];
    auto function = cast<FunctionOpInterface>(caller);
    Summary &summary = summaries[caller];
    summary.readsArgument.assign(function.getNumArguments(), false);
    summary.writesArgument.assign(function.getNumArguments(), false);
    caller->walk([&](CallOpInterface call) {
      FunctionOpInterface called = getCallee(call);
      if (!called || called.isExternal() ||
          (summaries.contains(called) && !functions.contains(called)))
        return;
      functions.insert(called);
      callers[called].push_back(caller);
    });
  }

  // A change goes up to the callers. Effects only ever grow, so this ends.
  llvm::SetVector<Operation *> pending(functions.begin(), functions.end());
  while (!pending.empty()) {
    Operation *function = pending.pop_back_val();
    Summary summary = summarize(function);
    if (summary == summaries[function])
      continue;
    summaries[function] = std::move(summary);
    for (Operation *caller : callers[function])
      pending.insert(caller);
  }
}

FunctionOpInterface CallEffects::getCallee(CallOpInterface call) {
  return dyn_cast_or_null<FunctionOpInterface>(
      call.resolveCallableInTable(&symbolTables));
}

CallEffects::Summary CallEffects::summarize(Operation *operation) {
  auto function = cast<FunctionOpInterface>(operation);
  Summary summary;
  summary.readsArgument.assign(function.getNumArguments(), false);
  summary.writesArgument.assign(function.getNumArguments(), false);

  BufferResolver resolver;
  for (Block &block : function.getFunctionBody()) {
    for (Operation &op : block.without_terminator()) {
      OpEffects effects = getOpEffects(&op, *this);
      summary.isUnknown |= effects.isUnknown || !effects.resources.empty();
      summary.hasStart |= effects.hasStart;
      summary.hasMessage |= effects.hasMessage;
      summary.hasWait |= effects.hasWait;
      for (const OpEffects::Access &access : effects.accesses) {
        Value root =
            access.buffer ? resolver.resolve(access.buffer).root : Value();
        if (root && BufferResolver::isAllocation(root))
          continue;
        auto argument = dyn_cast_or_null<BlockArgument>(root);
        if (argument && argument.getOwner()->isEntryBlock() &&
            argument.getOwner()->getParentOp() == operation)
          (access.isWrite ? summary.writesArgument
                          : summary.readsArgument)[argument.getArgNumber()] =
              true;
        else
          (access.isWrite ? summary.writesMemory : summary.readsMemory) = true;
      }
    }
  }
  return summary;
}

void CallEffects::addEffects(CallOpInterface call, OpEffects &effects) {
  FunctionOpInterface function = getCallee(call);
  if (!function) {
    effects.isUnknown = true;
    return;
  }

  OperandRange operands = call.getArgOperands();
  if (function.isExternal()) {
    auto attribute = function->getAttrOfType<StringAttr>(
        comm::CommDialect::kEffectsAttrName);
    if (!attribute) {
      effects.isUnknown = true;
    } else if (attribute == "args") {
      for (Value operand : operands) {
        if (!isa<BaseMemRefType>(operand.getType()))
          continue;
        effects.accesses.push_back({operand, /*isWrite=*/false});
        effects.accesses.push_back({operand, /*isWrite=*/true});
      }
    }
    return;
  }

  if (!entersBodies || function.getNumArguments() != operands.size()) {
    effects.isUnknown = true;
    return;
  }
  if (!summaries.contains(function))
    summarizeWithCallees(function);
  const Summary &summary = summaries[function];
  effects.isUnknown |= summary.isUnknown;
  effects.hasStart |= summary.hasStart;
  effects.hasMessage |= summary.hasMessage;
  effects.hasWait |= summary.hasWait;
  if (summary.readsMemory)
    effects.accesses.push_back({Value(), /*isWrite=*/false});
  if (summary.writesMemory)
    effects.accesses.push_back({Value(), /*isWrite=*/true});
  for (auto [operand, reads, writes] : llvm::zip_equal(
           operands, summary.readsArgument, summary.writesArgument)) {
    if (reads)
      effects.accesses.push_back({operand, /*isWrite=*/false});
    if (writes)
      effects.accesses.push_back({operand, /*isWrite=*/true});
  }
}

void CallEffects::addEffects(gpu::LaunchFuncOp launch, OpEffects &effects) {
  for (auto [index, operand] : llvm::enumerate(launch.getKernelOperands())) {
    if (!isa<BaseMemRefType>(operand.getType()))
      continue;
    std::optional<KernelAccesses::Access> access;
    if (entersBodies)
      access = kernels->get(launch, index, symbolTables);
    if (!access || access->isRead)
      effects.accesses.push_back({operand, /*isWrite=*/false});
    if (!access || access->isWritten)
      effects.accesses.push_back({operand, /*isWrite=*/true});
  }
}
