//===- Bufferize.cpp - The comm-bufferize pass ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"

#include "braid/Dialect/Comm/Transforms/InFlightCheck.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMBUFFERIZEPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace mlir::bufferization;
using namespace braid::comm;

namespace {

/// Reports `comm.compute` on tensors: kernels are inlined before, and an opaque
/// one has nothing to lower.
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

/// Makes the tensors that entry points take read-only: they are the caller's.
/// A function that takes a token is no entry point.
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

/// Gives tokens their type back, and removes the casts between the two.
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

struct CommBufferizePass
    : public braid::comm::impl::CommBufferizePassBase<CommBufferizePass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    CommBufferizePassBase::getDependentDialects(registry);
    registry.insert<inflight::InFlightDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkNoCompute(module)))
      return signalPassFailure();
    protectArguments(module);
    if (failed(inflight::splitTokens(module)))
      return signalPassFailure();

    OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.allowReturnAllocsFromLoops = true;
    options.setFunctionBoundaryTypeConversion(
        LayoutMapOption::IdentityLayoutMap);
    BufferizationState state;
    if (failed(runOneShotModuleBufferize(module, options, state)))
      return signalPassFailure();
    removeBufferizationAttributesInModule(module);
    restoreTokens(module);
    if (failed(checkInFlight(module)))
      return signalPassFailure();
  }
};

} // namespace
