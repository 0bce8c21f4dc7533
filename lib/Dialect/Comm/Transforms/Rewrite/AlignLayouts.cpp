//===- AlignLayouts.cpp - Layouts of values between fused ops -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rewrites.h"

#include "Dialect/Comm/Transforms/FusionCost.h"
#include "FusionShapes.h"
#include "MatmulLayouts.h"

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

/// The bytes that ops move in vain, and those that they reduce along other
/// loops than the innermost one, where kernels of rows take in no other ops.
struct LayoutCost {
  int64_t moved = 0, inColumns = 0;
  bool operator<(const LayoutCost &other) const {
    return std::make_pair(moved, inColumns) <
           std::make_pair(other.moved, other.inColumns);
  }
};

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

/// Tensors that only ops which may be rewritten see, and the matrices that they
/// are for matmuls. Rows and columns of these may be exchanged, no more.
using FreeValues = llvm::MapVector<Value, SmallVector<Matrix>>;

/// The ops whose loops read or write `value`.
SmallVector<linalg::GenericOp> getMovableOps(OpResult value) {
  SmallVector<linalg::GenericOp> ops;
  auto add = [&](Operation *op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op); isMovable(generic))
      ops.push_back(generic);
  };
  add(value.getOwner());
  llvm::for_each(value.getUsers(), add);
  return ops;
}

/// An operand for `value` whose map tells the loops of all dimensions, first
/// that of its producer; null if there is none.
OpOperand *findComplete(OpResult value) {
  auto producer = dyn_cast<linalg::GenericOp>(value.getOwner());
  if (isMovable(producer))
    return producer.getTiedOpOperand(value);
  for (OpOperand &use : value.getUses())
    if (auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
        isMovable(user) &&
        user.getMatchingIndexingMap(&use).isProjectedPermutation())
      return &use;
  return nullptr;
}

/// Adds `value` to `values` if only ops that may be rewritten see its layout.
void addIfFree(OpResult value, FreeValues &values) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || value.use_empty())
    return;
  SmallVector<Matrix> matrices;
  auto producer = dyn_cast<linalg::GenericOp>(value.getOwner());
  if (isMovable(producer)) {
    OpOperand *init = producer.getTiedOpOperand(value);
    if (!producer.getMatchingIndexingMap(init).isProjectedPermutation() ||
        !isReplaceable(*init))
      return;
  } else {
    std::optional<Matrix> written = findWrittenMatrix(value);
    if (!written || !findComplete(value))
      return;
    matrices.push_back(*written);
  }
  for (OpOperand &use : value.getUses()) {
    auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (isMovable(user)) {
      if (!user.isDpsInput(&use) && user.payloadUsesValueFromOperand(&use))
        return;
      continue;
    }
    SmallVector<Matrix> read = findReadMatrices(use);
    if (read.empty())
      return;
    llvm::append_range(matrices, read);
  }
  if (!matrices.empty() &&
      (!isLarge(type) || !llvm::all_of(matrices, [&](const Matrix &matrix) {
        return matrix.numBatch == matrices.front().numBatch &&
               matrix.numRows == matrices.front().numRows;
      })))
    return;
  values.insert({value, std::move(matrices)});
}

/// Ops between which tensors may have any layout, and the layouts.
class Component {
public:
  Component(ArrayRef<linalg::GenericOp> ops, ArrayRef<OpResult> values,
            const FreeValues &free)
      : ops(ops), values(values), inside(values.begin(), values.end()),
        free(free) {}

  /// Identifies loops of different ops by the dimensions of `values`. Returns
  /// false if two loops of an op are one then.
  bool findLoops();
  /// The orders of loops that tensors have.
  SmallVector<Order> getCandidates();
  /// What the ops move in vain if `values` have the order `candidate`, or the
  /// layouts that they have if it is empty.
  LayoutCost getCost(ArrayRef<unsigned> candidate);
  /// Adds the matrices whose rows and columns matmuls have to exchange to
  /// `exchanged`.
  void apply(RewriterBase &rewriter, ArrayRef<unsigned> candidate,
             SmallVectorImpl<Matrix> &exchanged);

private:
  unsigned getId(linalg::GenericOp op, unsigned loop) {
    return ids.lookup({op, loop});
  }
  /// The loops of the dimensions of `operand`, by its map, if `values` have the
  /// order `candidate`.
  Order getOrder(OpOperand &operand, ArrayRef<unsigned> candidate = {});
  /// How `candidate` permutes the dimensions of `value`.
  SmallVector<int64_t> getPermutation(OpResult value,
                                      ArrayRef<unsigned> candidate);
  LayoutCost getCost(linalg::GenericOp op, ArrayRef<unsigned> candidate);

