//===- SplitHierarchy.cpp - The comm-split-hierarchy pass -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Chunks/ChunkedMatmul.h"
#include "Dialect/Comm/Transforms/Chunks/RewriteJudge.h"
#include "Dialect/Comm/Transforms/Chunks/RewritePass.h"
#include "Dialect/Comm/Transforms/LegalizeNCCL/TensorRewrites.h"

#include "braid/Analysis/Structure/GroupGrid.h"
#include "braid/Analysis/Structure/ReorderedSums.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMSPLITHIERARCHYPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// The groups of rows and columns that a pass needs: groups of the program that
/// have the lists, or new ones.
class GridGroups {
public:
  /// The group with `lists` in the symbol table around `from`; a new one has
  /// the name of `whole` and `suffix`.
  FlatSymbolRefAttr get(Operation *from, GroupOp whole, const RankLists &lists,
                        StringRef suffix);

  /// Erases the new groups that nothing names.
  void eraseUnused(ModuleOp module);

private:
  llvm::MapVector<std::pair<Operation *, Attribute>, GroupOp> groups;
  SmallVector<GroupOp> created;
};

/// A collective that can become steps over the grid of its group.
struct SteppedCollective {
  CollectiveOpInterface start;
  /// The wait of each token.
  SmallVector<WaitOp, 1> waits;
  GroupGrid grid;
};

} // namespace

FlatSymbolRefAttr GridGroups::get(Operation *from, GroupOp whole,
                                  const RankLists &lists, StringRef suffix) {
  OpBuilder builder(whole);
  builder.setInsertionPointAfter(whole);
  SmallVector<Attribute> attributes;
  for (const std::vector<int64_t> &ranks : lists)
    attributes.push_back(builder.getDenseI64ArrayAttr(ranks));
  ArrayAttr ranks = builder.getArrayAttr(attributes);
  Operation *table = SymbolTable::getNearestSymbolTable(from);
  GroupOp &group = groups[{table, ranks}];
  if (!group)
    for (auto known : table->getRegion(0).getOps<GroupOp>())
      if (known.getRanksAttr() == ranks)
        group = known;
  if (!group) {
    group = GroupOp::create(builder, whole.getLoc(),
                            (whole.getSymName() + suffix).str(), ranks,
                            /*sym_visibility=*/nullptr);
    SymbolTable(table).insert(group);
    created.push_back(group);
  }
  return FlatSymbolRefAttr::get(group.getSymNameAttr());
}

void GridGroups::eraseUnused(ModuleOp module) {
  for (GroupOp group : created)
    if (SymbolTable::symbolKnownUseEmpty(group, module))
      group.erase();
  created.clear();
  groups.clear();
}

/// The members of a communicator of `step` in `grid`.
static int64_t countStepMembers(const GroupStep &step, const GroupGrid &grid) {
  return step.isInRow ? grid.numColumns : grid.numRows;
}

static SmallVector<Value> getSources(CollectiveOpInterface start) {
  return cast<AsyncStartOpInterface>(start.getOperation()).getSources();
}

/// `start` as a collective in steps within and between the nodes of
/// `ranksPerNode` ranks; nothing if it is none. `numRanks` are the members of a
/// group `all`, if they are known.
static std::optional<SteppedCollective>
matchStepped(CollectiveOpInterface start, int64_t ranksPerNode,
             std::optional<int64_t> numRanks) {
  ArrayRef<GroupStep> steps = getGroupSteps(start.getCollectiveKind());
  SmallVector<WaitOp, 1> waits;
  if (!steps.empty() && start.getSplitDim() == 0)
    waits = findRewritableWaits(start);
  GroupOp group = lookupGroup(start, start.getGroupAttr());
  if (waits.empty() || !group)
    return std::nullopt;
  std::optional<RankLists> lists = getRankLists(group, numRanks);
  std::optional<GroupGrid> grid =
      lists ? getGridOfNodes(*lists, ranksPerNode) : std::nullopt;
  if (!grid)
    return std::nullopt;
  bool isDivided = steps.front().kind == CollectiveKind::reduce_scatter ||
                   steps.front().kind == CollectiveKind::scatter;
  for (Value source : getSources(start)) {
    auto type = cast<RankedTensorType>(source.getType());
    if (type.getRank() == 0 || type.getNumElements() == 0 ||
        (isDivided &&
         type.getDimSize(0) % countStepMembers(steps.front(), *grid) != 0))
      return std::nullopt;
  }
  return SteppedCollective{start, std::move(waits), std::move(*grid)};
}

/// Exchanges the two outer dimensions of rows that are `outer` parts of `inner`
/// parts each.
static Value exchangeParts(RewriterBase &rewriter, Location loc, Value value,
                           int64_t outer, int64_t inner) {
  ImplicitLocOpBuilder b(loc, rewriter);
  value = splitDim(b, value, 0, b.getIndexAttr(outer));
  value = splitDim(b, value, 1, b.getIndexAttr(inner));
  value = moveDim(b, value, 0, 1);
  return joinDims(b, joinDims(b, value, 0), 0);
}

