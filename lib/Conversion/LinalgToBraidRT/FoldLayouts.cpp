//===- FoldLayouts.cpp - Fold transposes and conversions into matmuls -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulMatch.h"

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Support/IR/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace braid {
#define GEN_PASS_DEF_FOLDMATMULLAYOUTSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {

/// An op that only moves the elements of a tensor, or also rounds them.
struct Move {
  /// The dimensions of the source in terms of those of the result.
  AffineMap map;
  bool isConversion;
};

/// Matches `op` to a move of its only input.
std::optional<Move> matchMove(linalg::LinalgOp op) {
  if (!op || !op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || !linalg::isElementwise(op))
    return std::nullopt;
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  if (!map.isPermutation() || !op.getMatchingIndexingMap(init).isIdentity() ||
      op.payloadUsesValueFromOperand(init))
    return std::nullopt;
  Block *body = op.getBlock();
  Value yielded = body->getTerminator()->getOperand(0);
  auto rounding = yielded.getDefiningOp<arith::TruncFOp>();
  if (rounding && !rounding.getRoundingmode())
    yielded = rounding.getIn();
  if (yielded != body->getArgument(0))
    return std::nullopt;
  return Move{map, rounding != nullptr};
}

/// `matmul` with other operands and maps. If the type of the elements of `init`
/// is another one, the matmul rounds to this type.
linalg::GenericOp rewriteMatmul(OpBuilder &builder, linalg::LinalgOp matmul,
                                ValueRange inputs, Value init,
                                ArrayRef<AffineMap> maps) {
  Type type = getElementTypeOrSelf(init.getType());
  bool isRounded =
      type != getElementTypeOrSelf(matmul.getDpsInits()[0].getType());
  auto emitBody = [&](OpBuilder &builder, Location loc, ValueRange arguments) {
    if (!isRounded) {
      IRMapping mapping;
      mapping.map(matmul.getBlock()->getArguments(), arguments);
      for (Operation &op : *matmul.getBlock())
        builder.clone(op, mapping);
      return;
    }
    auto convert = [&](Value value) {
      return convertScalarToDtype(builder, loc, value, type,
                                  /*isUnsignedCast=*/false);
    };
    Value product = arith::MulFOp::create(builder, loc, convert(arguments[0]),
                                          convert(arguments[1]));
    Value sum = arith::AddFOp::create(builder, loc, arguments.back(), product);
    linalg::YieldOp::create(builder, loc, sum);
  };
  auto result = linalg::GenericOp::create(
      builder, matmul.getLoc(), init.getType(), inputs, init, maps,
      matmul.getIteratorTypesArray(), emitBody);
  for (NamedAttribute attribute : matmul->getDiscardableAttrs())
    result->setAttr(attribute.getName(), attribute.getValue());
  return result;
}

struct FoldMatmulLayoutsPass
    : public braid::StructuralPass<
          braid::impl::FoldMatmulLayoutsPassBase<FoldMatmulLayoutsPass>> {
  using StructuralPass::StructuralPass;

  LogicalResult transform() override {
    SmallVector<linalg::LinalgOp> matmuls;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (isOfLibrary(op))
        matmuls.push_back(op);
    });
    int64_t numFolded = 0;
    for (linalg::LinalgOp matmul : matmuls) {
      for (unsigned input : {0u, 1u})
        while (linalg::LinalgOp folded = foldInput(matmul, input)) {
          matmul = folded;
          ++numFolded;
        }
      while (linalg::LinalgOp folded = foldResult(matmul)) {
        matmul = folded;
        ++numFolded;
      }
    }
    emitCountRemark(getOperation(), getArgument(), "folded-layouts", numFolded);
    return success();
  }

private:
  /// True if the library of the target computes `op`.
  bool isOfLibrary(linalg::LinalgOp op) {
    return op.hasPureTensorSemantics() && matchMatmul(op) &&
           (target == KernelTarget::CUDA ? hasDeviceLibraryTypes(op)
                                         : hasLibraryTypes(op));
  }

  /// Replaces `matmul` by `folded` if the library computes `folded`; otherwise
  /// erases `folded` and returns null.
  linalg::LinalgOp replace(linalg::LinalgOp matmul, linalg::GenericOp folded,
                           Operation *replaced) {
    auto op = cast<linalg::LinalgOp>(folded.getOperation());
    if (!isOfLibrary(op)) {
      Operation *init = op.getDpsInits()[0].getDefiningOp();
      folded->erase();
      if (init && isOpTriviallyDead(init))
        init->erase();
      return {};
    }
    replaced->replaceAllUsesWith(folded);
    if (replaced != matmul)
      replaced->erase();
    matmul->erase();
    return op;
  }

  /// Lets `matmul` read what the op before it moves.
  linalg::LinalgOp foldInput(linalg::LinalgOp matmul, unsigned input) {
    OpOperand *operand = matmul.getDpsInputOperand(input);
    auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
    std::optional<Move> move = matchMove(producer);
    if (!move || move->isConversion)
      return {};
    OpBuilder builder(matmul);
    SmallVector<AffineMap> maps = matmul.getIndexingMapsArray();
    maps[input] = move->map.compose(maps[input]);
    SmallVector<Value> inputs(matmul.getDpsInputs());
    inputs[input] = producer.getDpsInputs()[0];
    linalg::LinalgOp folded = replace(
        matmul,
        rewriteMatmul(builder, matmul, inputs, matmul.getDpsInits()[0], maps),
        matmul);
    if (folded && producer->use_empty())
      producer->erase();
    return folded;
  }

  /// Lets `matmul` write what its only user moves or rounds.
  linalg::LinalgOp foldResult(linalg::LinalgOp matmul) {
    if (!matmul->hasAttr(kOverwritesAttrName) || !matmul->hasOneUse())
      return {};
    auto consumer = dyn_cast<linalg::LinalgOp>(*matmul->user_begin());
    std::optional<Move> move = matchMove(consumer);
    if (!move || consumer->getBlock() != matmul->getBlock() ||
        consumer.getDpsInputs()[0] != matmul->getResult(0))
      return {};
    OpBuilder builder(matmul);
    Location loc = builder.getFusedLoc({matmul.getLoc(), consumer.getLoc()});
    Value init = matmul.getDpsInits()[0];
    AffineMap toResult = inversePermutation(move->map);
    SmallVector<OpFoldResult> sizes = applyPermutationMap(
        toResult, ArrayRef(tensor::getMixedSizes(builder, loc, init)));
    auto type = cast<RankedTensorType>(consumer->getResult(0).getType());
    Value empty =
        tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
    if (empty.getType() != type)
      empty = tensor::CastOp::create(builder, loc, type, empty);
    SmallVector<AffineMap> maps = matmul.getIndexingMapsArray();
    maps.back() = toResult.compose(maps.back());
    SmallVector<Value> inputs(matmul.getDpsInputs());
    linalg::GenericOp folded =
        rewriteMatmul(builder, matmul, inputs, empty, maps);
    folded->setLoc(loc);
    comm::mergeAttributes(matmul, consumer, folded);
    // The move costs nothing, so the matmul keeps its cost.
    for (StringRef name : {comm::CommDialect::kCostAttrName,
                           comm::CommDialect::kMultiprocessorsAttrName})
      if (Attribute ofMatmul = matmul->getAttr(name))
        folded->setAttr(name, ofMatmul);
    return replace(matmul, folded, consumer);
  }
};

} // namespace