  ArrayRef<linalg::GenericOp> ops;
  ArrayRef<OpResult> values;
  llvm::DenseSet<Value> inside;
  const FreeValues &free;
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
    OpOperand *complete = findComplete(value);
    auto first = cast<linalg::GenericOp>(complete->getOwner());
    ArrayRef<AffineExpr> known =
        first.getMatchingIndexingMap(complete).getResults();
    for (OpOperand &use : value.getUses()) {
      auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (!isMovable(user) || !user.isDpsInput(&use))
        continue;
      for (auto [from, to] :
           llvm::zip(known, user.getMatchingIndexingMap(&use).getResults()))
        if (auto loop = dyn_cast<AffineDimExpr>(to))
          classes.unionSets(
              numbers.at({first, cast<AffineDimExpr>(from).getPosition()}),
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

Order Component::getOrder(OpOperand &operand, ArrayRef<unsigned> candidate) {
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  Value value =
      op.isDpsInit(&operand) ? op.getTiedOpResult(&operand) : operand.get();
  SmallVector<AffineExpr> results(
      op.getMatchingIndexingMap(&operand).getResults());
  if (!candidate.empty() && inside.contains(value))
    applyPermutationToVector(results,
                             getPermutation(cast<OpResult>(value), candidate));
  Order order;
  for (AffineExpr expr : results)
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      order.push_back(getId(op, loop.getPosition()));
  return order;
}

SmallVector<Order> Component::getCandidates() {
  SmallVector<Order> candidates;
  auto add = [&](Order order) {
    if (!llvm::is_contained(candidates, order))
      candidates.push_back(std::move(order));
  };
  for (linalg::GenericOp op : ops)
    for (OpOperand &operand : op->getOpOperands())
      if (isLarge(operand.get().getType()))
        add(getOrder(operand));
  for (OpResult value : values)
    if (const SmallVector<Matrix> &matrices = free.find(value)->second;
        !matrices.empty()) {
      Order order = getOrder(*findComplete(value));
      add(applyPermutation(order, matrices.front().getExchange(order.size())));
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
  Order order = getOrder(*findComplete(value));
  Order arranged = arrange(order, candidate);
  SmallVector<int64_t> permutation;
  for (unsigned id : arranged)
    permutation.push_back(llvm::find(order, id) - order.begin());
  const SmallVector<Matrix> &matrices = free.find(value)->second;
  if (matrices.empty() ||
      permutation == matrices.front().getExchange(order.size()))
    return permutation;
  return llvm::to_vector(llvm::seq<int64_t>(0, order.size()));
}

LayoutCost Component::getCost(linalg::GenericOp op,
                              ArrayRef<unsigned> candidate) {
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
    Order order = getOrder(operand, candidate);
    llvm::erase_if(order, [&](unsigned id) { return sizes.at(id) == 1; });
    auto type = cast<RankedTensorType>(value.getType());
    int64_t bytes = getBytes(type);
    accesses.push_back({std::move(order), bytes,
                        std::max<int64_t>(1, bytes / type.getNumElements()),
                        isOutput});
  }
  if (accesses.empty())
    return {};
  // The kernel runs along its results, or along the largest input.
  const Access &along = *llvm::max_element(
      accesses, [](const Access &access, const Access &other) {
        return std::make_pair(access.isOutput, access.bytes) <
               std::make_pair(other.isOutput, other.bytes);
      });
  bool isReduction = op.getNumReductionLoops() > 0;
  llvm::SmallDenseSet<unsigned> parallel;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::parallel)
      parallel.insert(getId(op, loop));
  LayoutCost cost;
  std::optional<unsigned> tiled;
  for (const Access &access : accesses) {
    if (isReduction && !access.isOutput && !access.order.empty() &&
        parallel.contains(access.order.back()))
      cost.inColumns += access.bytes;
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
      cost.moved += kReduced * access.bytes;
      continue;
    }
    bool isTiled = !access.isOutput && (!tiled || *tiled == *one);
    if (isTiled)
      tiled = *one;
    cost.moved += (isTiled ? kTiled : kScattered) * access.bytes;
  }
  return cost;
}

LayoutCost Component::getCost(ArrayRef<unsigned> candidate) {
  LayoutCost cost;
  for (linalg::GenericOp op : ops) {
    LayoutCost ofOp = getCost(op, candidate);
    cost.moved += ofOp.moved;
    cost.inColumns += ofOp.inColumns;
  }
  return cost;
}

/// The order of the loops of `op` that other passes expect: elementwise ops
/// write along their last loop, and the loops over the rows of a reduction have
/// the order of its largest input, as those of ops on these rows. Empty if no
/// order is known.
static SmallVector<unsigned> getLoopsAlongMemory(linalg::GenericOp op) {
  OpOperand *along = op.getDpsInitOperand(0);
  if (op.getNumReductionLoops() > 0 && op.getNumDpsInputs() > 0) {
    SmallVector<OpOperand *> inputs = op.getDpsInputOperands();
    along = *llvm::max_element(inputs, [](OpOperand *a, OpOperand *b) {
      return getBytes(a->get().getType()) < getBytes(b->get().getType());
    });
  }
  AffineMap map = op.getMatchingIndexingMap(along);
  if (!map.isPermutation())
    return {};
  SmallVector<unsigned> order, reductions;
  op.getReductionDims(reductions);
  for (AffineExpr expr : map.getResults())
    if (unsigned loop = cast<AffineDimExpr>(expr).getPosition();
        !llvm::is_contained(reductions, loop))
      order.push_back(loop);
  // The order of a sum stays.
  llvm::append_range(order, reductions);
  return order;
}

/// Gives equal ops equal bodies.
static void sortIndices(linalg::GenericOp op) {
  SmallVector<linalg::IndexOp> indices(op.getBody()->getOps<linalg::IndexOp>());
  llvm::sort(indices, [](linalg::IndexOp a, linalg::IndexOp b) {
    return a.getDim() > b.getDim();
  });
  for (linalg::IndexOp index : indices)
    index->moveBefore(&op.getBody()->front());
}

void Component::apply(RewriterBase &rewriter, ArrayRef<unsigned> candidate,
                      SmallVectorImpl<Matrix> &exchanged) {
  llvm::DenseMap<Value, SmallVector<int64_t>> permutations;
  for (OpResult value : values) {
    permutations[value] = getPermutation(value, candidate);
    if (!isIdentityPermutation(permutations[value]))
      llvm::append_range(exchanged, free.find(value)->second);
  }
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
    SmallVector<unsigned> order = getLoopsAlongMemory(op);
    if (!order.empty() && !llvm::is_sorted(order) &&
        succeeded(linalg::interchangeGenericOp(rewriter, op, order)))
      foldMaps(rewriter, op);
    sortIndices(op);
  }
}

