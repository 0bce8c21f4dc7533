//===- FuseProducers.cpp - Producers computed by their consumers ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/FusionCost.h"
#include "FuseOps.h"
#include "FusionShapes.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace braid::comm;

namespace {

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
  (*generic)->setDiscardableAttrs(attributes);
  sets.assign(*generic, set);
  return *generic;
}

/// Returns true if `op` may absorb a producer: an elementwise op or a
/// reduction, but no matmul that a library computes.
bool mayConsume(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() &&
         (linalg::isElementwise(op) ||
          (isa<linalg::GenericOp>(op.getOperation()) && !isMatrixProduct(op)));
}

/// If `fused` overwrites the result of `producer`, makes it overwrite the
/// destination of `producer` instead, because the producer becomes dead.
void replaceUnreadInits(linalg::GenericOp fused, linalg::LinalgOp producer) {
  for (OpOperand &init : fused.getDpsInitsMutable())
    if (init.get().getDefiningOp() == producer &&
        !fused.payloadUsesValueFromOperand(&init))
      init.set(producer.getTiedOpOperand(cast<OpResult>(init.get()))->get());
}

/// How a producer becomes a part of its consumer.
enum class Fusion {
  None,
  /// The consumer is the only user.
  Move,
  /// The consumer computes the producer again.
  Copy,
  /// The fused op also has the results of the producer.
  Keep
};

/// True if kernels of the owner of `operand` need no vectors, which branches
/// may divide, and no tiles.
static bool mayBranch(OpOperand &operand) {
  auto consumer = cast<linalg::LinalgOp>(operand.getOwner());
  return consumer.getNumReductionLoops() == 0 &&
         consumer.getMatchingIndexingMap(&operand).isIdentity();
}

static bool isOfSameBlock(OpOperand &operand) {
  return operand.get().getParentBlock() == operand.getOwner()->getBlock();
}

/// Gives `consumer`, which moves to `producer`, destinations that are there.
void prepareInits(RewriterBase &rewriter, linalg::GenericOp consumer,
                  linalg::GenericOp producer) {
  for (OpOperand &init : consumer.getDpsInitsMutable()) {
    Operation *definition = init.get().getDefiningOp();
    if (definition == producer.getOperation()) {
      Value like = producer.getTiedOpOperand(cast<OpResult>(init.get()))->get();
      Value empty = tensor::EmptyOp::create(
          rewriter, consumer.getLoc(),
          tensor::getMixedSizes(rewriter, consumer.getLoc(), like),
          getElementTypeOrSelf(like.getType()));
      if (empty.getType() != like.getType())
        empty = tensor::CastOp::create(rewriter, consumer.getLoc(),
                                       like.getType(), empty);
      rewriter.modifyOpInPlace(consumer, [&] { init.set(empty); });
    } else if (isa_and_nonnull<tensor::EmptyOp>(definition) &&
               definition->getBlock() == producer->getBlock() &&
               producer->isBeforeInBlock(definition)) {
      rewriter.moveOpBefore(definition, producer);
    }
  }
}

/// True if the owner of `operand` reads nothing else of its producer.
bool isOnlyRead(OpOperand &operand) {
  auto consumer = cast<linalg::LinalgOp>(operand.getOwner());
  return llvm::all_of(consumer.getDpsInputOperands(), [&](OpOperand *other) {
    return other->get().getDefiningOp() != operand.get().getDefiningOp() ||
           (other->get() == operand.get() &&
            consumer.getMatchingIndexingMap(other) ==
                consumer.getMatchingIndexingMap(&operand));
  });
}

/// Chooses and carries out fusions.
class Fuser {
public:
  Fuser(RewriterBase &rewriter, WaitSets &sets, int64_t opsPerByte,
        bool mayKeep)
      : rewriter(rewriter), sets(sets), opsPerByte(opsPerByte),
        mayKeep(mayKeep) {}

  /// Fuses one producer of `consumer` into it; false if there is none.
  /// `consumer` becomes the op that takes its place.
  bool fuse(linalg::LinalgOp &consumer);
  /// Moves a broadcast of `op` behind it; false if there is none. `op` becomes
  /// the op without broadcast.
  bool moveBroadcast(linalg::LinalgOp &op);

private:
  /// The producer of `operand` if its owner, which may stand in a loop behind
  /// it, may fuse it; null otherwise. Fusions of branches are the last ones,
  /// because what has branches fuses with less.
  linalg::LinalgOp getProducer(OpOperand &operand);
  Fusion choose(OpOperand &operand);
  /// True if the owner of `operand` may compute the producer.
  bool mayCompute(OpOperand &operand);
  /// True if the owner of `operand` may compute the producer in each iteration
  /// of a loop around it: this reads next to nothing, or saves a part of the
  /// time of a launch.
  bool mayComputeAgain(OpOperand &operand);
  /// True if all users of `producer` may compute it, so that nobody stores it,
  /// and if all together move no more bytes then.
  bool mayVanish(linalg::LinalgOp producer);
  /// True if the op that the owner of `operand` and its producer become may
  /// have the results of both.
  bool mayKeepBoth(OpOperand &operand);
  /// True if `consumer` can run where `producer` runs.
  bool isReadyAt(linalg::LinalgOp consumer, linalg::LinalgOp producer);

