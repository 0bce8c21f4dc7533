//===- GPULaunch.cpp - Kernels and launches as runtime calls --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/RuntimeCalls.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/DialectConversion.h"

namespace braid {
#define GEN_PASS_DEF_CONVERTGPULAUNCHTOBRAIDRTPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {

/// The name of the constant that describes kernel `kernel` of `binary`.
std::string getKernelGlobalName(StringRef binary, StringRef kernel) {
  return ("__braid_kernel_of_" + binary + "_" + kernel).str();
}

/// The chip of `object`; empty if `object` has none.
StringRef getChip(gpu::ObjectAttr object) {
  auto target = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget());
  return target ? target.getChip() : StringRef();
}

/// Emits the image in `binary` (braid_rt_image) and its kernels
/// (braid_rt_kernel) as constants.
LogicalResult emitImage(ModuleOp module, gpu::BinaryOp binary,
                        ArrayRef<StringAttr> kernels) {
  Location loc = binary.getLoc();
  if (binary.getObjects().size() != 1)
    return binary.emitOpError()
           << "has " << binary.getObjects().size() << " objects, expected one";
  auto object = dyn_cast<gpu::ObjectAttr>(binary.getObjects()[0]);
  if (!object || object.getFormat() == gpu::CompilationTarget::Offload)
    return binary.emitOpError() << "has an object that is no code, expected a "
                                   "fat binary, a cubin or PTX";
  OpBuilder builder(module.getContext());
  std::string name = (kImageGlobalPrefix + binary.getSymName()).str();

  // PTX needs a closing zero; other formats ignore it.
  StringRef code = object.getObject().getValue();
  LLVM::GlobalOp data =
      createString(builder, module, loc, name + "_data", code);
  // The driver reads numbers from the image, which must be aligned.
  data.setAlignment(16);
  LLVM::GlobalOp chip =
      createString(builder, module, loc, name + "_chip", getChip(object));
  LLVM::GlobalOp image =
      createStructConstant(builder, module, loc, name,
                           {data, ConstantField::i64(code.size()), chip});
  for (StringAttr kernel : kernels) {
    std::string global = getKernelGlobalName(binary.getSymName(), kernel);
    LLVM::GlobalOp text =
        createString(builder, module, loc, global + "_name", kernel);
    createStructConstant(builder, module, loc, global, {image, text});
  }
  return success();
}

struct ConvertLaunch : public ConvertOpToLLVMPattern<gpu::LaunchFuncOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(gpu::LaunchFuncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getAsyncToken() || !op.getAsyncDependencies().empty() ||
        op.hasClusterSize() || op.getAsyncObject())
      return rewriter.notifyMatchFailure(
          op,
          "is asynchronous or has clusters, which the runtime does not know");
    Location loc = op.getLoc();
    RuntimeCallBuilder calls(rewriter, op);
    StackScope scope(calls);
    Value kernel = LLVM::AddressOfOp::create(
        rewriter, loc, calls.getPointer(),
        getKernelGlobalName(op.getKernelModuleName(), op.getKernelName()));
    Value grid =
        getSizes({op.getGridSizeX(), op.getGridSizeY(), op.getGridSizeZ()},
                 {adaptor.getGridSizeX(), adaptor.getGridSizeY(),
                  adaptor.getGridSizeZ()},
                 calls);
    Value block =
        getSizes({op.getBlockSizeX(), op.getBlockSizeY(), op.getBlockSizeZ()},
                 {adaptor.getBlockSizeX(), adaptor.getBlockSizeY(),
                  adaptor.getBlockSizeZ()},
                 calls);
    Value shared = calls.getI64(0);
    if (Value size = adaptor.getDynamicSharedMemorySize())
      shared = LLVM::ZExtOp::create(rewriter, loc, rewriter.getI64Type(), size);

    SmallVector<Value> pointers;
    for (auto [original, converted] :
         llvm::zip(op.getKernelOperands(), adaptor.getKernelOperands())) {
      Value value = converted;
      // A kernel gets the base pointer of a buffer, without the offset.
      if (isa<MemRefType>(original.getType()))
        value = MemRefDescriptor(converted).alignedPtr(rewriter, loc);
      pointers.push_back(calls.storeArray(value));
    }
    calls.call("braid_rt_launch", Type(),
               {kernel, grid, block, shared, calls.storeArray(pointers),
                calls.getI64(pointers.size()), calls.getSite()});
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// A pointer to the three sizes of a grid or block.
  static Value getSizes(ArrayRef<Value> originals, ArrayRef<Value> converted,
                        RuntimeCallBuilder &calls) {
    SmallVector<OpFoldResult> sizes(originals.begin(), originals.end());
    if (std::optional<SmallVector<int64_t>> constants =
            getConstantIntValues(sizes))
      return calls.getConstantArray(*constants);
    return calls.storeArray(converted);
  }
};

struct ConvertGPULaunchToBraidRTPass
    : public braid::StructuralPass<
          braid::impl::ConvertGPULaunchToBraidRTPassBase<
              ConvertGPULaunchToBraidRTPass>> {
  LogicalResult transform() override {
    ModuleOp module = getOperation();
    // The launched kernels of each binary, in program order.
    llvm::MapVector<StringAttr, llvm::SetVector<StringAttr>> kernels;
    WalkResult result = module.walk([&](gpu::LaunchFuncOp launch) {
      StringAttr name = launch.getKernelModuleName();
      if (!module.lookupSymbol<gpu::BinaryOp>(name)) {
        launch.emitOpError() << "launches a kernel of @" << name.getValue()
                             << ", expected a gpu.binary, which "
                                "--gpu-module-to-binary makes";
        return WalkResult::interrupt();
      }
      kernels[name].insert(launch.getKernelName());
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    auto binaries = llvm::to_vector(module.getOps<gpu::BinaryOp>());
    for (gpu::BinaryOp binary : binaries) {
      auto *found = kernels.find(binary.getSymNameAttr());
      if (found != kernels.end() &&
          failed(emitImage(module, binary, found->second.getArrayRef())))
        return failure();
    }

    LLVMTypeConverter converter(&getContext());
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvertLaunch>(converter);
    LLVMConversionTarget target(getContext());
    target.addIllegalOp<gpu::LaunchFuncOp>();
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return failure();
    for (gpu::BinaryOp binary : binaries)
      binary.erase();
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
    return success();
  }
};

} // namespace
