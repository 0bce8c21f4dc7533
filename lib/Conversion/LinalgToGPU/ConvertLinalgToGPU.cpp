//===- ConvertLinalgToGPU.cpp - Linalg on buffers to kernels --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../LinalgToBraidRT/MatmulMatch.h"
#include "BufferAddress.h"
#include "Kernels.h"
#include "Runs/PartRun.h"
#include "Runs/RowRun.h"

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace braid {
#define GEN_PASS_DEF_CONVERTLINALGTOGPUPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid::kernels;

namespace {

/// Converts `op` to a linalg.generic; emits an error if this is not possible.
FailureOr<linalg::LinalgOp> generalize(RewriterBase &rewriter, Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return linalg::LinalgOp(generic);
  rewriter.setInsertionPoint(op);
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    auto isPlain = [](Value buffer) {
      return isa<MemRefType>(buffer.getType());
    };
    if (!isPlain(copy.getSource()) || !isPlain(copy.getTarget()))
      return op->emitOpError("has no kernel: its rank is not known");
    auto generic = linalg::makeMemRefCopyOp(rewriter, op->getLoc(),
                                            copy.getSource(), copy.getTarget());
    rewriter.eraseOp(op);
    return linalg::LinalgOp(generic);
  }
  auto named = cast<linalg::LinalgOp>(op);
  if (op->getNumRegions() == 1 && op->getRegion(0).hasOneBlock())
    return named;
  return op->emitOpError("has no kernel: it is not a loop over elements");
}

/// A zero of the element type that `op` writes.
Value createZero(linalg::LinalgOp op) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  Type type = getElementTypeOrSelf(op.getDpsInits().front().getType());
  auto complex = dyn_cast<ComplexType>(type);
  if (!complex)
    return arith::ConstantOp::create(builder, builder.getZeroAttr(type));
  Attribute zero = builder.getZeroAttr(complex.getElementType());
  return complex::ConstantOp::create(builder, type,
                                     builder.getArrayAttr({zero, zero}));
}

/// Fuses the fills of the results of the reduction `op` into `nest`, and adds
/// these fills to `taken`.
void takeFills(RewriterBase &rewriter, linalg::LinalgOp op, LoopNest &nest,
               llvm::SmallPtrSetImpl<Operation *> &taken) {
  if (op->hasAttr(braid::kOverwritesAttrName)) {
    // `braid-mark-overwriting-matmuls` has dropped the fill with zeros.
    nest.fills.front() = createZero(op);
    return;
  }
  for (auto [access, value] : llvm::zip(nest.outputs, nest.fills))
    if (linalg::FillOp fill = findFill(op, access.buffer)) {
      value = fill.value();
      taken.insert(fill);
      rewriter.eraseOp(fill);
    }
}

/// Fusion leaves maps of indices in bodies, which kernels compute by
/// arithmetic.
void expandMaps(RewriterBase &rewriter, Operation *root) {
  root->walk([&](affine::AffineApplyOp op) {
    if (!op->getParentOfType<linalg::LinalgOp>())
      return;
    rewriter.setInsertionPoint(op);
    rewriter.replaceOp(op, affine::expandAffineExpr(
                               rewriter, op.getLoc(),
                               op.getAffineMap().getResult(0),
                               op.getDimOperands(), op.getSymbolOperands()));
  });
}