int64_t braid::comm::alignLayouts(RewriterBase &rewriter, Operation *root) {
  SmallVector<linalg::GenericOp> all;
  FreeValues free;
  root->walk([&](Operation *op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      all.push_back(generic);
    if (isa<linalg::LinalgOp, tensor::ExpandShapeOp>(op))
      for (OpResult value : op->getResults())
        addIfFree(value, free);
  });
  llvm::EquivalenceClasses<Operation *> connected;
  auto connect = [&](ArrayRef<linalg::GenericOp> ops) {
    for (linalg::GenericOp op : ops)
      connected.unionSets(ops.front(), op);
  };
  for (auto &[value, matrices] : free)
    if (isLarge(value.getType()))
      connect(getMovableOps(cast<OpResult>(value)));
  // Small tensors follow the large ones of the only ops that they stand
  // between.
  bool hasGrown = true;
  while (hasGrown) {
    hasGrown = false;
    for (auto &[value, matrices] : free) {
      SmallVector<linalg::GenericOp> ops = getMovableOps(cast<OpResult>(value));
      llvm::SmallSetVector<Operation *, 2> leaders;
      for (linalg::GenericOp op : ops)
        if (connected.contains(op))
          leaders.insert(connected.getLeaderValue(op));
      if (leaders.size() != 1)
        continue;
      for (linalg::GenericOp op : ops) {
        hasGrown |= !connected.contains(op);
        connected.unionSets(leaders.front(), op);
      }
    }
  }
  llvm::MapVector<Operation *, SmallVector<linalg::GenericOp>> components;
  for (linalg::GenericOp op : all)
    if (connected.contains(op))
      components[connected.getLeaderValue(op)].push_back(op);
  int64_t numChanged = 0;
  SmallVector<Matrix> exchanged;
  for (auto &[leader, ops] : components) {
    SmallVector<OpResult> values;
    for (auto &[value, matrices] : free)
      if (llvm::all_of(getMovableOps(cast<OpResult>(value)),
                       [&, of = leader](linalg::GenericOp op) {
                         return connected.contains(op) &&
                                connected.getLeaderValue(op) == of;
                       }))
        values.push_back(cast<OpResult>(value));
    Component component(ops, values, free);
    if (!component.findLoops())
      continue;
    Order best;
    LayoutCost least = component.getCost(best);
    if (least.moved == 0)
      continue;
    for (Order &candidate : component.getCandidates())
      if (LayoutCost cost = component.getCost(candidate); cost < least) {
        least = cost;
        best = candidate;
      }
    if (best.empty())
      continue;
    component.apply(rewriter, best, exchanged);
    numChanged += values.size();
  }
  exchangeRowsAndColumns(rewriter, exchanged);
  return numChanged;
}
