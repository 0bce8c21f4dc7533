//===- BufferAccesses.cpp - Accesses of an op to buffers ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferAccesses.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
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
  if (!interface)
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
