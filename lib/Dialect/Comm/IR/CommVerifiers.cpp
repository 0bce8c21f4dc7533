//===- CommVerifiers.cpp - Verifiers of single ops that need no group -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommVerifiers.h"

#include "braid/Dialect/Comm/IR/CollectiveMethods.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"

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

namespace {
/// Verifies the call of one collective (C15).
class CallVerifier {
public:
  CallVerifier(CollectiveOpInterface collective, GroupOp group)
      : collective(collective), group(group),
        traits(collective.getCollectiveTraits()),
        arguments(collective.getCallArguments()) {}

  LogicalResult verify();

private:
  LogicalResult fail(const Twine &expected) {
    return collective->emitOpError()
           << "is a collective of kind '" << traits.name
           << "' and does not fit its function of the runtime, expected "
           << expected << " of 'getCallArguments'";
  }
  /// True if the arguments are numbers and lists as `areLists` says, each
  /// number given.
  bool hasForm(ArrayRef<bool> areLists);
  LogicalResult verifyPairs();
  LogicalResult verifyParts(StringRef suffix);

  CollectiveOpInterface collective;
  GroupOp group;
  const CollectiveTraits &traits;
  SmallVector<CallArgument> arguments;
};
} // namespace

bool CallVerifier::hasForm(ArrayRef<bool> areLists) {
  if (arguments.size() != areLists.size())
    return false;
  for (auto [argument, isList] : llvm::zip_equal(arguments, areLists))
    if (argument.isList != isList ||
        (!isList && argument.numbers.size() != 1) ||
        llvm::any_of(argument.numbers,
                     [](OpFoldResult number) { return number.isNull(); }))
      return false;
  return true;
}

/// The number of pairs, and source and target of each.
LogicalResult CallVerifier::verifyPairs() {
  if (!hasForm({false, true}))
    return fail("the number of pairs and a list of members");
  std::optional<SmallVector<int64_t>> members =
      getConstantIntValues(arguments[1].numbers);
  std::optional<int64_t> count = getConstantIntValue(arguments[0].numbers[0]);
  if (!members || !count || static_cast<int64_t>(members->size()) != 2 * *count)
    return fail("two constant members for each pair");
  llvm::SmallSet<int64_t, 8> sources, targets;
  for (auto [place, member] : llvm::enumerate(*members)) {
    if (failed(verifyMember(collective, "member", member, group)))
      return failure();
    if (!(place % 2 == 0 ? sources : targets).insert(member).second)
      return fail("a member once as a source and once as a target");
  }
  return success();
}

/// Nothing, the sizes of a member's parts, or those of all members.
LogicalResult CallVerifier::verifyParts(StringRef suffix) {
  if (suffix.empty())
    return arguments.empty() ? success() : fail("nothing");
  bool isMatrix = suffix == "_matrix";
  if (!isMatrix && suffix != "_splits")
    return collective->emitOpError()
           << "has suffix '" << suffix << "' of the runtime's function, "
           << "expected none, '_splits' or '_matrix'";
  if (isMatrix ? !hasForm({false, true}) : !hasForm({false, true, true}))
    return fail(isMatrix ? "the number of members and a list of sizes"
                         : "the number of members and two lists of sizes");
  std::optional<int64_t> count = getConstantIntValue(arguments[0].numbers[0]);
  FailureOr<std::optional<int64_t>> members = getSharedSize(collective, group);
  if (failed(members))
    return failure();
  if (!count || *count < 1 || (*members && **members != *count))
    return fail("the number of the group's members");
  int64_t expected = isMatrix ? *count * *count : *count;
  for (const CallArgument &list : llvm::drop_begin(arguments))
    if (static_cast<int64_t>(list.numbers.size()) != expected)
      return fail(Twine(expected) + " sizes in each list");
  if (isMatrix && !getConstantIntValues(arguments[1].numbers))
    return fail("constant sizes");
  return success();
}

LogicalResult CallVerifier::verify() {
  StringRef suffix = collective.getCallSuffix();
  if (traits.flow == BRAID_RT_FLOW_EXCHANGE)
    return verifyParts(suffix);
  if (!suffix.empty())
    return collective->emitOpError()
           << "has suffix '" << suffix << "' of the runtime's function, "
           << "expected none";
  if (traits.flow == BRAID_RT_FLOW_PAIRS)
    return verifyPairs();
  if (traits.flow != BRAID_RT_FLOW_MESSAGE) {
    SmallVector<bool> areLists(traits.hasRoot + traits.hasDim, false);
    return hasForm(areLists) ? success()
                             : fail(Twine(areLists.size()) + " numbers");
  }
  if (!hasForm({false}))
    return fail("the peer alone");
  std::optional<int64_t> peer = getConstantIntValue(arguments[0].numbers[0]);
  return peer ? verifyMember(collective, "peer", *peer, group) : success();
}

LogicalResult braid::comm::verifyCall(CollectiveOpInterface collective,
                                      GroupOp group) {
  return CallVerifier(collective, group).verify();
}
