//===- CommunicationOrder.h - Rules on starts and waits ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_VERIFICATION_COMMUNICATIONORDER_H
#define BRAID_LIB_ANALYSIS_VERIFICATION_COMMUNICATIONORDER_H

#include "Analysis/Memory/BlockEffects.h"
#include "braid/Analysis/Tokens/RankUniformity.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace braid {

/// An op that starts operations of groups, waits for them, or does so inside.
struct Communication {
  mlir::Operation *op;
  /// Where it stood.
  unsigned before;
  bool isStart = false, isWait = false;
  /// A start of a message, or of messages inside of an op.
  bool startsMessage = false;
  /// A wait that may be one for a message.
  bool mayAwaitMessage = false;
  /// The lane, of a message or of a wait for one.
  mlir::Attribute messageLane;
  /// A wait for what another block has started, or inside of an op.
  bool awaitsAny = false;
};

/// Checks a new order of the starts and waits of a block. An op that starts or
/// waits inside of itself counts as both.
class CommunicationOrder {
public:
  /// Emits that `op` was moved past `other`, against `rule`, and fails.
  using Emit = llvm::function_ref<llvm::LogicalResult(
      mlir::Operation *op, mlir::Operation *other, llvm::StringRef rule)>;

  /// `communications` in their new order, all of the block.
  CommunicationOrder(mlir::Block &block,
                     llvm::ArrayRef<Communication> communications,
                     RankUniformity &uniformity, Emit emit)
      : block(block), communications(communications), uniformity(uniformity),
        emit(emit) {}

  llvm::LogicalResult validate();

private:
  llvm::LogicalResult validateNumbers();
  llvm::LogicalResult validateDivergence();
  llvm::LogicalResult validateWaits();
  llvm::LogicalResult validateMessages();

  mlir::Block &block;
  llvm::ArrayRef<Communication> communications;
  RankUniformity &uniformity;
  Emit emit;
};

/// What `op`, which stood at `before` and has the effects of `entry`, does for
/// other ranks to see.
Communication getCommunication(mlir::Operation *op, unsigned before,
                               const BlockEffects::Entry &entry);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_VERIFICATION_COMMUNICATIONORDER_H
