//===- PairedParts.cpp - Parts of a batch that may become one -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PairedParts.h"
#include "BatchParts.h"
#include "Dialect/Comm/Transforms/Chunks/RewriteJudge.h"
#include "Dialect/Comm/Transforms/Chunks/Slices.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <numeric>
#include <queue>

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// What passes know of `op` beside its properties, without the name of a part.
static DictionaryAttr getAttributes(Operation *op) {
  NamedAttrList attributes(op->getDiscardableAttrDictionary());
  attributes.erase(CommDialect::kLabelAttrName);
  return attributes.getDictionary(op->getContext());
}

/// True if `first` and `second` do the same to what they take.
static bool areAlike(Operation *first, Operation *second) {
  constexpr auto flags = OperationEquivalence::IgnoreLocations;
  if (first->getName() != second->getName() ||
      first->getOperandTypes() != second->getOperandTypes() ||
      first->getResultTypes() != second->getResultTypes() ||
      first->getNumRegions() != second->getNumRegions() ||
      getAttributes(first) != getAttributes(second))
    return false;
  if (first->getPropertiesStorageSize() != 0 &&
      !first->getName().compareOpProperties(first->getPropertiesStorage(),
                                            second->getPropertiesStorage()))
    return false;
  return llvm::all_of(
      llvm::zip_equal(first->getRegions(), second->getRegions()),
      [&](auto regions) {
        return OperationEquivalence::isRegionEquivalentTo(
            &std::get<0>(regions), &std::get<1>(regions), flags);
      });
}

/// True if one op may do for both parts what `op` does for one.
static bool mayBeWhole(Operation *op) {
  if (op->hasAttr(CommDialect::kCostAttrName) || hasSettings(op))
    return false;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return !linalgOp.hasIndexSemantics();
  auto start = dyn_cast<CollectiveOpInterface>(op);
  return start ? !start.getScale() : isa<WaitOp>(op) || isMemoryEffectFree(op);
}

/// True if parts of `value` with the runs along `dim` may be put together.
static bool isPart(Value value, int64_t dim, int64_t runs) {
  RankedTensorType type = getSplitType(value);
  // Offsets and products of two sizes are numbers of 64 bits.
  constexpr int64_t mostElements = int64_t(1) << 31;
  return type && type.hasStaticShape() && type.getDimSize(dim) != 0 &&
         type.getDimSize(dim) < mostElements &&
         type.getDimSize(dim) % runs == 0;
}

/// Makes parts of one value of `first` and `second`, unless they are known to
/// be other parts.
bool PairedParts::pairValues(Value first, Value second, int64_t dim,
                             int64_t runs) {
  auto *known = values.find(first);
  if (known != values.end())
    return known->second.value == second && known->second.dim == dim &&
           known->second.runs == runs;
  if (first.getType() != second.getType() || !isPart(first, dim, runs) ||
      seconds.contains(first) || seconds.contains(second) ||
      (first != second && values.contains(second)))
    return false;
  values.insert({first, {second, dim, runs}});
  if (first != second)
    seconds.insert(second);
  return true;
}

/// Makes a pair of `first` and `second`, which have the runs of `split` along
/// its axis, if they may become one op, and of what they take and give.
bool PairedParts::pair(Operation *first, Operation *second, SplitOp split) {
  const SplitAxis &axis = split.axis;
  if (first == second || first->getBlock() != block ||
      second->getBlock() != block || firstOf.contains(first) ||
      firstOf.contains(second) || split.operandRuns % axis.multiple != 0 ||
      split.operandRuns * axis.joined % axis.divided != 0 ||
      llvm::is_contained(axis.results, std::nullopt) || !mayBeWhole(first) ||
      !areAlike(first, second))
    return false;
  split.resultRuns = split.operandRuns * axis.joined / axis.divided;
  size_t numKnown = values.size();
  auto pairAll = [&](auto firsts, auto seconds, const SplitAxis::Dims &dims,
                     int64_t runs) {
    return llvm::all_of(
        llvm::zip_equal(firsts, seconds, dims), [&](const auto &entry) {
          auto [one, other, dim] = entry;
          return dim ? pairValues(one, other, *dim, runs) : one == other;
        });
  };
  if (!pairAll(first->getOperands(), second->getOperands(), axis.operands,
               split.operandRuns) ||
      !pairAll(first->getResults(), second->getResults(), axis.results,
               split.resultRuns)) {
    for (; values.size() != numKnown; values.pop_back())
      seconds.erase(values.back().second.value);
    return false;
  }
  firstOf[first] = firstOf[second] = first;
  for (size_t number = numKnown; number != values.size(); ++number)
    pending.push_back(values.begin()[number].first);
  ops.insert({first, {second, std::move(split)}});
  return true;
}