  RewriterBase &rewriter;
  WaitSets &sets;
  int64_t opsPerByte;
  bool mayKeep;
};

/// True if `operand` has one element for several iterations of its owner.
bool isBroadcast(OpOperand &operand) {
  auto consumer = cast<linalg::LinalgOp>(operand.getOwner());
  return consumer.getMatchingIndexingMap(&operand).getNumResults() <
         consumer.getNumLoops();
}

} // namespace

linalg::LinalgOp Fuser::getProducer(OpOperand &operand) {
  auto consumer = dyn_cast<linalg::LinalgOp>(operand.getOwner());
  auto producer = operand.get().getDefiningOp<linalg::LinalgOp>();
  if (!consumer || !producer || !mayConsume(consumer) ||
      !consumer.isDpsInput(&operand) || !producer.hasPureTensorSemantics() ||
      !mayProduce(producer) ||
      (!producer.getBlock()->getOps<scf::IfOp>().empty() &&
       !(mayKeep && mayBranch(operand))))
    return {};
  return producer;
}

bool Fuser::mayCompute(OpOperand &operand) {
  linalg::LinalgOp producer = getProducer(operand);
  // A cost is that of the op as it stands.
  return producer && producer->getNumResults() == 1 &&
         !producer->hasAttr(CommDialect::kCostAttrName) &&
         !(isBroadcast(operand) && isExpensive(producer)) &&
         isCheapFor(producer, cast<linalg::LinalgOp>(operand.getOwner()),
                    opsPerByte);
}

bool Fuser::mayComputeAgain(OpOperand &operand) {
  if (!mayCompute(operand))
    return false;
  Traffic traffic = getTraffic(operand);
  return traffic.added <= traffic.saved / 32 ||
         traffic.saved - traffic.added >= kBytesOfLaunch / 8;
}

bool Fuser::mayVanish(linalg::LinalgOp producer) {
  Traffic all;
  bool isNoMore = true, isStored = false;
  for (OpOperand &use : producer->getUses()) {
    auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (user && user.isDpsInit(&use)) {
      if (user.payloadUsesValueFromOperand(&use))
        return false;
      continue;
    }
    if (!mayCompute(use) || !isOfSameBlock(use))
      return false;
    Traffic traffic = getTraffic(use);
    all.added += traffic.added;
    all.saved += traffic.saved;
    isNoMore &= traffic.isNoMore();
    // A producer that runs while its users wait costs nothing there. A user
    // that reads elements several times, or from anywhere, is slow already.
    isStored |=
        sets.lookup(user) != sets.lookup(producer) || mayKeepBoth(use) ||
        isBroadcast(use) ||
        llvm::any_of(*user.getBlock(), llvm::IsaPred<tensor::ExtractOp>);
  }
  all.saved += getMovedBytes(producer);
  return isNoMore || (!isStored && all.isLess());
}

bool Fuser::isReadyAt(linalg::LinalgOp consumer, linalg::LinalgOp producer) {
  llvm::SetVector<Value> read;
  getUsedValuesDefinedAbove(consumer->getRegions(), read);
  // The body may read any element, which has to be there before.
  auto isProduced = [&](Value value) {
    return value.getDefiningOp() == producer.getOperation();
  };
  if (llvm::any_of(read, isProduced))
    return false;
  read.insert(consumer->operand_begin(), consumer->operand_end());
  return llvm::all_of(read, [&](Value value) {
    Operation *definition = value.getDefiningOp();
    if (!definition || isProduced(value) ||
        definition->getBlock() != producer->getBlock())
      return true;
    return definition->isBeforeInBlock(producer) ||
           (isa<tensor::EmptyOp>(definition) &&
            definition->getNumOperands() == 0);
  });
}

bool Fuser::mayKeepBoth(OpOperand &operand) {
  linalg::LinalgOp producer = getProducer(operand);
  auto consumer = cast<linalg::LinalgOp>(operand.getOwner());
  // The other users of the producer wait for nothing else, and no collective
  // starts later.
  return sets.lookup(producer) == sets.lookup(consumer) &&
         linalg::isElementwise(consumer) &&
         llvm::none_of(consumer.getDpsInitsMutable(),
                       [&](OpOperand &init) {
                         return consumer.payloadUsesValueFromOperand(&init);
                       }) &&
         consumer.getMatchingIndexingMap(&operand).isIdentity() &&
         llvm::all_of(
             producer.getDpsInitsMutable(),
             [&](OpOperand &init) {
               return producer.getMatchingIndexingMap(&init).isIdentity();
             }) &&
         isReadyAt(consumer, producer) && isOnlyRead(operand) &&
         llvm::none_of(producer->getUsers(), [](Operation *user) {
           return isa<CommDialect>(user->getDialect());
         });
}

