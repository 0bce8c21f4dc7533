//===- CommVerifiers.cpp - Verifiers of single ops that need no group -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommVerifiers.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// GroupOp
//===----------------------------------------------------------------------===//

LogicalResult GroupOp::verify() {
  if (!getRanks())
    return success();
  SmallVector<ArrayRef<int64_t>> lists = getRankLists();
  // C30
  if (lists.empty())
    return emitOpError() << "has no list of ranks, expected at least one, or "
                            "'all'";
  llvm::SmallDenseSet<int64_t> seen;
  for (ArrayRef<int64_t> list : lists) {
    if (list.empty())
      return emitOpError()
             << "has an empty list of ranks, expected at least one rank";
    for (int64_t rank : list) {
      // C31. The upper bound keeps every rank a 32-bit integer of the runtime.
      if (rank < 0 || rank > std::numeric_limits<int32_t>::max())
        return emitOpError()
               << "has rank " << rank << ", expected a number from 0 to "
               << std::numeric_limits<int32_t>::max();
      if (!seen.insert(rank).second)
        return emitOpError() << "names rank " << rank
                             << " twice, expected every rank at most once";
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// WaitOp
//===----------------------------------------------------------------------===//

/// Verifies that `wait` names the buffers in flight of its token. A token of a
/// coalesced launch has the buffers of its operand in flight; its wait may name
/// those of the other operands, too. It need not name sources that last.
static LogicalResult verifyBuffersInFlight(WaitOp wait,
                                           AsyncStartOpInterface start) {
  llvm::SmallSetVector<Value, 4> writes, reads;
  for (Value destination : start.getDestinations())
    if (isa<MemRefType>(destination.getType()))
      writes.insert(destination);
  for (Value source : start.getSources())
    if (isa<MemRefType>(source.getType()) && !writes.contains(source))
      reads.insert(source);

  auto emit = [&]() {
    InFlightDiagnostic diagnostic = wait.emitOpError();
    diagnostic.attachNote(start->getLoc()) << "the start is here";
    return diagnostic;
  };
  // C33
  for (auto [index, buffer] : llvm::enumerate(wait.getWrites()))
    if (!writes.contains(buffer))
      return emit() << "has buffer #" << index
                    << " in 'writes', expected one that its start writes";
  for (auto [index, buffer] : llvm::enumerate(wait.getReads()))
    if (!reads.contains(buffer))
      return emit() << "has buffer #" << index
                    << " in 'reads', expected one that its start only reads";

  // C34
  auto verifyNamed = [&](MutableArrayRef<OpOperand> operands, StringRef role,
                         const llvm::SmallSetVector<Value, 4> &inFlight,
                         OperandRange named,
                         StringRef clause) -> LogicalResult {
    bool isCoalesced = start.getTokens().size() > 1;
    size_t own = cast<OpResult>(wait.getToken()).getResultNumber();
    for (auto [index, operand] : llvm::enumerate(operands))
      if ((!isCoalesced || index == own) && inFlight.contains(operand.get()) &&
          !llvm::is_contained(named, operand.get()))
        return emit() << "does not name " << role << " #" << index
                      << " of its start, expected it in '" << clause
                      << "' as it is in flight until here";
    return success();
  };
  if (failed(verifyNamed(start.getDestinationOperands(), "destination", writes,
                         wait.getWrites(), "writes")) ||
      (!start->hasAttr(CommDialect::kLastingSourcesAttrName) &&
       failed(verifyNamed(start.getSourceOperands(), "source", reads,
                          wait.getReads(), "reads"))))
    return failure();
  return success();
}

/// Verifies the interfaces that are external models on `start`, whose verifiers
/// MLIR does not run.
static LogicalResult verifyExternalModels(Operation *start) {
  if (!start->hasTrait<AsyncStartOpInterface::Trait>() &&
      (failed(verifyAsyncStartTokens(start)) ||
       failed(verifyAsyncStartLane(start))))
    return failure();
  if (!isa<CollectiveOpInterface>(start) ||
      start->hasTrait<CollectiveOpInterface::Trait>())
    return success();
  return success(succeeded(verifyCollective(start)) &&
                 succeeded(verifyCollectiveMembers(start)));
}

LogicalResult WaitOp::verify() {
  if (failed(verifyPlace(*this)))
    return failure();
  // C32. Type inference verifies the type of the value.
  if (getValue() && !(getReads().empty() && getWrites().empty()))
    return emitOpError() << "names buffers, expected none for a token with a "
                            "value";
  AsyncStartOpInterface start = getStart();
  if (!start)
    return success();
  if (failed(verifyExternalModels(start)))
    return failure();
  return verifyBuffersInFlight(*this, start);
}
