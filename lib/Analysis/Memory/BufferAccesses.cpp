//===- BufferAccesses.cpp - Accesses of ops and kernels -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferAccesses.h"

#include "TransparentOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace braid;

StringRef braid::getVerb(BufferAccessKind kind) {
  switch (kind) {
  case BufferAccessKind::Read:
    return "reads";
  case BufferAccessKind::Write:
    return "writes";
  case BufferAccessKind::Free:
    return "frees";
  case BufferAccessKind::Pass:
    return "passes";
  }
  llvm_unreachable("unknown access");
}

bool braid::conflictsWithWritesAlone(BufferAccessKind kind) {
  return kind == BufferAccessKind::Read || kind == BufferAccessKind::Pass;
}

SmallVector<BufferAccess, 4> braid::getBufferAccesses(Operation *op) {
  SmallVector<BufferAccess, 4> accesses;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  // The effects of a launch are a bound of what its kernel does.
  if (!interface || isa<gpu::LaunchFuncOp>(op))
    return accesses;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    Value buffer = effect.getValue();
    if (!buffer || !isa<BaseMemRefType>(buffer.getType()))
      continue;
    if (isa<MemoryEffects::Write>(effect.getEffect()))
      accesses.push_back({buffer, BufferAccessKind::Write});
    else if (isa<MemoryEffects::Free>(effect.getEffect()))
      accesses.push_back({buffer, BufferAccessKind::Free});
    else if (isa<MemoryEffects::Read>(effect.getEffect()))
      accesses.push_back({buffer, BufferAccessKind::Read});
  }
  return accesses;
}

/// Adds what `user` itself does to `buffer`. All that is not known counts as a
/// read and a write.
static void addUse(Operation *user, Value buffer,
                   KernelAccesses::Access &access) {
  if (isa<memref::DimOp>(user))
    return;
  bool isKnown = false;
  if (auto interface = dyn_cast<MemoryEffectOpInterface>(user)) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      if (effect.getValue() && effect.getValue() != buffer)
        continue;
      isKnown |= effect.getValue() == buffer;
      (isa<MemoryEffects::Read>(effect.getEffect()) ? access.isRead
                                                    : access.isWritten) = true;
    }
  }
  if (!isKnown)
    access = {/*isRead=*/true, /*isWritten=*/true};
}

/// The view of `source` that `user` makes, if it does nothing else: kernels
/// cast masks to the bytes that they are.
static Value getView(Operation *user, Value source) {
  bool isCast = isa<UnrealizedConversionCastOp>(user) &&
                user->getNumOperands() == 1 && user->getNumResults() == 1;
  if (!isCast && getViewSource(user) != source)
    return {};
  Value view = user->getResult(0);
  return isa<BaseMemRefType>(view.getType()) ? view : Value();
}

/// What is done to `argument` and to all views of it.
static KernelAccesses::Access summarizeAccess(Value argument) {
  KernelAccesses::Access access;
  llvm::SetVector<Value> views;
  views.insert(argument);
  for (size_t index = 0; index != views.size(); ++index)
    for (Operation *user : views[index].getUsers())
      if (Value view = getView(user, views[index]))
        views.insert(view);
      else
        addUse(user, views[index], access);
  return access;
}

std::optional<KernelAccesses::Access>
KernelAccesses::get(gpu::LaunchFuncOp launch, unsigned index,
                    SymbolTableCollection &symbolTables) {
  auto kernel = symbolTables.lookupNearestSymbolFrom<gpu::GPUFuncOp>(
      launch, launch.getKernel());
  if (!kernel || kernel.isExternal() || index >= kernel.getNumArguments())
    return std::nullopt;
  Value argument = kernel.getArgument(index);
  auto [it, isNew] = known.try_emplace(argument);
  if (isNew)
    it->second = summarizeAccess(argument);
  return it->second;
}
