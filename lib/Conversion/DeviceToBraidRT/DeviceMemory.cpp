//===- DeviceMemory.cpp - Host accesses of device memory ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/Buffers.h"
#include "../Support/ProgramAttributes.h"

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/Support/IR/Remarks.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/ScopedPrinter.h"

namespace braid {
#define GEN_PASS_DEF_CONVERTDEVICEMEMORYTOBRAIDRTPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {

/// The name of the constant that describes the data of `global`.
std::string getConstantGlobalName(StringRef global) {
  return (kConstantGlobalPrefix + global).str();
}

/// Replaces the result of `op` by a buffer of its static shape at `memory`.
void replaceByBuffer(Operation *op, Value memory,
                     const LLVMTypeConverter &converter,
                     ConversionPatternRewriter &rewriter) {
  auto type = cast<MemRefType>(op->getResult(0).getType());
  rewriter.replaceOp(op, {MemRefDescriptor::fromStaticShape(
                             rewriter, op->getLoc(), converter, type, memory)});
}

struct ConvertArena : public ConvertOpToLLVMPattern<memref::AllocOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(memref::AllocOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op->hasAttr(kArenaAttrName))
      return failure();
    RuntimeCallBuilder calls(rewriter, op);
    Value memory = calls.call(
        "braid_rt_arena", calls.getPointer(),
        {calls.getI64(op.getType().getNumElements()), calls.getSite()});
    replaceByBuffer(op, memory, *getTypeConverter(), rewriter);
    return success();
  }
};

/// Converts an allocation outside of the arena.
struct ConvertAlloc : public ConvertOpToLLVMPattern<memref::AllocOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(memref::AllocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op->hasAttr(kArenaAttrName))
      return failure();
    SmallVector<Value> sizes, strides;
    Value bytes;
    getMemRefDescriptorSizes(op.getLoc(), op.getType(),
                             adaptor.getDynamicSizes(), rewriter, sizes,
                             strides, bytes);
    RuntimeCallBuilder calls(rewriter, op);
    Value memory = calls.call("braid_rt_buffer_alloc", calls.getPointer(),
                              {bytes, calls.getSite()});
    rewriter.replaceOp(
        op, {createMemRefDescriptor(op.getLoc(), op.getType(), memory, memory,
                                    sizes, strides, rewriter)});
    return success();
  }
};

struct ConvertDealloc : public ConvertOpToLLVMPattern<memref::DeallocOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(memref::DeallocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RuntimeCallBuilder calls(rewriter, op);
    Value memory = MemRefDescriptor(adaptor.getMemref())
                       .allocatedPtr(rewriter, op.getLoc());
    calls.call("braid_rt_buffer_free", Type(), {memory, calls.getSite()});
    rewriter.eraseOp(op);
    return success();
  }
};

/// Converts a global to a constant that the runtime copies to each device.
struct ConvertGlobal : public ConvertOpToLLVMPattern<memref::GlobalOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(memref::GlobalOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getType();
    auto elements = dyn_cast_or_null<ElementsAttr>(op.getInitialValueAttr());
    if (!elements || !op.getConstant())
      return rewriter.notifyMatchFailure(op, "is no constant");
    std::optional<int64_t> bytes = getTotalBytes(type);
    if (!bytes)
      return rewriter.notifyMatchFailure(op, "is larger than any memory");
    Location loc = op.getLoc();
    auto module = op->getParentOfType<ModuleOp>();
    std::string name = getConstantGlobalName(op.getSymName());
    Type converted = convertArray(type);
    if (!converted)
      return failure();
    rewriter.setInsertionPoint(op);
    auto data = LLVM::GlobalOp::create(
        rewriter, loc, converted, /*isConstant=*/true, LLVM::Linkage::Private,
        name + "_data",
        // A global without dimensions has its element as value.
        type.getRank() == 0 ? elements.getValues<Attribute>()[0]
                            : Attribute(elements));
    createStructConstant(rewriter, module, loc, name,
                         {data, ConstantField::i64(*bytes)});
    rewriter.eraseOp(op);
    return success();
  }

