//===- AlignLayouts.cpp - Layouts of values between fused ops -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AlignLayouts.h"

#include "FusionCost.h"
#include "FusionShapes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace braid::comm;

/// Smaller tensors stay in caches: their layouts cost nothing.
static constexpr int64_t kLargeBytes = 1 << 20;
/// Accesses whose contiguous parts have as many bytes are efficient.
static constexpr int64_t kRunBytes = 128;
/// How much more than its bytes an access along another loop costs: through
/// shared memory, element by element, and in a reduction.
static constexpr int64_t kTiled = 1, kScattered = 4, kReduced = 8;

namespace {

/// The loops along the dimensions of an operand, the innermost one last.
using Order = SmallVector<unsigned>;

bool isLarge(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         tensor.getElementType().isIntOrFloat() &&
         getBytes(tensor) >= kLargeBytes;
}

/// True if kernels of `op` read and write along single loops.
bool isMovable(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && op.getRegion().hasOneBlock() &&
         !linalg::isaContractionOpInterface(op) &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation(/*allowZeroInResults=*/true);
         });
}

/// True if `init` may have other dimensions: nobody reads it, or it is a fill.
bool isReplaceable(OpOperand &init) {
  auto op = cast<linalg::GenericOp>(init.getOwner());
  return !op.payloadUsesValueFromOperand(&init) ||
         init.get().getDefiningOp<linalg::FillOp>();
}

/// True if only ops that may be rewritten see the layout of `value`.
bool isFree(OpResult value) {
  auto producer = dyn_cast<linalg::GenericOp>(value.getOwner());
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !isMovable(producer) ||
      value.use_empty())
    return false;
  OpOperand *init = producer.getTiedOpOperand(value);
  AffineMap map = producer.getMatchingIndexingMap(init);
  return map.isProjectedPermutation() && isReplaceable(*init) &&
         llvm::all_of(value.getUses(), [](OpOperand &use) {
           auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
           return isMovable(user) && (user.isDpsInput(&use) ||
                                      !user.payloadUsesValueFromOperand(&use));
         });
}

/// Ops between which tensors may have any layout, and the layouts.
class Component {
public:
  Component(ArrayRef<linalg::GenericOp> ops, ArrayRef<OpResult> values)
      : ops(ops), values(values), freeValues(values.begin(), values.end()) {}

  /// Identifies loops of different ops by the dimensions of `values`. Returns
  /// false if two loops of an op are one then.
  bool findLoops();
  /// The orders of loops that tensors have.
  SmallVector<Order> getCandidates();
  /// The bytes that the ops move in vain if `values` have the order
  /// `candidate`, or the layouts that they have if it is empty.
  int64_t getCost(ArrayRef<unsigned> candidate);
  void apply(RewriterBase &rewriter, ArrayRef<unsigned> candidate);

private:
  unsigned getId(linalg::GenericOp op, unsigned loop) {
    return ids.lookup({op, loop});
  }
  /// The loops of the dimensions of `operand`, by its map.
  Order getOrder(OpOperand &operand);
  /// How `candidate` permutes the dimensions of `value`.
  SmallVector<int64_t> getPermutation(OpResult value,
                                      ArrayRef<unsigned> candidate);
  int64_t getCost(linalg::GenericOp op, ArrayRef<unsigned> candidate);

  ArrayRef<linalg::GenericOp> ops;
  ArrayRef<OpResult> values;
  llvm::DenseSet<Value> freeValues;
  llvm::DenseMap<std::pair<Operation *, unsigned>, unsigned> ids;
  llvm::DenseMap<unsigned, int64_t> sizes;
};

} // namespace

bool Component::findLoops() {
  llvm::EquivalenceClasses<unsigned> classes;
  llvm::DenseMap<std::pair<Operation *, unsigned>, unsigned> numbers;
  unsigned count = 0;
  for (linalg::GenericOp op : ops)
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      classes.insert(count);
      numbers[{op, loop}] = count++;
    }
  for (OpResult value : values) {
    auto producer = cast<linalg::GenericOp>(value.getOwner());
    AffineMap written =
        producer.getMatchingIndexingMap(producer.getTiedOpOperand(value));
    for (OpOperand &use : value.getUses()) {
      auto user = cast<linalg::GenericOp>(use.getOwner());
      if (!user.isDpsInput(&use))
        continue;
      for (auto [from, to] :
           llvm::zip(written.getResults(),
                     user.getMatchingIndexingMap(&use).getResults()))
        if (auto loop = dyn_cast<AffineDimExpr>(to))
          classes.unionSets(
              numbers.at({producer, cast<AffineDimExpr>(from).getPosition()}),
              numbers.at({user, loop.getPosition()}));
    }
  }
  for (linalg::GenericOp op : ops) {
    llvm::SmallDenseSet<unsigned> seen;
    for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges())) {
      unsigned number = numbers.at({op, static_cast<unsigned>(loop)});
      unsigned id = classes.getLeaderValue(number);
      if (!seen.insert(id).second)
        return false;
      ids[{op, static_cast<unsigned>(loop)}] = id;
      sizes[id] = size;
    }
  }
  return true;
}

