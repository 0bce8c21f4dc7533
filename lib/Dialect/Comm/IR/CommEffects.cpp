//===- CommEffects.cpp - Memory effects of comm ops -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/CollectiveMethods.h"

using namespace mlir;
using namespace braid::comm;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static bool isBuffer(OpOperand &operand) {
  return isa<BaseMemRefType>(operand.get().getType());
}

/// Only an effect that both reads and writes keeps CSE, LICM, sinking and
/// dead-code elimination from changing a start.
void braid::comm::getStartEffects(AsyncStartOpInterface start,
                                  Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), CommunicatorResource::get());
  effects.emplace_back(MemoryEffects::Write::get(),
                       CommunicatorResource::get());
  for (OpOperand &source : start.getSourceOperands())
    if (isBuffer(source))
      effects.emplace_back(MemoryEffects::Read::get(), &source);
  for (OpOperand &destination : start.getDestinationOperands())
    if (isBuffer(destination))
      effects.emplace_back(MemoryEffects::Write::get(), &destination);
}

void WaitOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Free::get(), &getTokenMutable(),
                       RequestResource::get());
  for (OpOperand &buffer : getReadsMutable())
    effects.emplace_back(MemoryEffects::Read::get(), &buffer);
  for (OpOperand &buffer : getWritesMutable()) {
    effects.emplace_back(MemoryEffects::Read::get(), &buffer);
    effects.emplace_back(MemoryEffects::Write::get(), &buffer);
  }
}

void ComputeOp::getEffects(Effects &effects) {
  // CSE of two async ops would give one token two waits.
  for (OpResult token : getTokens())
    effects.emplace_back(MemoryEffects::Allocate::get(), token,
                         RequestResource::get());
  // The effects of a region are those of its ops.
  if (!isOpaque() && !getAsync())
    return;
  for (OpOperand &input : getInputsMutable()) {
    if (!isBuffer(input))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &input);
    effects.emplace_back(MemoryEffects::Write::get(), &input);
  }
}
