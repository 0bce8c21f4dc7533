//===- KernelAccesses.cpp - What GPU kernels do to buffers ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelAccesses.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace braid;
using namespace mlir;
using Access = KernelAccesses::Access;

/// Adds what `user` itself does to `buffer`. All that is not known counts as a
/// read and a write.
static void addUse(Operation *user, Value buffer, Access &access) {
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

/// What is done to `argument` and to all views of it.
static Access summarizeAccess(Value argument) {
  Access access;
  llvm::SetVector<Value> views;
  views.insert(argument);
  for (size_t index = 0; index != views.size(); ++index)
    for (Operation *user : views[index].getUsers()) {
      auto view = dyn_cast<ViewLikeOpInterface>(user);
      if (view && view.getViewSource() == views[index] &&
          isa<BaseMemRefType>(view.getViewDest().getType()))
        views.insert(view.getViewDest());
      else
        addUse(user, views[index], access);
    }
  return access;
}

std::optional<Access> KernelAccesses::get(gpu::LaunchFuncOp launch,
                                          unsigned index,
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
