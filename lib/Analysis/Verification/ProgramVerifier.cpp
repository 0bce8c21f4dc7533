//===- ProgramVerifier.cpp - Whole programs of several ranks --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Verification/ProgramVerifier.h"
#include "braid/Analysis/Tokens/WorldSize.h"

#include "ProgramChecks.h"
#include "RankExecution.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <deque>

using namespace braid;
using namespace mlir;

/// Programs on more ranks are not followed.
static constexpr int64_t mostRanks = 1 << 16;
/// Once so many ops were followed, no other path of an entry is.
static constexpr uint64_t mostSteps = 500'000;

namespace {

class ProgramVerifier {
public:
  ProgramVerifier(ModuleOp module, const ProgramVerifierOptions &options)
      : module(module), options(options), query(symbolTables) {}

  /// Follows all entries.
  void follow();
  LogicalResult report();

private:
  /// A path to follow: the numbers of its first choices, and what was started
  /// on the path from which it departs.
  struct Path {
    std::vector<unsigned> prefix;
    uint64_t started = 0;
  };
  SmallVector<FunctionOpInterface> findEntries();
  void collectConstants();
  void verifyEntry(FunctionOpInterface entry);
  void verifyPath(FunctionOpInterface entry, const Path &path,
                  std::deque<Path> &more);
  void addUnknown(Operation *op, std::string text);
  bool checkMembers(ArrayRef<const RankTrace *> traces);

  ModuleOp module;
  const ProgramVerifierOptions &options;
  SymbolTableCollection symbolTables;
  CommunicationQuery query;
  Findings findings;
  /// What the program compares integers with.
  SmallVector<int64_t> constants;
  int64_t numRanks = 0;
  bool isSizeKnown = false;
  /// Entries of one module may be for different numbers of ranks.
  bool hasOneEntry = false;
  /// The groups of all ranks with their lists, and the collectives on them that
  /// were checked.
  llvm::DenseMap<Operation *, OwningOpRef<comm::GroupOp>> listedGroups;
  llvm::DenseMap<Operation *, bool> checkedMembers;
  /// The ops that were followed on all paths of an entry.
  uint64_t numSteps = 0;
};

} // namespace

void ProgramVerifier::addUnknown(Operation *op, std::string text) {
  Finding finding = {op, std::move(text)};
  finding.isUnknown = true;
  findings.add(std::move(finding));
}

SmallVector<FunctionOpInterface> ProgramVerifier::findEntries() {
  SmallVector<FunctionOpInterface> functions;
  SmallPtrSet<Operation *, 16> called;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::GPUModuleOp>(op))
      return WalkResult::skip();
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      if (!function.isExternal())
        functions.push_back(function);
    if (auto call = dyn_cast<CallOpInterface>(op))
      if (FunctionOpInterface callee = query.getCallee(call))
        called.insert(callee);
    return WalkResult::advance();
  });
  llvm::erase_if(functions, [&](FunctionOpInterface function) {
    return (!function.isPublic() && called.contains(function)) ||
           !query.communicates(function);
  });
  return functions;
}

void ProgramVerifier::collectConstants() {
  constexpr size_t mostConstants = 4;
  module->walk([&](arith::CmpIOp compare) {
    for (Value operand : compare->getOperands()) {
      auto constant = operand.getDefiningOp<arith::ConstantOp>();
      auto number =
          constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
      if (number && constants.size() != mostConstants &&
          number.getValue().getSignificantBits() <= 64 &&
          !llvm::is_contained(constants, number.getInt()))
        constants.push_back(number.getInt());
    }
  });
}

/// What `trace` starts, as a number.
static uint64_t hashStarted(const RankTrace &trace) {
  uint64_t hash = 0;
  for (const StartedOperation &operation : trace.operations) {
    comm::CollectiveOpInterface op = operation.op;
    hash = llvm::hash_combine(hash, op.getCollectiveKind(), op.getGroupAttr(),
                              operation.peer.value_or(-1));
  }
  return hash;
}

/// True if the other ranks run another program than that of `function`.
static bool isMpmd(Operation *function) {
  for (Operation *op = function; op; op = op->getParentOp())
    if (op->hasAttr(comm::CommDialect::kMpmdAttrName))
      return true;
  return false;
}

/// The error that `check` emits; empty if there is none.
static std::string takeError(MLIRContext *context,
                             function_ref<LogicalResult()> check) {
  std::string error;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (error.empty())
      error = diagnostic.str();
  });
  (void)check();
  return error;
}