Order Component::getOrder(OpOperand &operand) {
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  Order order;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      order.push_back(getId(op, loop.getPosition()));
  return order;
}

SmallVector<Order> Component::getCandidates() {
  SmallVector<Order> candidates;
  for (linalg::GenericOp op : ops)
    for (OpOperand &operand : op->getOpOperands())
      if (isLarge(operand.get().getType())) {
        Order order = getOrder(operand);
        if (!llvm::is_contained(candidates, order))
          candidates.push_back(std::move(order));
      }
  return candidates;
}

/// `order` arranged as in `candidate`; other loops stay first.
static Order arrange(const Order &order, ArrayRef<unsigned> candidate) {
  auto isOther = [&](unsigned id) {
    return !llvm::is_contained(candidate, id);
  };
  Order arranged = llvm::filter_to_vector(order, isOther);
  for (unsigned id : candidate)
    if (llvm::is_contained(order, id))
      arranged.push_back(id);
  return arranged;
}

SmallVector<int64_t> Component::getPermutation(OpResult value,
                                               ArrayRef<unsigned> candidate) {
  auto producer = cast<linalg::GenericOp>(value.getOwner());
  Order order = getOrder(*producer.getTiedOpOperand(value));
  SmallVector<int64_t> permutation;
  for (unsigned id : arrange(order, candidate))
    permutation.push_back(llvm::find(order, id) - order.begin());
  return permutation;
}

int64_t Component::getCost(linalg::GenericOp op, ArrayRef<unsigned> candidate) {
  struct Access {
    Order order;
    int64_t bytes = 0, elementBytes = 1;
    bool isOutput = false;
  };
  SmallVector<Access> accesses;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isOutput = op.isDpsInit(&operand);
    Value value = isOutput ? op.getTiedOpResult(&operand) : operand.get();
    if (!isLarge(value.getType()))
      continue;
    Order order = getOrder(operand);
    if (freeValues.contains(value))
      order = arrange(order, candidate);
    llvm::erase_if(order, [&](unsigned id) { return sizes.at(id) == 1; });
    auto type = cast<RankedTensorType>(value.getType());
    int64_t bytes = getBytes(type);
    accesses.push_back({std::move(order), bytes,
                        std::max<int64_t>(1, bytes / type.getNumElements()),
                        isOutput});
  }
  if (accesses.empty())
    return 0;
  // The kernel runs along its results, or along the largest input.
  const Access &along = *llvm::max_element(
      accesses, [](const Access &access, const Access &other) {
        return std::make_pair(access.isOutput, access.bytes) <
               std::make_pair(other.isOutput, other.bytes);
      });
  bool isReduction = op.getNumReductionLoops() > 0;
  int64_t cost = 0;
  std::optional<unsigned> tiled;
  for (const Access &access : accesses) {
    if (access.order.empty() || along.order.empty() ||
        !llvm::is_contained(access.order, along.order.back()))
      continue;
    int64_t run = access.elementBytes;
    auto one = access.order.rbegin(), other = along.order.rbegin();
    for (; one != access.order.rend() && other != along.order.rend() &&
           *one == *other;
         ++one, ++other)
      run *= sizes.at(*one);
    if (one == access.order.rend() || other == along.order.rend() ||
        run >= kRunBytes)
      continue;
    if (isReduction) {
      cost += kReduced * access.bytes;
      continue;
    }
    bool isTiled = !access.isOutput && (!tiled || *tiled == *one);
    if (isTiled)
      tiled = *one;
    cost += (isTiled ? kTiled : kScattered) * access.bytes;
  }
  return cost;
}

int64_t Component::getCost(ArrayRef<unsigned> candidate) {
  int64_t cost = 0;
  for (linalg::GenericOp op : ops)
    cost += getCost(op, candidate);
  return cost;
}

