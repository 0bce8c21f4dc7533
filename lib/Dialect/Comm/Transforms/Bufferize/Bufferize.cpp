//===- Bufferize.cpp - The comm-bufferize pass ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"

#include "braid/Analysis/Memory/InFlightAccesses.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SubsetOpInterface.h"
#include "llvm/ADT/SCCIterator.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMBUFFERIZEPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace mlir::bufferization;
using namespace braid::comm;

namespace {

/// Emits an error at `comm.compute` on tensors: executable kernels are inlined
/// before, and opaque kernels cannot be lowered.
LogicalResult checkNoCompute(ModuleOp module) {
  WalkResult result = module.walk([&](ComputeOp compute) {
    auto isTensor = llvm::IsaPred<TensorType>;
    if (llvm::none_of(compute->getOperandTypes(), isTensor) &&
        llvm::none_of(compute.getValueTypes(), isTensor))
      return WalkResult::advance();
    if (compute.isOpaque())
      compute.emitOpError() << "\"" << compute.getKernel()
                            << "\" is opaque, expected a region: it says what "
                               "to schedule, not what to run";
    else
      compute.emitOpError() << "\"" << compute.getKernel()
                            << "\" cannot be bufferized, expected "
                               "--comm-inline-compute to have inlined it";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Emits an error at loops of blocks that carry tensors, on which One-Shot does
/// not terminate.
LogicalResult checkNoLoopOfBlocks(ModuleOp module) {
  WalkResult result = module.walk([&](func::FuncOp function) {
    Region *body = &function.getBody();
    if (body->empty() || body->hasOneBlock())
      return WalkResult::advance();
    for (auto component = llvm::scc_begin(body); !component.isAtEnd();
         ++component) {
      if (!component.hasCycle())
        continue;
      for (Block *block : *component)
        for (BlockArgument argument : block->getArguments())
          if (isa<TensorType>(argument.getType()))
            return WalkResult(
                emitError(argument.getLoc())
                << "found a loop of blocks that carries a tensor, expected "
                   "structured control flow, to which --lift-cf-to-scf brings "
                   "it");
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Emits an error at blocks that nothing reaches. One-Shot leaves them as they
/// are, and crashes where one of them passes a tensor to a block that is
/// reached.
LogicalResult checkNoUnreachableBlocks(ModuleOp module) {
  DominanceInfo dominance;
  WalkResult result = module.walk([&](Block *block) {
    if (dominance.isReachableFromEntry(block))
      return WalkResult::advance();
    Location loc = block->empty() ? block->getParentOp()->getLoc()
                                  : block->front().getLoc();
    return WalkResult(emitError(loc)
                      << "found a block that nothing reaches, expected none; "
                         "--canonicalize removes such blocks");
  });
  return failure(result.wasInterrupted());
}

/// Emits an error at ops around tensors or tokens that One-Shot or the split of
/// tokens leaves as they are.
LogicalResult checkNoForeignRegions(ModuleOp module) {
  auto computes = [](Operation *op) {
    auto isValue = llvm::IsaPred<TensorType, TokenType>;
    return llvm::any_of(op->getOperandTypes(), isValue) ||
           llvm::any_of(op->getResultTypes(), isValue);
  };
  WalkResult result = module.walk([&](Operation *op) {
    auto function = op->getParentOfType<func::FuncOp>();
    if (function && function->getParentOp() != module && computes(op))
      return WalkResult(function.emitOpError()
                        << "is in a module inside of another one, expected all "
                           "functions in one module");
    if (op->getName().getDialectNamespace() == "shard" && computes(op))
      return WalkResult(op->emitOpError(
          "is of the shard dialect, expected a partitioned program of the comm "
          "dialect; --convert-shard-to-comm makes one"));
    if (isa<scf::ExecuteRegionOp>(op) &&
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<TokenType>))
      return WalkResult(op->emitOpError()
                        << "yields a token, expected no such region; "
                           "--canonicalize inlines one");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Makes the tensor arguments of entry points read-only, because the caller
/// owns them. A function with a token argument is no entry point.
void protectArguments(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal() ||
        llvm::any_of(function.getArgumentTypes(), llvm::IsaPred<TokenType>))
      continue;
    for (BlockArgument argument : function.getArguments()) {
      unsigned index = argument.getArgNumber();
      if (!isa<TensorType>(argument.getType()) ||
          function.getArgAttr(index, CommDialect::kDonatedAttrName) ||
          function.getArgAttr(index, BufferizationDialect::kWritableAttrName))
        continue;
      function.setArgAttr(index, BufferizationDialect::kWritableAttrName,
                          BoolAttr::get(module.getContext(), false));
    }
  }
}

/// Moves the insertion of a slice into what a loop carries behind the ops of
/// its block that read what the slice replaces: then nothing has to be copied.
void sinkInsertions(ModuleOp module) {
  module.walk([](scf::ForOp loop) {
    for (Value yielded : loop.getYieldedValues()) {
      auto insertion = yielded.getDefiningOp<tensor::InsertSliceOp>();
      if (!insertion || !insertion->hasOneUse() ||
          !llvm::is_contained(loop.getRegionIterArgs(), insertion.getDest()))
        continue;
      Operation *last = insertion;
      SmallVector<Value> names = {insertion.getDest()};
      while (!names.empty())
        for (Operation *user : names.pop_back_val().getUsers()) {
          Operation *reader = loop.getBody()->findAncestorOpInBlock(*user);
          if (last->isBeforeInBlock(reader) &&
              !reader->hasTrait<OpTrait::IsTerminator>())
            last = reader;
          if (isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp,
                  tensor::ExpandShapeOp>(user))
            llvm::append_range(names, user->getResults());
        }
      if (last != insertion)
        insertion->moveAfter(last);
    }
  });
}

/// The slice of the empty tensor that `insertion` inserts into, if the inserted
/// value was written to this slice; the insertion then copies nothing.
tensor::ExtractSliceOp findWrittenSlice(tensor::InsertSliceOp insertion) {
  Value place = insertion.getSource();
  while (auto result = dyn_cast<OpResult>(place)) {
    auto writer = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
    OpOperand *init = writer ? writer.getTiedOpOperand(result) : nullptr;
    if (!init || !place.hasOneUse())
      break;
    place = init->get();
  }
  auto slice = place.getDefiningOp<tensor::ExtractSliceOp>();
  auto isSame = [](OpFoldResult a, OpFoldResult b) { return a == b; };
  bool isPair = slice && slice->hasOneUse() &&
                slice.getSource() == insertion.getDest() &&
                slice.isSameAs(insertion, isSame);
  return isPair ? slice : nullptr;
}

/// True if `use` is the source of a start.
bool isSource(OpOperand &use) {
  auto start = dyn_cast<inflight::StartOp>(use.getOwner());
  return start && use.getOperandNumber() < start.getSources().size();
}

/// True if `use` may tell a wait which source its operation reads, itself or by
/// the blocks that it passes the source to.
bool mayReachWait(OpOperand &use) {
  Operation *user = use.getOwner();
  return isa<inflight::WaitOp, RegionBranchOpInterface, CallOpInterface>(
             user) ||
         user->hasTrait<OpTrait::IsTerminator>();
}

/// Gives `start` and its waits a separate tensor instead of `empty`, unless its
/// tokens pass blocks on their way to the waits.
void separateStart(inflight::StartOp start, tensor::EmptyOp empty) {
  SmallVector<inflight::WaitOp> waits;
  for (Value token : start.getTokens())
    for (Operation *user : token.getUsers()) {
      auto wait = dyn_cast<inflight::WaitOp>(user);
      if (!wait)
        return;
      waits.push_back(wait);
    }
  OpBuilder builder(start);
  Value own = cast<tensor::EmptyOp>(builder.clone(*empty)).getResult();
  for (OpOperand &source : start.getSourcesMutable())
    if (source.get() == empty)
      source.set(own);
  for (inflight::WaitOp wait : waits)
    for (OpOperand &kept : wait.getKeptMutable())
      if (kept.get() == empty)
        kept.set(own);
}

/// Gives every user of an empty tensor a separate one, but one to those that
/// write and insert the same slice, and one to a start and its waits. CSE
/// merges empty tensors, and One-Shot is quadratic in the number of users of
/// one tensor.
void separateEmptyTensors(ModuleOp module) {
  SmallVector<tensor::EmptyOp> shared;
  module.walk([&](tensor::EmptyOp empty) {
    if (!empty->use_empty() && !empty->hasOneUse())
      shared.push_back(empty);
  });
  for (tensor::EmptyOp empty : shared) {
    auto separate = [&](OpOperand &use, Operation *place) {
      OpBuilder builder(place);
      use.set(cast<tensor::EmptyOp>(builder.clone(*empty)).getResult());
      return use.get();
    };
    SmallVector<OpOperand *> uses = llvm::map_to_vector(
        empty->getUses(), [](OpOperand &use) { return &use; });
    for (OpOperand *use : uses)
      if (use->get() == empty && isSource(*use))
        separateStart(cast<inflight::StartOp>(use->getOwner()), empty);
    llvm::erase_if(uses, [&](OpOperand *use) { return use->get() != empty; });
    if (llvm::any_of(uses, [](OpOperand *use) { return isSource(*use); }))
      llvm::erase_if(uses, [](OpOperand *use) {
        return isSource(*use) || mayReachWait(*use);
      });
    for (OpOperand *use : uses)
      if (auto insertion = dyn_cast<tensor::InsertSliceOp>(use->getOwner()))
        if (tensor::ExtractSliceOp slice = findWrittenSlice(insertion))
          slice.getSourceMutable().set(separate(*use, slice));
    for (OpOperand *use : uses)
      if (use->get() == empty)
        separate(*use, use->getOwner());
  }
}

/// Copies tensors that a loop yields but does not compute. One-Shot copies
/// them, too, but misses a tensor that it has replaced by a copy outside of the
/// loop; a later write to that tensor would change the result of the loop.
void copyYieldedOuterTensors(ModuleOp module) {
  module.walk([](Operation *op) {
    if (!isa<scf::YieldOp, scf::ConditionOp>(op) ||
        !isa<scf::ForOp, scf::WhileOp>(op->getParentOp()))
      return;
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type || op->getParentOp()->isAncestor(
                       operand.get().getParentBlock()->getParentOp()))
        continue;
      operand.set(AllocTensorOp::create(builder, op->getLoc(), type,
                                        ValueRange(), operand.get()));
    }
  });
}

/// Adds the values to `roots` whose buffer `value` may share without a write in
/// between.
void collectRoots(Value value, llvm::SmallDenseSet<Value> &roots) {
  SmallVector<Value> pending = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    unsigned number = op ? cast<OpResult>(next).getResultNumber() : 0;
    if (isa_and_nonnull<tensor::CastOp, tensor::CollapseShapeOp,
                        tensor::ExpandShapeOp, tensor::ExtractSliceOp,
                        tensor::ReshapeOp>(op)) {
      pending.push_back(op->getOperand(0));
    } else if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
      pending.append({select.getTrueValue(), select.getFalseValue()});
    } else if (auto branch = dyn_cast_or_null<scf::IfOp>(op)) {
      pending.append({branch.thenYield().getOperand(number),
                      branch.elseYield().getOperand(number)});
    } else if (auto loop = dyn_cast_or_null<scf::ForOp>(op)) {
      pending.append(
          {loop.getInitArgs()[number], loop.getYieldedValues()[number]});
    } else if (auto loop = dyn_cast_or_null<scf::WhileOp>(op)) {
      pending.push_back(loop.getConditionOp().getArgs()[number]);
    } else {
      roots.insert(next);
    }
  }
}

/// Copies a tensor that a loop yields more than once, or of which the loop
/// yields a part or another shape, too. One-Shot takes the tensors that a loop
/// carries for different buffers, and a write to one would change the others.
void copyTensorsYieldedTwice(ModuleOp module) {
  module.walk([](scf::ForOp loop) {
    llvm::SmallDenseSet<Value> yielded;
    Operation *yield = loop.getBody()->getTerminator();
    OpBuilder builder(yield);
    for (OpOperand &operand : yield->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type)
        continue;
      llvm::SmallDenseSet<Value> roots;
      collectRoots(operand.get(), roots);
      if (llvm::any_of(roots,
                       [&](Value root) { return yielded.contains(root); }))
        operand.set(AllocTensorOp::create(builder, yield->getLoc(), type,
                                          ValueRange(), operand.get()));
      yielded.insert(roots.begin(), roots.end());
    }
  });
}

/// Gives an op in a loop a separate output if the op overwrites a tensor from
/// outside of the loop. One-Shot may give that tensor the buffer of a tensor
/// that the loop carries but does not read, and the op would overwrite the
/// carried tensor.
void renewCapturedOutputs(ModuleOp module) {
  module.walk([](Operation *op) {
    auto loop = op->getParentOfType<LoopLikeOpInterface>();
    if (!loop)
      return;
    SmallVector<OpOperand *> outputs;
    if (auto start = dyn_cast<inflight::StartOp>(op)) {
      for (OpOperand &output : start.getDestinationsMutable())
        outputs.push_back(&output);
    } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      for (OpOperand &output : linalgOp.getDpsInitsMutable())
        if (!linalgOp.payloadUsesValueFromOperand(&output))
          outputs.push_back(&output);
    } else if (auto writer = dyn_cast<DestinationStyleOpInterface>(op);
               writer && !isa<SubsetInsertionOpInterface>(op)) {
      for (OpOperand &output : writer.getDpsInitsMutable())
        if (output.get().getDefiningOp<tensor::EmptyOp>())
          outputs.push_back(&output);
    }
    OpBuilder builder(op);
    for (OpOperand *output : outputs) {
      auto type = dyn_cast<RankedTensorType>(output->get().getType());
      if (!type ||
          loop->isAncestor(output->get().getParentBlock()->getParentOp()))
        continue;
      output->set(
          AllocTensorOp::create(builder, op->getLoc(), type,
                                tensor::createDynamicDimValues(
                                    builder, op->getLoc(), output->get())));
    }
  });
}

/// Restores the type of tokens and removes the casts between the two types.
void restoreTokens(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](inflight::RawTokenType type) -> Type {
    return TokenType::get(type.getContext());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  module.walk([](UnrealizedConversionCastOp cast) {
    if (cast.getInputs().getTypes() != cast.getOutputs().getTypes() ||
        !llvm::all_of(cast.getInputs().getTypes(), llvm::IsaPred<TokenType>))
      return;
    cast->replaceAllUsesWith(cast.getInputs());
    cast->erase();
  });
}

/// True if `a` and `b` are one part of one buffer.
bool isSamePart(Value a, Value b) {
  if (a == b)
    return true;
  auto viewA = a.getDefiningOp<memref::SubViewOp>();
  auto viewB = b.getDefiningOp<memref::SubViewOp>();
  return viewA && viewB && isSamePart(viewA.getSource(), viewB.getSource()) &&
         isEqualConstantIntOrValueArray(viewA.getMixedOffsets(),
                                        viewB.getMixedOffsets()) &&
         isEqualConstantIntOrValueArray(viewA.getMixedSizes(),
                                        viewB.getMixedSizes()) &&
         isEqualConstantIntOrValueArray(viewA.getMixedStrides(),
                                        viewB.getMixedStrides());
}

/// Removes copies of a part of a buffer to itself, which One-Shot creates for a
/// slice that is inserted where it was extracted. Even such a copy must not
/// access a buffer in flight.
void removeSelfCopies(ModuleOp module) {
  module.walk([](memref::CopyOp copy) {
    if (isSamePart(copy.getSource(), copy.getTarget()))
      copy.erase();
  });
}

struct CommBufferizePass
    : public braid::StructuralPass<
          braid::comm::impl::CommBufferizePassBase<CommBufferizePass>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    CommBufferizePassBase::getDependentDialects(registry);
    registry.insert<inflight::InFlightDialect>();
  }

  LogicalResult transform() override {
    ModuleOp module = getOperation();
    if (failed(checkNoCompute(module)) || failed(checkNoLoopOfBlocks(module)) ||
        failed(checkNoUnreachableBlocks(module)) ||
        failed(checkNoForeignRegions(module)))
      return failure();
    protectArguments(module);
    if (failed(inflight::splitTokens(module)))
      return failure();
    inflight::fillPaddedSides(module);
    separateEmptyTensors(module);
    copyYieldedOuterTensors(module);
    copyTensorsYieldedTwice(module);
    renewCapturedOutputs(module);
    sinkInsertions(module);
    inflight::separateReads(module);

    OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.allowReturnAllocsFromLoops = true;
    options.setFunctionBoundaryTypeConversion(
        LayoutMapOption::IdentityLayoutMap);
    BufferizationState state;
    if (failed(runOneShotModuleBufferize(module, options, state)))
      return failure();
    removeBufferizationAttributesInModule(module);
    restoreTokens(module);
    removeSelfCopies(module);
    inflight::forwardCarriedBuffers(module);
    inflight::takeOverDeadSources(module);
    inflight::placeCopiedBuffers(module);
    if (failed(checkInFlight(module)))
      return failure();
    return success();
  }
};

} // namespace