/// Finds what collectives on groups of all ranks say of members that there are
/// not, which the verifiers of ops cannot know. Returns false if there is one.
bool ProgramVerifier::checkMembers(ArrayRef<const RankTrace *> traces) {
  if (!isSizeKnown)
    return true;
  bool isRight = true;
  // Ranks that do the same share a trace.
  llvm::SmallPtrSet<const RankTrace *, 8> seen;
  for (const RankTrace *trace : traces) {
    if (!seen.insert(trace).second)
      continue;
    for (const StartedOperation &operation : trace->operations) {
      comm::CollectiveOpInterface op = operation.op;
      comm::GroupOp group = operation.group;
      if (!group.isAll() || op.isPointToPoint())
        continue;
      auto [it, isNew] = checkedMembers.try_emplace(op, true);
      if (!isNew) {
        isRight &= it->second;
        continue;
      }
      OwningOpRef<comm::GroupOp> &listed = listedGroups[group];
      if (!listed) {
        OpBuilder builder(group.getContext());
        Attribute ranks = builder.getDenseI64ArrayAttr(
            llvm::to_vector(llvm::seq<int64_t>(0, numRanks)));
        listed = comm::GroupOp::create(
            builder, group.getLoc(), group.getSymNameAttr(),
            builder.getArrayAttr(ranks), group.getSymVisibilityAttr());
      }
      std::string name = ("'" + op->getName().getStringRef() + "' op ").str(),
                  error;
      std::optional<int64_t> root = op.getRootIndex();
      std::optional<int64_t> members = getImpliedMembers(op);
      if (root && *root >= numRanks)
        error = "has root " + std::to_string(*root) +
                ", expected an index within group '" +
                group.getSymName().str() + "', from 0 to " +
                std::to_string(numRanks - 1);
      else if (hasOneEntry && members && *members != numRanks)
        error = "has operands for " + std::to_string(*members) +
                " members, expected operands for the " +
                std::to_string(numRanks) + " of group '" +
                group.getSymName().str() + "'";
      else
        error = takeError(op->getContext(), [&]() {
          comm::GroupOp lists = *listed;
          return op.verifyMembers(lists);
        });
      if (StringRef(error).starts_with(name))
        error = error.substr(name.size());
      it->second = error.empty();
      isRight &= it->second;
      if (!error.empty())
        findings.add({op, error, {{group.getLoc(), "the group is here"}}});
    }
  }
  return isRight;
}

void ProgramVerifier::verifyPath(FunctionOpInterface entry, const Path &path,
                                 std::deque<Path> &more) {
  // What collectives give each rank becomes known as all ranks are followed.
  constexpr unsigned mostPasses = 64;
  CollectiveValues values;
  std::vector<RankTrace> traces;
  std::vector<const RankTrace *> traceOf(numRanks);
  std::unique_ptr<PathChoices> pathChoices;
  Findings found;
  if (isMpmd(entry))
    values.close();
  for (unsigned pass = 0;; ++pass) {
    pathChoices = std::make_unique<PathChoices>(path.prefix, constants);
    found = Findings();
    traces.assign(numRanks, RankTrace());
    bool isTooLong = false;
    for (int64_t rank = 0; rank != numRanks; ++rank) {
      // All ranks do the same if the first one never asked for its number. What
      // they do together is not proven where one does not come to its end.
      if (rank != 0 && (isTooLong || (!traces[0].dependsOnRank &&
                                      !traces[0].usesOpenValues))) {
        traceOf[rank] = traceOf[0];
        continue;
      }
      RankExecution execution(query, *pathChoices, found, values, rank,
                              numRanks);
      traces[rank] = execution.run(entry);
      numSteps += execution.getNumSteps();
      traceOf[rank] = &traces[rank];
      isTooLong |= traces[rank].isTooLong;
    }
    bool usesOpenValues = llvm::any_of(
        traceOf, [](const RankTrace *trace) { return trace->usesOpenValues; });
    if (isTooLong || values.isClosed() || (pass == 0 && !usesOpenValues))
      break;
    bool hasChanged = values.update(traceOf);
    if (!hasChanged)
      break;
    if (pass == mostPasses || numSteps > mostSteps)
      values.close();
  }
  for (const Finding &finding : found.get())
    findings.add(finding);
  PathChoices &choices = *pathChoices;
  bool isComplete = true, arePeersKnown = true;
  Operation *unknownRegions = nullptr;
  for (const RankTrace *trace : traceOf) {
    isComplete &= trace->isComplete;
    arePeersKnown &= !trace->hasUnknownPeer;
    if (!unknownRegions)
      unknownRegions = trace->unknownRegions;
  }
  ArrayRef<PathChoices::Choice> made = choices.getChoices();
  if (!isComplete) {
    addUnknown(entry,
               "has a path that is not followed to its end, what it does "
               "is not proven");
  } else if (unknownRegions) {
    addUnknown(unknownRegions,
               "has regions that communicate and does not say how it runs "
               "them, what ranks do together is not proven");
  } else if (!arePeersKnown) {
    addUnknown(entry, "has a message with a peer that is not known, what meets "
                      "on its path is not proven");
  } else if (!isMpmd(entry)) {
    CollectiveMatching matching(traceOf, findings);
    if (checkMembers(traceOf) && matching.match())
      checkWaits(traceOf, matching, options.sharesLanes, findings);
  }
  uint64_t started = hashStarted(*traceOf[0]);
  if (!path.prefix.empty() && path.started != started &&
      made.size() >= path.prefix.size()) {
    const PathChoices::Choice &choice = made[path.prefix.size() - 1];
    auto argument = dyn_cast_if_present<BlockArgument>(choice.value);
    addUnknown(choice.op,
               "decides what ranks start, it is not proven that all ranks have "
               "the same value" +
                   std::string(argument ? " of argument #" : "") +
                   (argument ? std::to_string(argument.getArgNumber()) : ""));
  }
  for (size_t i = path.prefix.size(); i < made.size(); ++i)
    for (unsigned other = 1;
         other < made[i].pool.size() && more.size() <= options.maxPaths;
         ++other) {
      Path next;
      for (size_t j = 0; j != i; ++j)
        next.prefix.push_back(made[j].chosen);
      next.prefix.push_back(other);
      next.started = started;
      more.push_back(std::move(next));
    }
}

