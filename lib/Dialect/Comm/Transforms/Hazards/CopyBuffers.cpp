//===- CopyBuffers.cpp - Copies of buffers in flight ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HazardRepair.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace braid;
using namespace braid::comm;
using namespace mlir;

namespace {
/// Copies the buffers of one operation.
class BufferCopier {
public:
  BufferCopier(AsyncStartOpInterface start, ArrayRef<WaitOp> waits,
               HazardContext &context, ProgramEdit &edit)
      : start(start), waits(waits), context(context), edit(edit),
        builder(start) {}

  std::string run(ArrayRef<Operation *> accesses);

private:
  /// Finds out whether what `buffer` is a part of is freed in the flight;
  /// returns why this is not known.
  std::string findFree(Value buffer, bool &isFreed);
  /// A new buffer of the shape of `like`.
  Value allocate(Value like);
  void copy(Value from, Value to);
  /// Gives the operation a buffer of its own in place of `buffer`.
  void replaceBuffer(Value buffer, bool isRead, bool isWritten, bool isFreed);

  AsyncStartOpInterface start;
  ArrayRef<WaitOp> waits;
  HazardContext &context;
  ProgramEdit &edit;
  OpBuilder builder;
};
} // namespace

std::string BufferCopier::findFree(Value buffer, bool &isFreed) {
  Block *block = start->getBlock();
  isFreed = false;
  for (Operation *op = start->getNextNode(); op; op = op->getNextNode()) {
    bool isNested = false;
    WalkResult found = op->walk([&](Operation *nested) {
      Value freed = getFreedBuffer(nested);
      if (!freed || !context.mayOverlap(freed, buffer))
        return WalkResult::advance();
      isNested = nested != op || context.getRanges(buffer).size() != 1;
      return WalkResult::interrupt();
    });
    bool endsHere = llvm::any_of(waits, [&](WaitOp wait) {
      return block->findAncestorOpInBlock(*wait) == op;
    });
    if (found.wasInterrupted() && !endsHere) {
      if (isNested)
        return "what it writes is freed on a path alone";
      isFreed = true;
    }
    if (endsHere)
      return "";
  }
  return "";
}

Value BufferCopier::allocate(Value like) {
  auto type = cast<MemRefType>(like.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim != type.getRank(); ++dim)
    if (type.isDynamicDim(dim)) {
      auto index =
          arith::ConstantIndexOp::create(builder, start->getLoc(), dim);
      edit.insert(index);
      auto size = memref::DimOp::create(builder, start->getLoc(), like, index);
      edit.insert(size);
      sizes.push_back(size);
    }
  auto alloc = memref::AllocOp::create(
      builder, start->getLoc(),
      MemRefType::get(type.getShape(), type.getElementType(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace()),
      sizes);
  edit.insert(alloc);
  return alloc;
}

void BufferCopier::copy(Value from, Value to) {
  edit.insert(memref::CopyOp::create(builder, start->getLoc(), from, to));
}

/// Replaces `from` by `to` in `operands`; returns true if it was there.
static bool replaceOperands(MutableArrayRef<OpOperand> operands, Value from,
                            Value to, ProgramEdit &edit) {
  bool wasThere = false;
  for (OpOperand &operand : operands)
    if (operand.get() == from) {
      edit.replace(operand, to);
      wasThere = true;
    }
  return wasThere;
}

static MutableArrayRef<OpOperand> getOperands(MutableOperandRange range) {
  return MutableArrayRef<OpOperand>(range);
}

void BufferCopier::replaceBuffer(Value buffer, bool isRead, bool isWritten,
                                 bool isFreed) {
  builder.setInsertionPoint(start);
  Value own = allocate(buffer);
  if (isRead) {
    copy(buffer, own);
    replaceOperands(start.getSourceOperands(), buffer, own, edit);
  }
  if (isWritten)
    replaceOperands(start.getDestinationOperands(), buffer, own, edit);
  // The result is there at the first wait that names it.
  bool isCoalesced = start.getTokens().size() > 1, wasSeen = false;
  for (WaitOp wait : waits) {
    if (isRead)
      replaceOperands(getOperands(wait.getReadsMutable()), buffer, own, edit);
    bool isResult =
        isWritten && replaceOperands(getOperands(wait.getWritesMutable()),
                                     buffer, own, edit);
    builder.setInsertionPointAfter(wait);
    if (isResult && !isFreed && !(isCoalesced && wasSeen))
      copy(own, buffer);
    wasSeen |= isResult;
    if (!isCoalesced || wait == waits.back())
      edit.insert(memref::DeallocOp::create(builder, wait->getLoc(), own));
  }
}

std::string BufferCopier::run(ArrayRef<Operation *> accesses) {
  if (start.getTokens().size() > 1 && llvm::any_of(waits, [&](WaitOp wait) {
        return wait->getBlock() != start->getBlock();
      }))
    return "the operations of one launch end in different blocks";
  auto isTouched = [&](Value buffer, bool onlyWrites) {
    return llvm::any_of(accesses, [&](Operation *access) {
      return context.mayAccess(access, buffer, onlyWrites) ||
             context.mayAccess(access, buffer, /*onlyWrites=*/true);
    });
  };
  SmallVector<Value> sources = start.getSources();
  SmallVector<Value> destinations = start.getDestinations();
  struct Replaced {
    Value buffer;
    bool isRead, isWritten, isFreed;
  };
  SmallVector<Replaced> replaced;
  for (Value buffer :
       llvm::SetVector<Value>(destinations.begin(), destinations.end())) {
    if (!isTouched(buffer, /*onlyWrites=*/false))
      continue;
    bool isFreed;
    std::string reason = findFree(buffer, isFreed);
    if (!reason.empty())
      return reason;
    replaced.push_back({buffer, llvm::is_contained(sources, buffer),
                        /*isWritten=*/true, isFreed});
  }
  for (Value buffer : llvm::SetVector<Value>(sources.begin(), sources.end()))
    if (!llvm::is_contained(destinations, buffer) &&
        isTouched(buffer, /*onlyWrites=*/true))
      replaced.push_back({buffer, /*isRead=*/true, /*isWritten=*/false,
                          /*isFreed=*/false});
  if (replaced.empty())
    return "nothing that it uses is known to be touched";
  for (const Replaced &entry : replaced)
    if (!isa<MemRefType>(entry.buffer.getType()))
      return "the rank of its buffer is not known";
  for (const Replaced &entry : replaced)
    replaceBuffer(entry.buffer, entry.isRead, entry.isWritten, entry.isFreed);
  return "";
}

std::string comm::copyBuffers(const Hazard &hazard, HazardContext &context,
                              ProgramEdit &edit) {
  auto start = dyn_cast_if_present<CollectiveOpInterface>(hazard.start);
  if (!start)
    return hazard.start ? "it is no collective" : "its start is not known";
  std::optional<SmallVector<WaitOp>> waits = getOnlyWaits(start);
  if (!waits)
    return "its token goes to other ops than waits";
  SmallVector<Operation *> accesses = findLocalAccesses(hazard, context);
  // Users come in no order.
  if (start->getNumResults() > 1 && llvm::all_of(*waits, [&](WaitOp wait) {
        return wait->getBlock() == start->getBlock();
      }))
    llvm::sort(*waits,
               [](WaitOp a, WaitOp b) { return a->isBeforeInBlock(b); });
  return BufferCopier(cast<AsyncStartOpInterface>(start.getOperation()), *waits,
                      context, edit)
      .run(accesses);
}