void Component::apply(RewriterBase &rewriter, ArrayRef<unsigned> candidate) {
  llvm::DenseMap<Value, SmallVector<int64_t>> permutations;
  for (OpResult value : values)
    permutations[value] = getPermutation(value, candidate);
  for (linalg::GenericOp op : ops) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    for (OpOperand &operand : op->getOpOperands()) {
      bool isOutput = op.isDpsInit(&operand);
      Value value = isOutput ? op.getTiedOpResult(&operand) : operand.get();
      auto found = permutations.find(value);
      if (found == permutations.end())
        continue;
      AffineMap &map = maps[operand.getOperandNumber()];
      map = AffineMap::get(map.getNumDims(), map.getNumSymbols(),
                           applyPermutation(map.getResults(), found->second),
                           op.getContext());
    }
    rewriter.modifyOpInPlace(op, [&] {
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
  }
  for (OpResult value : values) {
    auto type = cast<RankedTensorType>(value.getType());
    value.setType(
        type.clone(applyPermutation(type.getShape(), permutations.at(value))));
  }
  for (linalg::GenericOp op : ops) {
    for (OpOperand &init : op.getDpsInitsMutable()) {
      auto type = cast<RankedTensorType>(op.getTiedOpResult(&init).getType());
      if (init.get().getType() == type)
        continue;
      rewriter.setInsertionPoint(op);
      Value replacement = tensor::EmptyOp::create(
          rewriter, op.getLoc(), type.getShape(), type.getElementType());
      if (op.payloadUsesValueFromOperand(&init))
        replacement =
            linalg::FillOp::create(
                rewriter, op.getLoc(),
                init.get().getDefiningOp<linalg::FillOp>().getInputs(),
                replacement)
                .getResult(0);
      rewriter.modifyOpInPlace(op, [&] { init.set(replacement); });
    }
    // Other passes expect that elementwise ops write along their last loop.
    AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (op.getNumReductionLoops() > 0 || !written.isPermutation() ||
        written.isIdentity())
      continue;
    SmallVector<unsigned> interchange;
    for (AffineExpr expr : written.getResults())
      interchange.push_back(cast<AffineDimExpr>(expr).getPosition());
    if (succeeded(linalg::interchangeGenericOp(rewriter, op, interchange)))
      foldMaps(rewriter, op);
  }
}

int64_t braid::comm::alignLayouts(RewriterBase &rewriter, Operation *root) {
  SmallVector<linalg::GenericOp> all;
  root->walk([&](linalg::GenericOp op) { all.push_back(op); });
  llvm::EquivalenceClasses<Operation *> connected;
  SmallVector<OpResult> free;
  for (linalg::GenericOp op : all)
    for (OpResult value : op->getResults())
      if (isFree(value)) {
        free.push_back(value);
        if (isLarge(value.getType()))
          for (Operation *user : value.getUsers())
            connected.unionSets(op, user);
      }
  // Small tensors follow the large ones of the only ops that they stand
  // between.
  auto findOnlyLeader = [&](OpResult value) -> Operation * {
    llvm::SmallSetVector<Operation *, 2> leaders;
    auto add = [&](Operation *op) {
      if (connected.contains(op))
        leaders.insert(connected.getLeaderValue(op));
    };
    add(value.getOwner());
    llvm::for_each(value.getUsers(), add);
    return leaders.size() == 1 ? leaders.front() : nullptr;
  };
  bool hasGrown = true;
  while (hasGrown) {
    hasGrown = false;
    for (OpResult value : free)
      if (Operation *leader = findOnlyLeader(value)) {
        auto join = [&](Operation *op) {
          hasGrown |= !connected.contains(op);
          connected.unionSets(leader, op);
        };
        join(value.getOwner());
        llvm::for_each(value.getUsers(), join);
      }
  }
  llvm::MapVector<Operation *, SmallVector<linalg::GenericOp>> components;
  for (linalg::GenericOp op : all)
    if (connected.contains(op))
      components[connected.getLeaderValue(op)].push_back(op);
  int64_t numChanged = 0;
  for (auto &[leader, ops] : components) {
    auto isInside = [&, of = leader](Operation *op) {
      return connected.contains(op) && connected.getLeaderValue(op) == of;
    };
    auto values = llvm::filter_to_vector(free, [&](OpResult value) {
      return isInside(value.getOwner()) &&
             llvm::all_of(value.getUsers(), isInside);
    });
    Component component(ops, values);
    if (!component.findLoops())
      continue;
    Order best;
    int64_t least = component.getCost(best);
    if (least == 0)
      continue;
    for (Order &candidate : component.getCandidates())
      if (int64_t cost = component.getCost(candidate); cost < least) {
        least = cost;
        best = candidate;
      }
    if (best.empty())
      continue;
    component.apply(rewriter, best);
    numChanged += values.size();
  }
  return numChanged;
}