void ProgramVerifier::verifyEntry(FunctionOpInterface entry) {
  std::deque<Path> paths(1);
  numSteps = 0;
  // Paths with fewer choices other than the first ones come first.
  for (unsigned number = 0; !paths.empty(); ++number) {
    if (number == options.maxPaths || numSteps > mostSteps) {
      addUnknown(entry, "has more than " + std::to_string(number) +
                            " paths, what the others do is not proven");
      return;
    }
    Path path = std::move(paths.front());
    paths.pop_front();
    verifyPath(entry, path, paths);
  }
}

void ProgramVerifier::follow() {
  findEndlessRecursion(module, symbolTables, findings);
  SmallVector<FunctionOpInterface> entries = findEntries();
  if (entries.empty())
    return;
  WorldSize size = getWorldSize(module, options.numRanks, symbolTables);
  numRanks = size.numRanks;
  isSizeKnown = size.isKnown;
  hasOneEntry = entries.size() == 1;
  for (auto &[group, rank] : size.outOfRange)
    findings.add(
        {group, "has rank " + std::to_string(rank) + ", expected ranks below " +
                    std::to_string(numRanks) + ", the number of ranks"});
  collectConstants();
  if (numRanks > mostRanks) {
    addUnknown(entries.front(), "runs on " + std::to_string(numRanks) +
                                    " ranks, more than the " +
                                    std::to_string(mostRanks) +
                                    " that are verified");
  } else if (size.outOfRange.empty()) {
    if (!size.isKnown)
      addUnknown(entries.front(),
                 "runs on a number of ranks that is not known, only " +
                     std::to_string(numRanks) + " ranks are verified");
    for (FunctionOpInterface entry : entries)
      verifyEntry(entry);
  }
}

LogicalResult ProgramVerifier::report() {
  for (const Finding &finding : findings.get()) {
    if (finding.isUnknown && !options.isStrict)
      continue;
    InFlightDiagnostic diagnostic =
        options.onlyWarns ? finding.op->emitWarning() : finding.op->emitError();
    diagnostic << "'" << finding.op->getName() << "' op " << finding.text;
    for (const Finding::Note &note : finding.notes)
      diagnostic.attachNote(note.location) << note.text;
  }
  if (options.onlyWarns)
    return success();
  return failure(findings.getNumErrors() != 0 ||
                 (options.isStrict && !findings.get().empty()));
}

LogicalResult braid::verifyProgram(ModuleOp module,
                                   const ProgramVerifierOptions &options) {
  ProgramVerifier verifier(module, options);
  verifier.follow();
  return verifier.report();
}