struct ConvertLinalgToGPUPass
    : public braid::StructuralPass<
          braid::impl::ConvertLinalgToGPUPassBase<ConvertLinalgToGPUPass>> {
  using StructuralPass::StructuralPass;

  LogicalResult transform() override {
    IRRewriter rewriter(&getContext());
    expandMaps(rewriter, getOperation());
    replaceCopiesOfFills(rewriter, getOperation());
    KernelModule kernels(getOperation());
    if (tensorCores)
      convertMatmuls(rewriter, kernels);
    if (failed(generalizeAll(rewriter)))
      return failure();
    // Runs come first, because a run may begin before its seed.
    convertRuns(rewriter, kernels);
    convertPartRuns(rewriter, kernels);
    convertSingly(rewriter, kernels);
    convertSorts(rewriter, kernels);
    for (Operation *op : general) {
      emitGeneral(kernels, cast<linalg::LinalgOp>(op));
      rewriter.eraseOp(op);
    }
    return success();
  }

private:
  /// True if another pass makes a call of `op`.
  bool isLeft(Operation *op) {
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    return leaveCalls && (isa<memref::CopyOp>(op) ||
                          (structured && structured.hasPureBufferSemantics() &&
                           braid::isDeviceLibraryCall(structured)));
  }

  SmallVector<linalg::LinalgOp> getStructuredOps() {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics() && !general.contains(op) && !isLeft(op))
        ops.push_back(op);
    });
    return ops;
  }

  /// Converts all ops to linalg.generic, and checks that they have kernels.
  LogicalResult generalizeAll(RewriterBase &rewriter) {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      auto structured = dyn_cast<linalg::LinalgOp>(op);
      if (!isLeft(op) && (isa<memref::CopyOp>(op) ||
                          (structured && structured.hasPureBufferSemantics())))
        ops.push_back(op);
    });
    bool hasFailed = false;
    for (Operation *op : ops) {
      FailureOr<linalg::LinalgOp> generic = generalize(rewriter, op);
      if (failed(generic) || failed(braid::checkPlain(*generic)) ||
          failed(checkGeneral(*generic)))
        hasFailed = true;
      else if (std::optional<LoopNest> nest = getLoopNest(*generic); !nest)
        addGeneral(rewriter, *generic);
      else if (nest->getNumIterations() == 0)
        rewriter.eraseOp(*generic);
    }
    return failure(hasFailed);
  }

  /// Converts small matmuls that would be calls of a library.
  void convertMatmuls(RewriterBase &rewriter, KernelModule &kernels) {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics() && braid::isDeviceLibraryCall(op))
        ops.push_back(op);
    });
    for (linalg::LinalgOp op : ops)
      if (emitMatmul(kernels, op))
        rewriter.eraseOp(op);
  }

  void addGeneral(RewriterBase &rewriter, linalg::LinalgOp op) {
    if (op->removeAttr(braid::kOverwritesAttrName)) {
      Value zero = createZero(op);
      rewriter.setInsertionPoint(op);
      general.insert(linalg::FillOp::create(rewriter, op.getLoc(), zero,
                                            op.getDpsInits().front()));
    }
    general.insert(op);
  }

  void convertRuns(RewriterBase &rewriter, KernelModule &kernels) {
    SmallVector<linalg::LinalgOp> seeds =
        llvm::filter_to_vector(getStructuredOps(), [](linalg::LinalgOp op) {
          return op.getNumReductionLoops() > 0;
        });
    // Erased ops stay in the set; no new op can take their addresses, because
    // this loop creates none.
    llvm::SmallPtrSet<Operation *, 32> done;
    for (linalg::LinalgOp op : seeds) {
      if (done.contains(op))
        continue;
      RowRun run = findRowRun(op);
      if (run.ops.empty())
        continue;
      for (RowOp &rowOp : run.ops)
        done.insert(rowOp.op);
      emitRowRun(kernels, rewriter, run);
    }
  }

  void convertPartRuns(RewriterBase &rewriter, KernelModule &kernels) {
    SmallVector<Block *> blocks;
    getOperation().walk([&](func::FuncOp function) {
      function.walk([&](Block *block) { blocks.push_back(block); });
    });
    for (Block *block : blocks)
      for (PartRun &run : findPartRuns(rewriter, *block, [&](Operation *op) {
             return isa<memref::CopyOp>(op) ||
                    (!general.contains(op) && !isLeft(op));
           }))
        emitPartRun(kernels, rewriter, run);
  }

  /// Converts each remaining op to a kernel of its own.
  void convertSingly(RewriterBase &rewriter, KernelModule &kernels) {
    SmallVector<linalg::LinalgOp> ops = getStructuredOps();
    // A fused fill precedes the op that it is fused into.
    llvm::MapVector<Operation *, LoopNest> nests;
    llvm::SmallPtrSet<Operation *, 32> taken;
    for (linalg::LinalgOp op : ops) {
      std::optional<LoopNest> nest = getLoopNest(op);
      // Runs and splits keep sizes and maps.
      assert(nest && "expected constant loops");
      if (nest->hasReduction())
        takeFills(rewriter, op, *nest, taken);
      nests.insert({op, std::move(*nest)});
    }
    for (auto &[op, nest] : nests) {
      if (taken.contains(op))
        continue;
      if (nest.hasReduction()) {
        if (!emitColumns(kernels, op, nest) && !emitGroups(kernels, op, nest))
          emitSequential(kernels, op, nest);
      } else if (!emitTransposed(kernels, op, nest)) {
        emitElementwise(kernels, op, nest);
      }
      rewriter.eraseOp(op);
    }
  }

  void convertSorts(RewriterBase &rewriter, KernelModule &kernels) {
    SmallVector<braid::library::CallOp> sorts;
    getOperation().walk([&](braid::library::CallOp op) {
      auto type = dyn_cast<MemRefType>(op.getOutputs().front().getType());
      if (op.getRoutine() == "sort" && type && type.hasStaticShape())
        sorts.push_back(op);
    });
    for (braid::library::CallOp op : sorts) {
      emitSort(kernels, op);
      rewriter.eraseOp(op);
    }
  }

  /// Ops that only the general kernel supports.
  llvm::SetVector<Operation *> general;
};

} // namespace