/// Starts `step` of `start` on `values`, in a group of `grid`.
static Operation *startStep(RewriterBase &rewriter, CollectiveOpInterface start,
                            const GroupStep &step, FlatSymbolRefAttr group,
                            const GroupGrid &grid, ArrayRef<Value> values) {
  Location loc = start.getLoc();
  int64_t numMembers = countStepMembers(step, grid);
  IntegerAttr root;
  if (std::optional<int64_t> whole = start.getRootIndex())
    root =
        rewriter.getI64IntegerAttr(getStepRoot(step, *whole, grid.numColumns));
  IntegerAttr rows = rewriter.getI64IntegerAttr(0);
  ReductionKindAttr reduction;
  if (std::optional<ReductionKind> kind = start.getReductionKind())
    reduction = ReductionKindAttr::get(rewriter.getContext(), *kind);
  SmallVector<Type> tokens;
  for (Value value : values) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t numRows = type.getDimSize(0);
    if (step.kind == CollectiveKind::reduce_scatter ||
        step.kind == CollectiveKind::scatter)
      numRows /= numMembers;
    else if (step.kind == CollectiveKind::all_gather)
      numRows *= numMembers;
    tokens.push_back(TokenType::get(withSize(type, 0, numRows)));
  }
  Operation *op;
  if (step.kind == CollectiveKind::reduce_scatter)
    op = ReduceScatterOp::create(rewriter, loc, tokens, reduction, Value(),
                                 values, ValueRange(), group, rows);
  else if (step.kind == CollectiveKind::all_reduce)
    op = AllReduceOp::create(rewriter, loc, tokens, reduction, Value(), values,
                             ValueRange(), group);
  else if (step.kind == CollectiveKind::scatter)
    op = ScatterOp::create(rewriter, loc, tokens, values, ValueRange(), group,
                           root);
  else if (step.kind == CollectiveKind::broadcast)
    op = BroadcastOp::create(rewriter, loc, tokens, values, ValueRange(), group,
                             root);
  else
    op = AllGatherOp::create(rewriter, loc, tokens, values, ValueRange(), group,
                             rows);
  labelPart(op, start, step.isInRow ? "inside" : "across");
  return op;
}
/// Replaces the collective by its steps: the first one where it starts, the
/// others where it is awaited first.
static void replaceBySteps(RewriterBase &rewriter,
                           const SteppedCollective &collective,
                           GridGroups &groups) {
  CollectiveOpInterface start = collective.start;
  const GroupGrid &grid = collective.grid;
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = start.getLoc();
  GroupOp whole = lookupGroup(start, start.getGroupAttr());
  FlatSymbolRefAttr row = groups.get(start, whole, grid.rows, "_inside");
  FlatSymbolRefAttr column = groups.get(start, whole, grid.columns, "_across");
  CollectiveKind kind = start.getCollectiveKind();
  bool reassociates = dependsOnOrderOfTerms(start);
  WaitOp firstWait = collective.waits.front();
  for (WaitOp wait : collective.waits)
    if (wait->isBeforeInBlock(firstWait))
      firstWait = wait;

  rewriter.setInsertionPoint(start);
  SmallVector<Value> values = getSources(start);
  if (kind == CollectiveKind::reduce_scatter)
    for (Value &value : values)
      value =
          exchangeParts(rewriter, loc, value, grid.numRows, grid.numColumns);
  Operation *last = nullptr;
  for (const GroupStep &step : getGroupSteps(kind)) {
    if (last) {
      rewriter.setInsertionPoint(firstWait);
      for (auto [value, token] : llvm::zip_equal(values, last->getResults()))
        value = WaitOp::create(rewriter, loc,
                               cast<TokenType>(token.getType()).getValueType(),
                               token, ValueRange(), ValueRange())
                    .getValue();
    }
    last = startStep(rewriter, start, step, step.isInRow ? row : column, grid,
                     values);
    if (reassociates && step.kind != CollectiveKind::all_gather)
      recordReassociation(last, "within nodes and across");
  }
  for (auto [wait, token] :
       llvm::zip_equal(collective.waits, last->getResults())) {
    Operation *op = wait;
    Value newToken = token;
    rewriter.modifyOpInPlace(op, [&]() { op->setOperand(0, newToken); });
    if (kind != CollectiveKind::all_gather)
      continue;
    // The parts of each column of ranks are side by side.
    rewriter.setInsertionPointAfter(op);
    Value given = op->getResult(0);
    Value ordered =
        exchangeParts(rewriter, loc, given, grid.numColumns, grid.numRows);
    rewriter.replaceAllUsesExcept(given, ordered, op->getNextNode());
  }
  rewriter.eraseOp(start);
}

namespace {
struct CommSplitHierarchyPass
    : PartsPass<
          comm::impl::CommSplitHierarchyPassBase<CommSplitHierarchyPass>> {
  using PartsPass::PartsPass;

  CommunicationRules getRules() const override {
    CommunicationRules rules;
    rules.maySplitGroups = true;
    return rules;
  }
  SmallVector<int64_t> getParts() const override { return {1}; }
  bool plansParts() const override { return false; }
  StringRef getCountName() const override { return "split-collectives"; }
  LogicalResult begin(func::FuncOp function) override {
    return costs = resolveCosts(function);
  }
  LogicalResult find(Block &block, PartsCandidates &candidates) override;
  FailureOr<bool> rewrite(RewriterBase &rewriter, CollectiveOpInterface start,
                          int64_t /*numParts*/) override {
    std::optional<SteppedCollective> found = match(start);
    if (found)
      replaceBySteps(rewriter, *found, groups);
    return found.has_value();
  }
  LogicalResult transform() override {
    groups = {};
    if (failed(PartsPass::transform()))
      return failure();
    groups.eraseUnused(getOperation());
    return success();
  }

private:
  std::optional<SteppedCollective> match(CollectiveOpInterface start) const {
    return matchStepped(start, costs->hardware->ranksPerNode, costs->ranks);
  }

  FailureOr<CostOptions> costs;
  GridGroups groups;
};
} // namespace

LogicalResult CommSplitHierarchyPass::find(Block &block,
                                           PartsCandidates &candidates) {
  if (!areReachedTogether(block))
    return success();
  for (auto start : block.getOps<CollectiveOpInterface>())
    if ((numerics == Numerics::Reassociate || !dependsOnOrderOfTerms(start)) &&
        match(start))
      candidates.add(start, all ? 1 : 0);
  return success();
}
