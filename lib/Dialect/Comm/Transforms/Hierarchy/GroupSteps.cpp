//===- GroupSteps.cpp - Collectives in steps over a grid ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupSteps.h"

#include "Dialect/Comm/Transforms/Chunks/ChunkedMatmul.h"
#include "Dialect/Comm/Transforms/Chunks/RewriteJudge.h"
#include "Dialect/Comm/Transforms/LegalizeNCCL/TensorRewrites.h"

#include "braid/Analysis/Structure/ReorderedSums.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The members of a communicator of `step` in `grid`.
static int64_t countStepMembers(const GroupStep &step, const GroupGrid &grid) {
  return step.isInRow ? grid.numColumns : grid.numRows;
}

static SmallVector<Value> getSources(CollectiveOpInterface start) {
  return cast<AsyncStartOpInterface>(start.getOperation()).getSources();
}

std::optional<SteppedCollective>
braid::comm::matchStepped(CollectiveOpInterface start, int64_t ranksPerNode,
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

void braid::comm::replaceBySteps(RewriterBase &rewriter,
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
