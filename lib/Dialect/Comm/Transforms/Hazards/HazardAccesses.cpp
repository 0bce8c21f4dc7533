//===- HazardAccesses.cpp - Which ops touch a buffer in flight ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HazardRepair.h"

#include "Analysis/Memory/BufferAccesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace braid;
using namespace braid::comm;
using namespace mlir;

/// Where `value` comes from if it is no view of one buffer: the operands of a
/// select, what a loop or branch gets and gives; nothing if that is not known.
static SmallVector<Value> getOrigins(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast_if_present<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument == loop.getInductionVar())
      return {};
    return {loop.getTiedLoopInit(argument)->get(),
            loop.getTiedLoopYieldedValue(argument)->get()};
  }
  Operation *op = value.getDefiningOp();
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return {select.getTrueValue(), select.getFalseValue()};
  if (auto view = dyn_cast<ViewLikeOpInterface>(op))
    return {view.getViewSource()};
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return {loop.getInits()[number], loop.getYieldedValues()[number]};
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return {branch.thenYield()->getOperand(number),
            branch.elseYield()->getOperand(number)};
  return {};
}

SmallVector<BufferRange> HazardContext::getRanges(Value value) {
  SmallVector<BufferRange> ranges;
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i != values.size(); ++i) {
    BufferRange range = buffers.resolve(values[i]);
    SmallVector<Value> origins;
    if (range.buffer == BufferRange::unknown)
      origins = getOrigins(values[i]);
    if (origins.empty())
      ranges.push_back(range);
    values.insert_range(origins);
  }
  return ranges;
}

bool HazardContext::mayOverlap(Value a, Value b) {
  if (!a || !b)
    return true;
  SmallVector<BufferRange> others = getRanges(b);
  for (const BufferRange &first : getRanges(a))
    for (const BufferRange &second : others)
      if (first.buffer == BufferRange::unknown ||
          second.buffer == BufferRange::unknown ||
          (first.buffer == second.buffer && first.begin < second.end &&
           second.begin < first.end))
        return true;
  return false;
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
  if (isa<WaitOp>(op))
    return {};
  for (const BufferAccess &access : getBufferAccesses(op))
    if (access.kind == BufferAccessKind::Free)
      return access.buffer;
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