/// Makes a pair of the ops that give both parts of a value.
void PairedParts::pairProducers(Value first) {
  OtherPart part = values.find(first)->second;
  // A wait comes with its start, or not at all.
  auto getProduced = [](Value value) {
    auto wait = value.getDefiningOp<WaitOp>();
    return dyn_cast<OpResult>(wait ? wait.getToken() : value);
  };
  OpResult one = getProduced(first), other = getProduced(part.value);
  if (!one || !other || one.getResultNumber() != other.getResultNumber())
    return;
  for (SplitAxis &axis : getSplitAxes(one.getOwner())) {
    int64_t divided = part.runs * axis.divided, runs = divided / axis.joined;
    if (axis.results[one.getResultNumber()] == part.dim &&
        divided % axis.joined == 0 &&
        pair(one.getOwner(), other.getOwner(), {std::move(axis), runs}))
      return;
  }
}

/// Makes pairs of the ops that take both parts of a value.
void PairedParts::pairUsers(Value first) {
  OtherPart part = values.find(first)->second;
  // A tensor that many ops read is no part of what few of them do.
  constexpr size_t mostUses = 64;
  SmallVector<OpOperand *> uses, others;
  for (OpOperand &use : first.getUses())
    uses.push_back(&use);
  for (OpOperand &use : part.value.getUses())
    others.push_back(&use);
  if (first == part.value || uses.size() > mostUses || others.size() > mostUses)
    return;
  // Uses are in no order of their own.
  auto isBefore = [](OpOperand *a, OpOperand *b) {
    Operation *one = a->getOwner(), *other = b->getOwner();
    return one == other ? a->getOperandNumber() < b->getOperandNumber()
                        : one->isBeforeInBlock(other);
  };
  for (SmallVector<OpOperand *> *list : {&uses, &others}) {
    llvm::erase_if(*list, [&](OpOperand *use) {
      return use->getOwner()->getBlock() != block ||
             use->getOwner()->hasTrait<OpTrait::IsTerminator>();
    });
    llvm::sort(*list, isBefore);
  }
  for (OpOperand *use : uses)
    for (OpOperand *other : others) {
      unsigned number = use->getOperandNumber();
      if (other->getOperandNumber() != number ||
          other->getOwner()->getName() != use->getOwner()->getName())
        continue;
      bool isPaired = false;
      for (SplitAxis &axis : getSplitAxes(use->getOwner()))
        if (axis.operands[number] == part.dim &&
            (isPaired = pair(use->getOwner(), other->getOwner(),
                             {std::move(axis), part.runs})))
          break;
      if (isPaired)
        break;
    }
}

/// True if all waits of the starts have pairs, too.
bool PairedParts::hasAllWaits() const {
  return llvm::all_of(ops, [&](const auto &entry) {
    return llvm::all_of(entry.first->getResults(), [&](OpResult result) {
      return !isa<TokenType>(result.getType()) ||
             llvm::all_of(result.getUsers(),
                          [&](Operation *wait) { return ops.contains(wait); });
    });
  });
}

SmallVector<CollectiveOpInterface> PairedParts::getStarts() const {
  SmallVector<CollectiveOpInterface> starts;
  for (const auto &entry : ops)
    if (auto start = dyn_cast<CollectiveOpInterface>(entry.first))
      starts.push_back(start);
  return starts;
}

