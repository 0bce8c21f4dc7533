//===- StartOperands.cpp - Where starts take their data from --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StartOperands.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;
using Origin = OperandOrigin::Kind;

/// The ops before a start that its operand is known by.
static constexpr unsigned mostDepth = 1;

/// The value of which `value` is a copy, in the same or another form.
static Value skipCopies(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::CastOp, memref::CastOp, bufferization::ToTensorOp,
             bufferization::ToBufferOp>(op) &&
        !(isa<linalg::CopyOp>(op) && op->getNumResults() == 1))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static OperandOrigin getOrigin(Value value,
                               const llvm::DenseMap<Value, unsigned> &tokens,
                               unsigned depth) {
  value = skipCopies(value);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // Passes may rearrange what loops carry.
    Block *block = argument.getOwner();
    if (!block->isEntryBlock() ||
        !isa_and_present<FunctionOpInterface>(block->getParentOp()))
      return {};
    return {Origin::argument, argument.getArgNumber()};
  }
  Operation *op = value.getDefiningOp();
  if (auto wait = dyn_cast<comm::WaitOp>(op)) {
    auto it = tokens.find(wait.getToken());
    if (it == tokens.end())
      return {};
    return {Origin::awaited, it->second};
  }
  Attribute constant;
  if (matchPattern(op, m_Constant(&constant)))
    return {Origin::computed,
            llvm::hash_combine(constant.getAsOpaquePointer(), 1),
            op->getLoc().getAsOpaquePointer()};
  uint64_t hash = llvm::hash_combine(op->getName().getAsOpaquePointer(),
                                     op->getLoc().getAsOpaquePointer(),
                                     cast<OpResult>(value).getResultNumber());
  if (depth != 0)
    for (Value operand : op->getOperands()) {
      OperandOrigin origin = getOrigin(operand, tokens, depth - 1);
      if (origin.kind == Origin::unknown)
        return {};
      hash = llvm::hash_combine(hash, origin.kind, origin.number);
    }
  return {Origin::computed, hash, op->getLoc().getAsOpaquePointer()};
}

OperandOrigin
braid::getOperandOrigin(Value value,
                        const llvm::DenseMap<Value, unsigned> &tokens) {
  return getOrigin(value, tokens, mostDepth);
}

namespace {
/// One operand of a start before and after a pass.
struct OperandPair {
  const StartSummary *start, *before;
  unsigned number;
  OperandOrigin from, to;
};
} // namespace

static std::string describeOrigin(OperandOrigin origin) {
  switch (origin.kind) {
  case Origin::argument:
    return "argument #" + std::to_string(origin.number) + " of the function";
  case Origin::awaited:
    return "the result of another operation";
  case Origin::computed:
  case Origin::unknown:
    break;
  }
  return "what fed another operation";
}

static ChangedOperand report(const OperandPair &pair,
                             const StartSummary *other) {
  return {pair.start,
          "takes operand #" + std::to_string(pair.number) + " from " +
              describeOrigin(pair.to),
          other};
}

std::optional<ChangedOperand> braid::findChangedOperand(
    ArrayRef<KeptStart> starts,
    function_ref<std::optional<unsigned>(unsigned)> getToken,
    bool hasSameTokens, bool hasSameArguments) {
  std::vector<OperandPair> pairs;
  for (const KeptStart &start : starts) {
    // A value and a buffer that it is in are not compared: another value may
    // have been there before.
    if (start.before->isOnBuffers != start.after->isOnBuffers)
      continue;
    for (auto [number, origins] : llvm::enumerate(
             llvm::zip(start.before->origins, start.after->origins))) {
      auto [from, to] = origins;
      // What a start of another type takes is computed in another way.
      if (number < start.before->sources.size() &&
          getElementTypeOrSelf(start.before->sources[number]) !=
              getElementTypeOrSelf(start.after->sources[number]))
        continue;
      if (from.kind != Origin::unknown && to.kind != Origin::unknown)
        pairs.push_back({start.after, start.before,
                         static_cast<unsigned>(number), from, to});
    }
  }

  // What comes from outside of all computation stays what it is.
  for (const OperandPair &pair : pairs) {
    if (pair.from.kind == Origin::computed || pair.to.kind == Origin::computed)
      continue;
    if (!hasSameArguments && (pair.from.kind == Origin::argument ||
                              pair.to.kind == Origin::argument))
      continue;
    OperandOrigin expected = pair.from;
    if (expected.kind == Origin::awaited) {
      std::optional<unsigned> token = getToken(expected.number);
      if (!token)
        continue;
      expected.number = *token;
    }
    if (expected == pair.to)
      continue;
    return report(pair, /*other=*/nullptr);
  }

  // What is computed may be computed in another way, but two starts do not
  // exchange it. Ops of one location are told apart by their operands alone,
  // which passes change.
  if (!hasSameTokens || !hasSameArguments)
    return std::nullopt;
  using Key = std::pair<unsigned, uint64_t>;
  auto getKey = [](OperandOrigin origin) {
    return Key(static_cast<unsigned>(origin.kind), origin.number);
  };
  llvm::DenseMap<Key, SmallVector<const OperandPair *, 1>> takersBefore,
      takersAfter;
  bool hasChanged = false;
  for (const OperandPair &pair : pairs) {
    hasChanged |= !(pair.from == pair.to);
    takersBefore[getKey(pair.from)].push_back(&pair);
    takersAfter[getKey(pair.to)].push_back(&pair);
  }
  if (!hasChanged)
    return std::nullopt;
  for (const OperandPair &pair : pairs) {
    if (pair.from == pair.to)
      continue;
    auto before = takersBefore.find(getKey(pair.to));
    if (before == takersBefore.end() ||
        !takersAfter.contains(getKey(pair.from)))
      continue;
    const auto *other =
        llvm::find_if(before->second, [&](const OperandPair *taker) {
          return taker->from.place != pair.from.place;
        });
    if (other != before->second.end())
      return report(pair, (*other)->before);
  }
  return std::nullopt;
}

LogicalResult braid::reportChangedOperand(const ChangedOperand &changed,
                                          StringRef pass) {
  InFlightDiagnostic diagnostic = emitError(changed.start->location)
                                  << "'" << changed.start->name << "' op "
                                  << changed.problem << " after " << pass
                                  << ", expected the data that it took before";
  if (changed.other)
    diagnostic.attachNote(changed.other->location)
        << "the other operation is here";
  return diagnostic;
}
