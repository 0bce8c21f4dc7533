//===- HazardAccesses.cpp - Which ops touch a buffer in flight ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HazardRepair.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace braid;
using namespace braid::comm;
using namespace mlir;

bool HazardContext::mayOverlap(Value a, Value b) {
  if (!a || !b)
    return true;
  BufferRange first = buffers.resolve(a), second = buffers.resolve(b);
  if (first.buffer == BufferRange::unknown ||
      second.buffer == BufferRange::unknown)
    return true;
  return first.buffer == second.buffer && first.begin < second.end &&
         second.begin < first.end;
}

bool HazardContext::mayAccess(Operation *op, Value buffer, bool onlyWrites) {
  if (Value freed = getFreedBuffer(op))
    return onlyWrites && mayOverlap(freed, buffer);
  OpEffects effects = getOpEffects(op, calls);
  return effects.isUnknown ||
         llvm::any_of(effects.accesses, [&](const OpEffects::Access &access) {
           return (access.isWrite || !onlyWrites) &&
                  mayOverlap(access.buffer, buffer);
         });
}

Value comm::getFreedBuffer(Operation *op) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface || isa<WaitOp>(op))
    return {};
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects)
    if (isa<MemoryEffects::Free>(effect.getEffect()) && effect.getValue() &&
        isa<BaseMemRefType>(effect.getValue().getType()))
      return effect.getValue();
  return {};
}

std::optional<SmallVector<WaitOp>> comm::getOnlyWaits(Operation *start) {
  SmallVector<WaitOp> waits;
  for (Operation *user : start->getUsers()) {
    auto wait = dyn_cast<WaitOp>(user);
    if (!wait)
      return std::nullopt;
    waits.push_back(wait);
  }
  if (waits.empty())
    return std::nullopt;
  return waits;
}

/// True if a call of `callee` may come to `target`.
static bool leadsTo(FunctionOpInterface callee, Operation *target,
                    SymbolTableCollection &symbolTables) {
  llvm::SetVector<Operation *> functions;
  functions.insert(callee);
  for (size_t i = 0; i != functions.size(); ++i) {
    if (functions[i] == target)
      return true;
    functions[i]->walk([&](CallOpInterface call) {
      if (Operation *next = call.resolveCallableInTable(&symbolTables))
        functions.insert(next);
    });
  }
  return false;
}

SmallVector<Operation *> comm::findLocalAccesses(const Hazard &hazard,
                                                 HazardContext &context) {
  Operation *origin = hazard.start ? hazard.start : hazard.accesses.front();
  auto function = origin->getParentOfType<FunctionOpInterface>();
  llvm::SetVector<Operation *> found;
  for (Operation *access : hazard.accesses) {
    auto target = access->getParentOfType<FunctionOpInterface>();
    if (target == function) {
      found.insert(access);
      continue;
    }
    function->walk([&](CallOpInterface call) {
      auto callee = dyn_cast_or_null<FunctionOpInterface>(
          call.resolveCallableInTable(&context.symbolTables));
      if (callee && leadsTo(callee, target, context.symbolTables))
        found.insert(call);
    });
  }
  return found.takeVector();
}
