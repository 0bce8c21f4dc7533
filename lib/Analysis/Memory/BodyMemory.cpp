//===- BodyMemory.cpp - Memory that a body needs --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyMemory.h"

#include "TransparentOps.h"
#include "TypeSize.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Support/Units.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <limits>

using namespace braid;
using namespace mlir;

static int64_t getBytes(Type type, const comm::SizeDefaults &sizes) {
  return static_cast<int64_t>(std::min<uint64_t>(
      getTypeBytes(type, sizes), std::numeric_limits<int64_t>::max()));
}

BodyMemory::BodyMemory(Region &region, const comm::SizeDefaults &sizes)
    : region(region), sizes(sizes) {
  if (isa<FunctionOpInterface>(region.getParentOp()))
    for (Type type : region.getArgumentTypes())
      argumentBytes = addNs(argumentBytes, getBytes(type, sizes));
}

BodyMemory::BodyMemory(Block &block, const comm::SizeDefaults &sizes)
    : BodyMemory(*block.getParent(), sizes) {
  this->block = &block;
}

bool BodyMemory::isOutlet(Operation *user) const {
  if (user->hasTrait<OpTrait::IsTerminator>() &&
      user->getParentRegion() == &region)
    return true;
  return block && !block->findAncestorOpInBlock(*user);
}

/// Says that op `number` holds `piece`.
static void addUser(BodyMemory::Piece &piece, std::optional<unsigned> number) {
  if (number && (piece.users.empty() || piece.users.back() != *number))
    piece.users.push_back(*number);
}

unsigned BodyMemory::createPiece(Type type, Number number, bool isBuffer) {
  pieces.push_back({getBytes(type, sizes), /*escapes=*/isBuffer, isBuffer, {}});
  addUser(pieces.back(), number);
  return pieces.size() - 1;
}

const BodyMemory::Pieces *BodyMemory::getReusable(Value value) const {
  auto it = piecesOf.find(value);
  return it != piecesOf.end() && !it->second.empty() && value.hasOneUse()
             ? &it->second
             : nullptr;
}

/// True if `op` has effect `EffectTy` on `value`.
template <typename EffectTy>
static bool hasEffectOn(Operation *op, Value value) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return effects && effects.getEffectOnValue<EffectTy>(value).has_value();
}

void BodyMemory::addStart(Operation *op, Number number) {
  auto start = cast<comm::AsyncStartOpInterface>(op);
  Pieces sources;
  for (Value source : start.getSources())
    if (auto it = piecesOf.find(source); it != piecesOf.end())
      sources.append(it->second);
  SmallVector<Value> destinations = start.getDestinations();
  for (auto [index, token] : llvm::enumerate(start.getTokens())) {
    Pieces held;
    if (!start.isBufferForm() && start.getInFlightType(index)) {
      Value given;
      if (index < destinations.size())
        given = destinations[index];
      else if (start.canRunInPlace() && index < start.getSources().size())
        given = start.getSources()[index];
      if (const Pieces *reused = given ? getReusable(given) : nullptr)
        held = *reused;
      else
        held.push_back(
            createPiece(start.getInFlightType(index), number, false));
    }
    held.append(sources);
    piecesOf[token] = std::move(held);
  }
}

void BodyMemory::addResults(Operation *op, Number number) {
  if (auto wait = dyn_cast<comm::WaitOp>(op)) {
    // The first piece of a token is the value in flight. The value of a token
    // that was started outside of the body is new here.
    if (wait.getValue()) {
      auto it = piecesOf.find(wait.getToken());
      piecesOf[wait.getValue()] =
          it != piecesOf.end() && !it->second.empty()
              ? Pieces{it->second.front()}
              : Pieces{createPiece(wait.getValue().getType(), number, false)};
    }
    return;
  }
  if (Value source = getViewSource(op)) {
    if (auto it = piecesOf.find(source); it != piecesOf.end()) {
      Pieces viewed = it->second;
      piecesOf[op->getResult(0)] = std::move(viewed);
    }
    return;
  }
  // An empty tensor takes memory from its first write on, and constants are
  // part of the program.
  if (isa<tensor::EmptyOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
    return;

  auto destinationStyle = dyn_cast<DestinationStyleOpInterface>(op);
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  for (OpResult result : op->getResults()) {
    Type type = result.getType();
    if (isa<BaseMemRefType>(type)) {
      if (hasEffectOn<MemoryEffects::Allocate>(op, result))
        piecesOf[result] = {createPiece(type, number, true)};
      continue;
    }
    // Selects between tokens and the like hold what any of their operands
    // holds.
    if (isa<comm::TokenType>(type)) {
      Pieces held;
      for (Value operand : op->getOperands())
        if (auto it = piecesOf.find(operand); it != piecesOf.end())
          held.append(it->second);
      piecesOf[result] = std::move(held);
      continue;
    }
    if (!isa<RankedTensorType>(type))
      continue;
    OpOperand *tied = nullptr;
    if (destinationStyle)
      tied = destinationStyle.getTiedOpOperand(result);
    else if (loop)
      tied = loop.getTiedLoopInit(result);
    const Pieces *reused = tied ? getReusable(tied->get()) : nullptr;
    if (reused) {
      Pieces shared = *reused;
      piecesOf[result] = std::move(shared);
    } else {
      piecesOf[result] = {createPiece(type, number, false)};
    }
  }
}

void BodyMemory::add(Operation *op, Number number) {
  // What the op and its regions use lives at least until here.
  op->walk([&](Operation *user) {
    for (Value operand : user->getOperands()) {
      auto it = piecesOf.find(operand);
      if (it == piecesOf.end())
        continue;
      for (unsigned index : it->second) {
        Piece &piece = pieces[index];
        addUser(piece, number);
        if (piece.isBuffer && hasEffectOn<MemoryEffects::Free>(user, operand))
          piece.escapes = false;
      }
    }
  });
  if (comm::getAsyncStart(op))
    addStart(op, number);
  else
    addResults(op, number);
  // What the terminator uses outlives the body.
  for (OpResult result : op->getResults())
    for (Operation *user : result.getUsers())
      if (isOutlet(user))
        if (auto it = piecesOf.find(result); it != piecesOf.end())
          for (unsigned index : it->second)
            pieces[index].escapes = true;
}