/// Drops the results of `fused` before its last `count`, if nobody uses them or
/// reads their initial values. Upstream's fusion keeps results of a producer
/// for the sizes of loops, also where other operands tell them.
static linalg::GenericOp dropUnusedResults(RewriterBase &rewriter,
                                           linalg::GenericOp fused,
                                           unsigned count) {
  unsigned dropped = fused.getNumResults() - count;
  unsigned inputs = fused.getNumDpsInputs();
  auto isUsed = [](Value value) { return !value.use_empty(); };
  if (dropped == 0 ||
      llvm::any_of(fused.getResults().take_front(dropped), isUsed) ||
      llvm::any_of(fused.getRegionOutputArgs().take_front(dropped), isUsed))
    return fused;
  SmallVector<AffineMap> maps = fused.getIndexingMapsArray();
  maps.erase(maps.begin() + inputs, maps.begin() + inputs + dropped);
  rewriter.setInsertionPoint(fused);
  auto slim = linalg::GenericOp::create(
      rewriter, fused.getLoc(),
      TypeRange(fused.getResultTypes()).drop_front(dropped), fused.getInputs(),
      fused.getOutputs().drop_front(dropped), maps,
      fused.getIteratorTypesArray());
  slim->setDiscardableAttrs(fused->getDiscardableAttrDictionary());
  Region &region = slim.getRegion();
  region.takeBody(fused.getRegion());
  region.front().eraseArguments(inputs, dropped);
  rewriter.modifyOpInPlace(region.front().getTerminator(), [&] {
    region.front().getTerminator()->eraseOperands(0, dropped);
  });
  rewriter.replaceAllUsesWith(fused.getResults().drop_front(dropped),
                              slim.getResults());
  rewriter.eraseOp(fused);
  return slim;
}

Fusion Fuser::choose(OpOperand &operand) {
  linalg::LinalgOp producer = getProducer(operand);
  auto consumer = cast<linalg::LinalgOp>(operand.getOwner());
  if (!producer ||
      producer->getNumOperands() + consumer->getNumOperands() > kMostOperands ||
      (isBroadcast(operand) && isExpensive(producer)) ||
      !(tellsSizesOfReductions(operand, producer) ||
        mayAddSizesOfReductions(operand)))
    return Fusion::None;
  if (!isOfSameBlock(operand))
    return mayComputeAgain(operand) ? Fusion::Copy : Fusion::None;
  bool isSameSet = sets.lookup(producer) == sets.lookup(consumer);
  bool isOnlyUser = llvm::all_of(producer->getUsers(), [&](Operation *user) {
    return user == consumer.getOperation();
  });
  if (isOnlyUser && isSameSet)
    return Fusion::Move;
  // The fused consumer does not wait for values that it does not read: an op
  // that could run earlier hides no more than that saves.
  if (mayCompute(operand)) {
    Traffic traffic = getTraffic(operand);
    if (isOnlyUser && traffic.isNoMore())
      return Fusion::Move;
    if (traffic.isLess() || mayVanish(producer))
      return Fusion::Copy;
  }
  return mayKeep && mayKeepBoth(operand) ? Fusion::Keep : Fusion::None;
}

bool Fuser::moveBroadcast(linalg::LinalgOp &op) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  unsigned set = sets.lookup(op);
  linalg::GenericOp reduced =
      generic ? moveBroadcastBehind(rewriter, generic) : nullptr;
  if (!reduced)
    return false;
  sets.assign(reduced, set);
  for (Operation *user : reduced->getUsers())
    sets.assign(user, set);
  op = cast<linalg::LinalgOp>(reduced.getOperation());
  return true;
}

void braid::comm::computeOnce(RewriterBase &rewriter, Operation *op) {
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, op);
}

/// True if the bodies of `producer` and of the owner of `operand`, which reads
/// it, may compute the same value. Such values come from an input that both
/// read, from the result if the producer itself uses it, or from an op that
/// reads no argument.
static bool mayComputeSame(linalg::GenericOp producer, OpOperand &operand) {
  auto consumer = cast<linalg::GenericOp>(operand.getOwner());
  Block *body = producer.getBody();
  unsigned number = cast<OpResult>(operand.get()).getResultNumber();
  return llvm::any_of(producer.getInputs(),
                      [&](Value input) {
                        return llvm::is_contained(consumer.getInputs(), input);
                      }) ||
         !body->getTerminator()->getOperand(number).hasOneUse() ||
         llvm::any_of(body->without_terminator(), [&](Operation &op) {
           return op.getNumRegions() != 0 ||
                  llvm::none_of(op.getOperands(), [&](Value value) {
                    return value.getParentBlock() == body;
                  });
         });
}