/// True if `fill` fills a buffer that its block allocates.
static bool fillsOwnBuffer(linalg::FillOp fill) {
  return fill.hasPureBufferSemantics() &&
         fill.output().getDefiningOp<memref::AllocOp>() &&
         fill.output().getParentBlock() == fill->getBlock();
}

/// Replaces the copies of the buffer that `fill` fills. Returns false if that
/// leaves nothing to fill.
static bool replaceCopiesOfFill(RewriterBase &rewriter, linalg::FillOp fill) {
  Value buffer = fill.output();
  Block *block = fill->getBlock();
  // What is in the buffer behind the first other op that may write it is not
  // the value of the fill.
  Operation *firstWriter = nullptr;
  SmallVector<memref::CopyOp> copies;
  for (OpOperand &use : buffer.getUses()) {
    Operation *owner = use.getOwner();
    auto copy = dyn_cast<memref::CopyOp>(owner);
    auto reader = dyn_cast<linalg::LinalgOp>(owner);
    Operation *user = block->findAncestorOpInBlock(*owner);
    if (copy && copy.getTarget() != buffer)
      copies.push_back(copy);
    else if (owner != fill && !(reader && reader.isDpsInput(&use)) &&
             (!firstWriter || user->isBeforeInBlock(firstWriter)))
      firstWriter = user;
  }
  for (memref::CopyOp copy : copies) {
    // A loop repeats its copies after what it writes.
    Operation *user = block->findAncestorOpInBlock(*copy);
    if (user->isBeforeInBlock(fill) ||
        (firstWriter && !user->isBeforeInBlock(firstWriter)))
      continue;
    rewriter.setInsertionPoint(copy);
    linalg::FillOp::create(rewriter, copy.getLoc(), fill.value(),
                           copy.getTarget());
    rewriter.eraseOp(copy);
  }
  if (!copies.empty() && buffer.hasOneUse()) {
    Operation *alloc = buffer.getDefiningOp();
    rewriter.eraseOp(fill);
    rewriter.eraseOp(alloc);
    return false;
  }
  return true;
}

/// The first user of the buffer that `fill` fills, if it is behind `fill`; null
/// otherwise.
static Operation *findFirstUserBehind(linalg::FillOp fill) {
  Operation *first = nullptr;
  for (Operation *user : fill.output().getUsers())
    if (user = fill->getBlock()->findAncestorOpInBlock(*user);
        user != fill && (!first || user->isBeforeInBlock(first)))
      first = user;
  return first && fill->isBeforeInBlock(first) ? first : nullptr;
}

void braid::kernels::replaceCopiesOfFills(RewriterBase &rewriter,
                                          Operation *root) {
  SmallVector<linalg::FillOp> fills;
  root->walk([&](linalg::FillOp fill) {
    if (fillsOwnBuffer(fill))
      fills.push_back(fill);
  });
  llvm::erase_if(fills, [&](linalg::FillOp fill) {
    return !replaceCopiesOfFill(rewriter, fill);
  });
  // The kernel of the first user may take the fill in. All fills move at once,
  // because a block numbers its ops anew after each move.
  auto users = llvm::map_to_vector(fills, findFirstUserBehind);
  for (auto [fill, user] : llvm::zip_equal(fills, users))
    if (user)
      rewriter.moveOpBefore(fill, user);
}

linalg::FillOp braid::kernels::findFill(Operation *op, Value buffer) {
  // Another value may name the memory.
  if (!isOwnMemory(buffer))
    return {};
  Operation *last = nullptr;
  for (Operation *user : buffer.getUsers()) {
    if (user->getBlock() != op->getBlock())
      return {};
    if (!user->isBeforeInBlock(op))
      continue;
    if (llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
      return {};
    if (!last || last->isBeforeInBlock(user))
      last = user;
  }
  auto fill = dyn_cast_or_null<linalg::FillOp>(last);
  return fill && fill.output() == buffer ? fill : linalg::FillOp();
}