std::optional<PairedParts> PairedParts::find(CollectiveOpInterface first,
                                             CollectiveOpInterface second) {
  std::optional<PairedParts> best;
  auto isCompute = [](const auto &entry) {
    return isa<linalg::LinalgOp, SplitOpInterface>(entry.first) &&
           !isa<linalg::FillOp>(entry.first);
  };
  for (SplitAxis &axis : getSplitAxes(first)) {
    PairedParts found(first->getBlock());
    // The fewest runs that members can join or divide.
    int64_t divided = axis.divided / std::gcd(axis.divided, axis.joined);
    int64_t runs = std::lcm(axis.multiple, divided);
    if (!found.pair(first, second, {std::move(axis), runs}))
      continue;
    for (size_t next = 0; next != found.pending.size(); ++next) {
      Value value = found.pending[next];
      found.pairProducers(value);
      found.pairUsers(value);
    }
    if (llvm::none_of(found.ops, isCompute) || !found.hasAllWaits() ||
        (best && best->ops.size() >= found.ops.size()))
      continue;
    found.findJoins();
    if (found.findOrder())
      best = std::move(found);
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// The offset along `dim` of an insertion of a tensor that is whole along all
/// other dimensions of what it becomes a part of; none for another insertion.
static std::optional<int64_t> getInsertedPlace(tensor::InsertSliceOp insert,
                                               int64_t dim) {
  RankedTensorType type = insert.getSourceType();
  if (type.getRank() != insert.getDestType().getRank() ||
      insert.getStaticSizes() != type.getShape() ||
      !llvm::all_of(insert.getStaticStrides(),
                    [](int64_t stride) { return stride == 1; }))
    return std::nullopt;
  for (auto [number, offset] : llvm::enumerate(insert.getStaticOffsets()))
    if (ShapedType::isDynamic(offset) ||
        (int64_t(number) != dim && offset != 0))
      return std::nullopt;
  return insert.getStaticOffset(dim);
}

/// Finds where the program puts both parts of a value side by side.
void PairedParts::findJoins() {
  for (const auto &[first, part] : values) {
    if (part.runs != 1 || first == part.value)
      continue;
    for (Operation *user : first.getUsers())
      for (Operation *other : part.value.getUsers()) {
        auto one = dyn_cast<tensor::InsertSliceOp>(user),
             two = dyn_cast<tensor::InsertSliceOp>(other);
        if (!one || !two || one.getSource() != first ||
            two.getSource() != part.value || firstOf.contains(one) ||
            firstOf.contains(two) || one->getBlock() != block ||
            two->getBlock() != block)
          continue;
        std::optional<int64_t> begin = getInsertedPlace(one, part.dim),
                               end = getInsertedPlace(two, part.dim);
        if (!begin || !end ||
            *begin + one.getSourceType().getDimSize(part.dim) != *end)
          continue;
        if (two.getDest() == one.getResult() && one->hasOneUse())
          joins.push_back({one, two, first});
        else if (one.getDest() == two.getResult() && two->hasOneUse())
          joins.push_back({two, one, first});
      }
  }
}

/// Finds an order of the block in which the ops of each pair have one place:
/// that of the program, as far as it can stay. False if there is none.
bool PairedParts::findOrder() {
  SmallVector<Operation *> list;
  llvm::DenseMap<Operation *, unsigned> places;
  for (Operation &op : block->without_terminator()) {
    places[&op] = list.size();
    list.push_back(&op);
  }
  // A pair has the place of its later op.
  auto getNode = [&](Operation *op) {
    auto it = firstOf.find(op);
    if (it == firstOf.end())
      return places.lookup(op);
    Operation *second = ops.find(it->second)->second.second;
    return std::max(places.lookup(it->second), places.lookup(second));
  };
  std::vector<SmallVector<unsigned, 4>> successors(list.size());
  SmallVector<unsigned> numBefore(list.size(), 0);
  auto addEdge = [&](Operation *before, Operation *behind) {
    unsigned from = getNode(before), to = getNode(behind);
    successors[from].push_back(to);
    ++numBefore[to];
    return from != to;
  };
  // What has other effects keeps its place among all that communicates.
  Operation *barrier = nullptr;
  SmallVector<Operation *> sinceBarrier;
  for (Operation *op : list) {
    bool isSound = true;
    op->walk([&](Operation *user) {
      for (Value operand : user->getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && producer->getBlock() == block)
          isSound &= addEdge(producer, op);
    });
    auto start = dyn_cast<CollectiveOpInterface>(op);
    bool isStart = start && !start.isPointToPoint() && !hasSettings(op) &&
                   !cast<AsyncStartOpInterface>(op).isBufferForm();
    if (!isStart && !isa<WaitOp>(op) && !isMemoryEffectFree(op)) {
      for (Operation *other : sinceBarrier)
        isSound &= addEdge(other, op);
      sinceBarrier.clear();
      if (barrier)
        isSound &= addEdge(barrier, op);
      barrier = op;
    } else if (isStart || isa<WaitOp>(op)) {
      if (barrier)
        isSound &= addEdge(barrier, op);
      sinceBarrier.push_back(op);
    }
    if (!isSound)
      return false;
  }
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
  unsigned numNodes = 0;
  for (auto [place, op] : llvm::enumerate(list)) {
    bool isNode = getNode(op) == place;
    numNodes += isNode;
    if (isNode && numBefore[place] == 0)
      ready.push(place);
  }
  while (!ready.empty()) {
    unsigned next = ready.top();
    ready.pop();
    auto it = firstOf.find(list[next]);
    order.push_back(it == firstOf.end() ? list[next] : it->second);
    for (unsigned successor : successors[next])
      if (--numBefore[successor] == 0)
        ready.push(successor);
  }
  return order.size() == numNodes;
}

//===----------------------------------------------------------------------===//
// Whole ops
//===----------------------------------------------------------------------===//

/// True if a whole op takes the operand `use` as a part.
bool PairedParts::isInside(OpOperand &use) const {
  Operation *owner = use.getOwner();
  auto it = firstOf.find(owner);
  if (it != firstOf.end())
    return ops.find(it->second)
        ->second.split.axis.operands[use.getOperandNumber()]
        .has_value();
  return use.getOperandNumber() == 0 &&
         llvm::any_of(joins, [&](const Join &join) {
           return owner == join.before || owner == join.behind;
         });
}

static RankedTensorType getWholeType(RankedTensorType part, int64_t dim) {
  return withSize(part, dim, 2 * part.getDimSize(dim));
}

/// True if both values have the same scalar everywhere, or any.
static bool areSameUniform(Value first, Value second) {
  if (first == second)
    return true;
  if (first.getDefiningOp<tensor::EmptyOp>())
    return second.getDefiningOp<tensor::EmptyOp>() != nullptr;
  if (auto fill = first.getDefiningOp<linalg::FillOp>()) {
    auto other = second.getDefiningOp<linalg::FillOp>();
    return other && fill.value() == other.value();
  }
  Attribute one, other;
  return matchPattern(first, m_Constant(&one)) &&
         matchPattern(second, m_Constant(&other)) && one == other;
}

/// What `first` and `second` are slices of, one behind the other along `dim`;
/// null if they are not.
static Value getSlicedWhole(RewriterBase &rewriter, Value first, Value second,
                            int64_t dim) {
  auto one = first.getDefiningOp<tensor::ExtractSliceOp>(),
       two = second.getDefiningOp<tensor::ExtractSliceOp>();
  if (!one || !two || one.getSource() != two.getSource() ||
      one.getSourceType().getRank() != one.getType().getRank() ||
      one.getStaticSizes() != one.getType().getShape() ||
      two.getStaticSizes() != two.getType().getShape())
    return {};
  SmallVector<int64_t> expected(one.getStaticOffsets());
  if (llvm::any_of(expected, ShapedType::isDynamic))
    return {};
  auto isOne = [](int64_t stride) { return stride == 1; };
  expected[dim] += one.getType().getDimSize(dim);
  if (ArrayRef(expected) != two.getStaticOffsets() ||
      !llvm::all_of(one.getStaticStrides(), isOne) ||
      !llvm::all_of(two.getStaticStrides(), isOne))
    return {};
  RankedTensorType type = getWholeType(one.getType(), dim);
  if (type == one.getSourceType())
    return one.getSource();
  return tensor::ExtractSliceOp::create(
      rewriter, first.getLoc(), type, one.getSource(), one.getMixedOffsets(),
      getAsIndexOpFoldResult(rewriter.getContext(), type.getShape()),
      one.getMixedStrides());
}

/// Both parts of `first`, put together if no whole op gives them.
Value PairedParts::getWhole(RewriterBase &rewriter, Value first) {
  Value &whole = wholes[first];
  if (whole)
    return whole;
  auto [second, dim, runs] = values.find(first)->second;
  auto type = cast<RankedTensorType>(first.getType());
  if (areSameUniform(first, second))
    if (Value uniform = resizeUniform(rewriter, first, getWholeType(type, dim)))
      return whole = uniform;
  if (runs == 1)
    if (Value sliced = getSlicedWhole(rewriter, first, second, dim))
      return whole = sliced;
  int64_t cut = runs == 1 ? dim : dim + 1;
  Value one = separateRuns(rewriter, first, dim, runs),
        two = separateRuns(rewriter, second, dim, runs);
  auto partType = cast<RankedTensorType>(one.getType());
  RankedTensorType wholeType = getWholeType(partType, cut);
  Location loc = first.getLoc();
  Value joined =
      tensor::EmptyOp::create(rewriter, loc, wholeType.getShape(),
                              type.getElementType(), type.getEncoding());
  joined =
      insertAlong(rewriter, loc, one, joined, cut, rewriter.getIndexAttr(0));
  joined = insertAlong(rewriter, loc, two, joined, cut,
                       rewriter.getIndexAttr(partType.getDimSize(cut)));
  return whole = joinRuns(rewriter, joined, dim, runs);
}

/// Gives the users of the parts of `first` outside of the pairs slices.
void PairedParts::takeSlices(RewriterBase &rewriter, Value first) {
  auto [second, dim, runs] = values.find(first)->second;
  int64_t cut = runs == 1 ? dim : dim + 1;
  int64_t size = 0;
  Value whole;
  for (Value part : {first, second}) {
    auto isOutside = [&](OpOperand &use) { return !isInside(use); };
    if (llvm::none_of(part.getUses(), isOutside))
      continue;
    if (!whole) {
      whole = separateRuns(rewriter, wholes.lookup(first), dim, runs);
      size = cast<RankedTensorType>(whole.getType()).getDimSize(cut) / 2;
    }
    Value slice = joinRuns(
        rewriter,
        extractAlong(rewriter, whole, cut,
                     rewriter.getIndexAttr(part == first ? 0 : size), size),
        dim, runs);
    rewriter.replaceUsesWithIf(part, slice, isOutside);
  }
}

/// The name of what `first` and `second` are parts of: without `.0` and `.1`.
static std::string getWholeLabel(StringRef first, StringRef second) {
  if (first == second)
    return first.str();
  StringRef whole = first.drop_back(std::min<size_t>(2, first.size()));
  if (first == (whole + ".0").str() && second == (whole + ".1").str())
    return whole.str();
  return (first + "+1").str();
}

void PairedParts::mergePair(RewriterBase &rewriter, Operation *first) {
  const Pair &found = ops.find(first)->second;
  const SplitAxis &axis = found.split.axis;
  SmallVector<Value> operands(first->getOperands());
  for (auto [operand, dim] : llvm::zip_equal(operands, axis.operands))
    if (dim)
      operand = getWhole(rewriter, operand);
  Operation *whole = rewriter.clone(*first);
  whole->setOperands(operands);
  for (auto [part, result] :
       llvm::zip_equal(first->getResults(), whole->getResults())) {
    RankedTensorType type =
        getWholeType(getSplitType(part), *axis.results[part.getResultNumber()]);
    result.setType(isa<TokenType>(part.getType()) ? Type(TokenType::get(type))
                                                  : Type(type));
    wholes[part] = result;
  }
  updateSizes(whole, found.split,
              [](int64_t size, int64_t /*runs*/) { return 2 * size; });
  if (StringRef label = getLabel(first); !label.empty())
    whole->setAttr(
        CommDialect::kLabelAttrName,
        rewriter.getStringAttr(getWholeLabel(label, getLabel(found.second))));
  for (OpResult part : first->getResults())
    if (!isa<TokenType>(part.getType()))
      takeSlices(rewriter, part);
}

void PairedParts::merge(RewriterBase &rewriter) {
  OpBuilder::InsertionGuard guard(rewriter);
  Operation *last = block->getTerminator();
  rewriter.setInsertionPoint(last);
  for (Operation *op : order) {
    if (ops.contains(op)) {
      mergePair(rewriter, op);
      continue;
    }
    rewriter.moveOpBefore(op, last);
    auto *join = llvm::find_if(
        joins, [&](const Join &candidate) { return candidate.behind == op; });
    if (join == joins.end())
      continue;
    // One insertion puts both parts in their places.
    Value whole = getWhole(rewriter, join->part);
    if (whole.getType() != join->behind.getType()) {
      int64_t dim = values.find(join->part)->second.dim;
      tensor::InsertSliceOp lower =
          join->before.getSource() == join->part ? join->before : join->behind;
      whole =
          insertAlong(rewriter, op->getLoc(), whole, join->before.getDest(),
                      dim, rewriter.getIndexAttr(lower.getStaticOffset(dim)));
    }
    rewriter.replaceAllUsesWith(join->behind.getResult(), whole);
  }
  for (const Join &join : joins) {
    rewriter.eraseOp(join.behind);
    rewriter.eraseOp(join.before);
  }
  // The uses of a part are gone before the part is.
  SmallVector<Operation *> dead;
  for (const auto &[first, found] : ops)
    llvm::append_range(dead, ArrayRef{first, found.second});
  for (Operation *op : dead)
    op->dropAllReferences();
  for (Operation *op : dead)
    rewriter.eraseOp(op);
}
