//===- FuseElementwise.cpp - The comm-fuse-elementwise pass ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Support/IR/Remarks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMFUSEELEMENTWISEPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid::comm;

namespace {

//===----------------------------------------------------------------------===//
// Ops on tensors as linalg
//===----------------------------------------------------------------------===//

/// True if `op` computes ranked tensors element by element, and is not linalg
/// yet.
bool isMappable(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() > 0 &&
         llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

/// Rewrites `op` to a linalg.generic, with its attributes.
void convertToGeneric(RewriterBase &rewriter, Operation *op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op->getLoc();
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
  AffineMap scalar = AffineMap::get(rank, 0, op->getContext());

  SmallVector<AffineMap> maps;
  Value shaped;
  for (Value operand : op->getOperands()) {
    bool isTensor = isa<RankedTensorType>(operand.getType());
    maps.push_back(isTensor ? identity : scalar);
    if (isTensor && !shaped)
      shaped = operand;
  }
  SmallVector<Value> outputs;
  for (Type type : op->getResultTypes()) {
    maps.push_back(identity);
    // An operand of the same type as the initial value allows to run in place.
    const auto *like =
        llvm::find_if(op->getOpOperands(), [&](OpOperand &operand) {
          return operand.get().getType() == type;
        });
    if (like != op->getOpOperands().end()) {
      outputs.push_back(like->get());
      continue;
    }
    Value empty = tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, shaped),
        cast<RankedTensorType>(type).getElementType());
    outputs.push_back(empty);
  }
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      rewriter, loc, op->getResultTypes(), op->getOperands(), outputs, maps,
      iterators, [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        SmallVector<Type> types;
        for (Type type : op->getResultTypes())
          types.push_back(cast<RankedTensorType>(type).getElementType());
        OperationState state(loc, op->getName());
        state.addOperands(arguments.take_front(op->getNumOperands()));
        state.addTypes(types);
        for (NamedAttribute attribute : op->getAttrs())
          if (!isa_and_nonnull<CommDialect>(attribute.getNameDialect()))
            state.addAttribute(attribute.getName(), attribute.getValue());
        linalg::YieldOp::create(builder, loc,
                                builder.create(state)->getResults());
      });
  copyAttributes(op, generic);
  rewriter.replaceOp(op, generic);
}

//===----------------------------------------------------------------------===//
// Which collectives an op depends on
//===----------------------------------------------------------------------===//

/// Numbers the sets of waits that values depend on. Equal sets have equal
/// numbers, and unions are cached.
class WaitSets {
public:
  explicit WaitSets(Operation *root) {
    sets.push_back({});
    numbers[{}] = 0;
    root->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != root)
        setOf[op] = compute(op);
    });
  }

  unsigned lookup(Operation *op) const { return setOf.lookup(op); }
  void assign(Operation *op, unsigned set) { setOf[op] = set; }

private:
  /// The set of an op: the union over its operands and captured values, and the
  /// op itself if it is a wait.
  unsigned compute(Operation *op) {
    unsigned set = 0;
    auto add = [&](Value value) {
      // A block argument is available to all ops of the block.
      if (Operation *definition = value.getDefiningOp())
        set = unite(set, setOf.lookup(definition));
    };
    for (Value operand : op->getOperands())
      add(operand);
    for (Region &region : op->getRegions()) {
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(region, region, captured);
      llvm::for_each(captured, add);
      // An op depends on the waits in its regions.
      region.walk([&](WaitOp wait) { set = unite(set, getSingleton(wait)); });
    }
    if (isa<WaitOp>(op))
      set = unite(set, getSingleton(op));
    return set;
  }

  unsigned getSingleton(Operation *wait) {
    auto [entry, isNew] = singletons.try_emplace(wait, 0);
    if (isNew)
      entry->second = intern({nextWait++});
    return entry->second;
  }

  unsigned unite(unsigned a, unsigned b) {
    if (a == b || b == 0)
      return a;
    if (a == 0)
      return b;
    auto key = std::minmax(a, b);
    auto found = unions.find(key);
    if (found != unions.end())
      return found->second;
    std::vector<unsigned> members;
    std::set_union(sets[a].begin(), sets[a].end(), sets[b].begin(),
                   sets[b].end(), std::back_inserter(members));
    return unions[key] = intern(std::move(members));
  }

  unsigned intern(std::vector<unsigned> members) {
    auto [entry, isNew] = numbers.try_emplace(members, sets.size());
    if (isNew)
      sets.push_back(std::move(members));
    return entry->second;
  }

  llvm::DenseMap<Operation *, unsigned> setOf, singletons;
  std::vector<std::vector<unsigned>> sets;
  std::map<std::vector<unsigned>, unsigned> numbers;
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> unions;
  unsigned nextWait = 0;
};

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

/// `op` as a linalg.generic that may be fused; null otherwise.
linalg::GenericOp getGeneric(RewriterBase &rewriter, WaitSets &sets,
                             linalg::LinalgOp op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
    return generic;
  SmallVector<NamedAttribute> attributes(op->getDiscardableAttrs());
  unsigned set = sets.lookup(op);
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> generic =
      linalg::generalizeNamedOp(rewriter, op);
  if (failed(generic))
    return {};
  for (NamedAttribute attribute : attributes)
    (*generic)->setAttr(attribute.getName(), attribute.getValue());
  sets.assign(*generic, set);
  return *generic;
}