private:
  Type convertArray(MemRefType type) const {
    Type result = getTypeConverter()->convertType(type.getElementType());
    for (int64_t size : llvm::reverse(type.getShape()))
      result = result ? LLVM::LLVMArrayType::get(result, size) : Type();
    return result;
  }
};

struct ConvertGetGlobal : public ConvertOpToLLVMPattern<memref::GetGlobalOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(memref::GetGlobalOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RuntimeCallBuilder calls(rewriter, op);
    Value constant =
        LLVM::AddressOfOp::create(rewriter, op.getLoc(), calls.getPointer(),
                                  getConstantGlobalName(op.getName()));
    Value memory = calls.call("braid_rt_device_constant", calls.getPointer(),
                              {constant, calls.getSite()});
    replaceByBuffer(op, memory, *getTypeConverter(), rewriter);
    return success();
  }
};

/// Converts a load of the host to a blocking copy of the element to the stack.
struct ConvertLoad : public ConvertOpToLLVMPattern<memref::LoadOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MemRefType type = op.getMemRefType();
    Value address = getStridedElementPtr(
        rewriter, loc, type, adaptor.getMemref(), adaptor.getIndices());
    Type element = getTypeConverter()->convertType(type.getElementType());
    RuntimeCallBuilder calls(rewriter, op);
    Value value;
    {
      StackScope scope(calls);
      Value slot = calls.allocate(element, 1);
      calls.call("braid_rt_read", Type(),
                 {slot, address, calls.getI64(getElementBytes(type)),
                  calls.getSite()});
      value = LLVM::LoadOp::create(rewriter, loc, element, slot);
    }
    rewriter.replaceOp(op, value);
    return success();
  }
};

struct ConvertStore : public ConvertOpToLLVMPattern<memref::StoreOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(memref::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    Value address = getStridedElementPtr(
        rewriter, op.getLoc(), type, adaptor.getMemref(), adaptor.getIndices());
    RuntimeCallBuilder calls(rewriter, op);
    StackScope scope(calls);
    Value slot = calls.storeArray(adaptor.getValue());
    calls.call(
        "braid_rt_write", Type(),
        {address, slot, calls.getI64(getElementBytes(type)), calls.getSite()});
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertDeviceMemoryToBraidRTPass
    : public braid::StructuralPass<
          braid::impl::ConvertDeviceMemoryToBraidRTPassBase<
              ConvertDeviceMemoryToBraidRTPass>> {
  LogicalResult transform() override {
    ModuleOp module = getOperation();
    int64_t reads = 0, allocs = 0;
    module.walk([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      if (auto load = dyn_cast<memref::LoadOp>(op)) {
        ++reads;
        emitPassedRemark(op, getArgument(), "host-read", [&](auto &remark) {
          remark << mlir::remark::metric("ElementOf",
                                         llvm::to_string(load.getMemRefType()));
        });
      }
      if (isa<memref::AllocOp>(op) && !op->hasAttr(kArenaAttrName))
        ++allocs;
      return WalkResult::advance();
    });
    Builder builder(module);
    addHostReads(module, reads);
    module->setAttr(kBufferAllocsAttrName, builder.getI64IntegerAttr(allocs));

    LLVMTypeConverter converter(&getContext());
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvertAlloc, ConvertArena, ConvertDealloc, ConvertGlobal,
                 ConvertGetGlobal, ConvertLoad, ConvertStore>(converter);
    LLVMConversionTarget target(getContext());
    target.addIllegalOp<memref::AllocOp, memref::DeallocOp, memref::GlobalOp,
                        memref::GetGlobalOp, memref::LoadOp, memref::StoreOp>();
    target.addLegalOp<gpu::GPUModuleOp>();
    target.markOpRecursivelyLegal<gpu::GPUModuleOp>();
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return failure();
    return success();
  }
};

} // namespace
