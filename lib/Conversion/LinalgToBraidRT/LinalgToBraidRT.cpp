//===- LinalgToBraidRT.cpp - Matmuls and routines as library calls --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/ProgramAttributes.h"
#include "../Support/RuntimeCalls.h"
#include "Calls.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Library/Transforms/Decompose.h"
#include "braid/Support/IR/Remarks.h"
#include "braid/Support/RoutineSignature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace braid {
#define GEN_PASS_DEF_CONVERTLINALGTOBRAIDRTPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {

/// Converts a matmul to loops whose innermost loop runs along the rows of the
/// result. LLVM can vectorize this loop without reordering a sum.
void convertToRowLoops(linalg::LinalgOp op, const MatmulMatch &match) {
  IRRewriter rewriter(op);
  if (op->hasAttr(kOverwritesAttrName)) {
    Type element = getElementTypeOrSelf(op.getDpsInits()[0].getType());
    Value zero;
    if (auto complex = dyn_cast<ComplexType>(element)) {
      Attribute part = rewriter.getZeroAttr(complex.getElementType());
      zero = complex::ConstantOp::create(rewriter, op.getLoc(), complex,
                                         rewriter.getArrayAttr({part, part}));
    } else {
      zero = arith::ConstantOp::create(rewriter, op.getLoc(),
                                       rewriter.getZeroAttr(element));
    }
    linalg::FillOp::create(rewriter, op.getLoc(), zero, op.getDpsInits()[0]);
  }
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    FailureOr<linalg::GenericOp> generalized =
        linalg::generalizeNamedOp(rewriter, op);
    if (failed(generalized))
      return;
    generic = *generalized;
  }
  SmallVector<unsigned> order;
  if (match.batch)
    order.push_back(*match.batch);
  order.append({match.m, match.k, match.n});
  (void)linalg::interchangeGenericOp(rewriter, generic, order);
}

/// Replaces attention or a convolution by a call of the GPU's library.
LogicalResult convertToDeviceCall(Operation *op, bool isCUDA) {
  auto convolution = dyn_cast<library::ConvolutionOp>(op);
  if (!isCUDA)
    return op->emitOpError()
           << "has no library on the host, expected braid-decompose-"
           << (convolution ? "convolutions" : "attention") << " before";
  return convolution ? convertConvolutionToCall(convolution)
                     : convertAttentionToCall(op);
}

struct ConvertLinalgToBraidRTPass
    : public braid::StructuralPass<braid::impl::ConvertLinalgToBraidRTPassBase<
          ConvertLinalgToBraidRTPass>> {
  using StructuralPass::StructuralPass;

  LogicalResult transform() override {
    SmallVector<std::pair<linalg::LinalgOp, MatmulMatch>> matmuls;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!op.hasPureBufferSemantics())
        return;
      if (std::optional<MatmulMatch> match = matchMatmul(op))
        matmuls.emplace_back(op, *match);
    });
    bool isCUDA = target == KernelTarget::CUDA;
    LogicalResult result = success();
    SmallVector<library::CallOp> routines;
    getOperation().walk([&](library::CallOp op) { routines.push_back(op); });
    int64_t waits = 0;
    for (library::CallOp op : routines) {
      if (isCUDA && library::hasDivision(op)) {
        result = op.emitOpError()
                 << "of \"" << op.getRoutine()
                 << "\" divides by the number of elements, which cuFFT does "
                    "not, expected braid-decompose-transforms before";
        continue;
      }
      if (isCUDA && library::givesTransposedVectors(op)) {
        result = op.emitOpError() << "of \"" << op.getRoutine()
                                  << "\" gives V^T, cuSOLVER gives V, expected "
                                     "braid-decompose-solvers before";
        continue;
      }
      RoutinePlace place = getRoutineTraits(op.getRoutineNumber())->place;
      if (isCUDA && place != RoutinePlace::Device) {
        ++waits;
        emitPassedRemark(
            op, getArgument(),
            place == RoutinePlace::Host ? "host-routine" : "waiting-routine",
            [&](auto &remark) {
              remark << mlir::remark::metric("Routine", op.getRoutine());
            });
      }
      if (failed(convertToCall(op)))
        result = failure();
    }
    if (waits != 0)
      addHostReads(getOperation(), waits);
    SmallVector<Operation *> deviceCalls;
    getOperation().walk([&](Operation *op) {
      if (library::isAttention(op) || isa<library::ConvolutionOp>(op))
        deviceCalls.push_back(op);
    });
    for (Operation *op : deviceCalls)
      if (failed(convertToDeviceCall(op, isCUDA)))
        result = failure();
    for (auto &[op, match] : matmuls) {
      if (isCUDA && useLibrary && isDeviceLibraryCall(op))
        convertToFusedCall(op, match);
      else if (!isCUDA && useLibrary && hasContiguousRows(op) &&
               hasLibraryTypes(op))
        convertToCall(op, match);
      else if (failed(checkPlain(op)))
        result = failure();
      else
        convertToRowLoops(op, match);
    }
    return result;
  }
};

} // namespace