/// Returns true if `op` may absorb a producer: an elementwise op or a
/// reduction, but no matmul that a library computes.
bool mayConsume(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() &&
         (linalg::isElementwise(op) ||
          (isa<linalg::GenericOp>(op.getOperation()) &&
           !linalg::isaContractionOpInterface(op)));
}

/// Merges the inputs of `op` that read the same elements of the same tensor.
/// Each input that a producer is fused into gets a copy of its body, so a chain
/// of ops that read a tensor twice would double its body at each link.
void mergeEqualInputs(RewriterBase &rewriter, linalg::GenericOp op) {
  rewriter.modifyOpInPlace(op, [&] {
    llvm::DenseMap<std::pair<Value, AffineMap>, unsigned> first;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    Block *body = op.getBody();
    for (unsigned index = 0; index < op.getInputs().size();) {
      auto [entry, isNew] =
          first.try_emplace({op.getInputs()[index], maps[index]}, index);
      if (isNew) {
        ++index;
        continue;
      }
      BlockArgument duplicate = body->getArgument(index);
      duplicate.replaceAllUsesWith(body->getArgument(entry->second));
      body->eraseArgument(index);
      op.getInputsMutable().erase(index);
      maps.erase(maps.begin() + index);
    }
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
}

/// If `fused` overwrites the result of `producer`, makes it overwrite the
/// destination of `producer` instead, because the producer becomes dead.
void replaceUnreadInits(linalg::GenericOp fused, linalg::GenericOp producer) {
  for (OpOperand &init : fused.getDpsInitsMutable()) {
    auto value = dyn_cast<OpResult>(init.get());
    if (value && value.getOwner() == producer &&
        !fused.payloadUsesValueFromOperand(&init))
      init.set(producer.getDpsInits()[value.getResultNumber()]);
  }
}

/// Fuses one producer of `consumer` into it; null if there is none. `sets` says
/// which collectives the ops depend on.
linalg::GenericOp fuseProducer(RewriterBase &rewriter, WaitSets &sets,
                               linalg::LinalgOp consumer) {
  if (!mayConsume(consumer))
    return {};
  for (unsigned index = 0; index < consumer.getNumDpsInputs(); ++index) {
    OpOperand *operand = consumer.getDpsInputOperand(index);
    auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
    if (!producer || !producer.hasPureTensorSemantics() ||
        !linalg::isElementwise(producer) ||
        producer->getBlock() != consumer->getBlock() ||
        sets.lookup(producer) != sets.lookup(consumer) ||
        !llvm::all_of(producer->getUsers(), [&](Operation *user) {
          return user == consumer.getOperation();
        }))
      continue;
    linalg::GenericOp genericProducer = getGeneric(rewriter, sets, producer);
    linalg::GenericOp genericConsumer = getGeneric(rewriter, sets, consumer);
    if (!genericProducer || !genericConsumer)
      return {};
    consumer = genericConsumer;
    Value produced = consumer.getDpsInputOperand(index)->get();
    mergeEqualInputs(rewriter, genericConsumer);
    // Inputs before the one that reads the producer may be gone.
    index = llvm::find(genericConsumer.getInputs(), produced) -
            genericConsumer.getInputs().begin();
    operand = consumer.getDpsInputOperand(index);
    if (!linalg::areElementwiseOpsFusable(operand))
      continue;
    rewriter.setInsertionPoint(consumer);
    FailureOr<linalg::ElementwiseOpFusionResult> result =
        linalg::fuseElementwiseOps(rewriter, operand);
    if (failed(result))
      continue;
    mergeAttributes(genericProducer, genericConsumer, result->fusedOp);
    sets.assign(result->fusedOp, sets.lookup(genericConsumer));
    for (Value value : genericConsumer->getResults())
      if (Value replacement = result->replacements.lookup(value))
        rewriter.replaceAllUsesWith(value, replacement);
    rewriter.eraseOp(genericConsumer);
    replaceUnreadInits(cast<linalg::GenericOp>(result->fusedOp),
                       genericProducer);
    if (genericProducer->use_empty())
      rewriter.eraseOp(genericProducer);
    return cast<linalg::GenericOp>(result->fusedOp);
  }
  return {};
}

struct CommFuseElementwisePass
    : public braid::StructuralPass<
          braid::comm::impl::CommFuseElementwisePassBase<
              CommFuseElementwisePass>> {
  LogicalResult transform() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> mappable;
    getOperation().walk([&](Operation *op) {
      if (isMappable(op))
        mappable.push_back(op);
    });
    for (Operation *op : mappable)
      convertToGeneric(rewriter, op);

    WaitSets sets(getOperation());
    SmallVector<linalg::LinalgOp> consumers;
    getOperation().walk([&](linalg::LinalgOp op) { consumers.push_back(op); });
    int64_t numFused = 0;
    // Top down: a consumer that absorbed its producers may be a producer.
    for (linalg::LinalgOp consumer : consumers) {
      while (linalg::GenericOp fused = fuseProducer(rewriter, sets, consumer)) {
        consumer = fused;
        ++numFused;
      }
    }
    braid::emitCountRemark(getOperation(), getArgument(), "fused-producers",
                           numFused);
    return success();
  }
};

} // namespace