bool Fuser::fuse(linalg::LinalgOp &consumer) {
  if (!mayConsume(consumer))
    return false;
  for (unsigned index = 0; index < consumer.getNumDpsInputs(); ++index) {
    OpOperand *operand = consumer.getDpsInputOperand(index);
    Fusion fusion = choose(*operand);
    if (fusion == Fusion::None)
      continue;
    linalg::LinalgOp shared = getProducer(*operand);
    linalg::LinalgOp own = shared;
    if (fusion == Fusion::Copy) {
      rewriter.setInsertionPoint(shared);
      own = cast<linalg::LinalgOp>(rewriter.clone(*shared.getOperation()));
      sets.assign(own, sets.lookup(shared));
      rewriter.modifyOpInPlace(consumer, [&] {
        for (OpOperand *input : consumer.getDpsInputOperands())
          if (input->get() == shared->getResult(0))
            input->set(own->getResult(0));
      });
    }
    linalg::GenericOp producer = getGeneric(rewriter, sets, own);
    linalg::GenericOp generic = getGeneric(rewriter, sets, consumer);
    if (generic)
      consumer = cast<linalg::LinalgOp>(generic.getOperation());
    if (!producer || !generic)
      return false;
    operand = generic.getDpsInputOperand(index);
    if (!tellsSizesOfReductions(
            *operand, cast<linalg::LinalgOp>(producer.getOperation()))) {
      unsigned set = sets.lookup(consumer);
      generic = addSizesOfReductions(rewriter, generic);
      consumer = cast<linalg::LinalgOp>(generic.getOperation());
      sets.assign(consumer, set);
      operand = generic.getDpsInputOperand(index);
    }
    Value produced = operand->get();
    AffineMap map = generic.getMatchingIndexingMap(operand);
    mergeEqualInputs(rewriter, generic);
    // Inputs before the one that reads the producer may be gone. Another one
    // may read other elements of it.
    for (index = 0;; ++index) {
      operand = generic.getDpsInputOperand(index);
      if (operand->get() == produced &&
          generic.getMatchingIndexingMap(operand) == map)
        break;
    }
    if (!linalg::areElementwiseOpsFusable(operand))
      continue;
    bool mayRepeat = mayComputeSame(producer, *operand);
    rewriter.setInsertionPoint(consumer);
    if (fusion == Fusion::Keep) {
      rewriter.setInsertionPoint(producer);
      prepareInits(rewriter, generic, producer);
    }
    FailureOr<linalg::ElementwiseOpFusionResult> result =
        linalg::fuseElementwiseOps(rewriter, operand);
    if (failed(result))
      continue;
    auto fused = cast<linalg::GenericOp>(result->fusedOp);
    foldMaps(rewriter, fused);
    mergeEqualInputs(rewriter, fused);
    mergeAttributes(producer, generic, fused);
    // Another input may still read the producer.
    for (auto [value, replacement] : result->replacements)
      if (fusion == Fusion::Keep || value.getDefiningOp() == generic)
        rewriter.replaceAllUsesWith(value, replacement);
    unsigned set = sets.lookup(generic), count = generic.getNumResults();
    rewriter.eraseOp(generic);
    fused = dropUnusedResults(rewriter, fused, count);
    // Two producers may both have computed what a third one gave them: without
    // this, bodies would double with each such step of a program.
    if (mayRepeat)
      computeOnce(rewriter, fused);
    sets.assign(fused, set);
    if (fusion == Fusion::Move)
      replaceUnreadInits(fused, producer);
    if (producer->use_empty())
      rewriter.eraseOp(producer);
    if (fusion == Fusion::Copy) {
      replaceUnreadInits(fused, shared);
      if (shared->use_empty())
        rewriter.eraseOp(shared);
    }
    consumer = cast<linalg::LinalgOp>(fused.getOperation());
    return true;
  }
  return false;
}

int64_t braid::comm::fuseProducers(RewriterBase &rewriter, WaitSets &sets,
                                   Operation *root, int64_t opsPerByte,
                                   bool mayKeep) {
  Fuser fuser(rewriter, sets, opsPerByte, mayKeep);
  SmallVector<linalg::LinalgOp> consumers;
  root->walk([&](linalg::LinalgOp op) { consumers.push_back(op); });
  int64_t count = 0;
  // Top down: a consumer that absorbed its producers may be a producer.
  for (linalg::LinalgOp consumer : consumers)
    do
      while (fuser.fuse(consumer))
        ++count;
    while (fuser.moveBroadcast(consumer));
  return count;
}
