//===- PartCalls.cpp - Kernels on the threads of a rank -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/ProgramAttributes.h"
#include "../Support/RuntimeCalls.h"
#include "braid/Conversion/Passes.h"

namespace braid {
#define GEN_PASS_DEF_CONVERTPARTSTOBRAIDRTPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

/// The arguments of `kernel` before its two bounds, as a struct.
static LLVM::LLVMStructType getArgumentsType(LLVM::LLVMFuncOp kernel) {
  return LLVM::LLVMStructType::getLiteral(
      kernel.getContext(), ArrayRef(kernel.getArgumentTypes()).drop_back(2));
}

/// A function with the type that the runtime calls, which unpacks the arguments
/// of `kernel` (braid_rt_part).
static LLVM::LLVMFuncOp createPart(LLVM::LLVMFuncOp kernel) {
  Location loc = kernel.getLoc();
  OpBuilder builder(kernel->getContext());
  builder.setInsertionPointAfter(kernel);
  Type pointer = LLVM::LLVMPointerType::get(kernel.getContext()),
       i64 = builder.getI64Type();
  auto part = LLVM::LLVMFuncOp::create(
      builder, loc, (kernel.getSymName() + "_part").str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(kernel.getContext()),
                                  {pointer, i64, i64}),
      LLVM::Linkage::Private);
  Block *body = part.addEntryBlock(builder);
  builder.setInsertionPointToStart(body);
  Value packed = LLVM::LoadOp::create(builder, loc, getArgumentsType(kernel),
                                      body->getArgument(0));
  SmallVector<Value> arguments;
  for (int64_t index = 0, end = kernel.getNumArguments() - 2; index < end;
       ++index)
    arguments.push_back(
        LLVM::ExtractValueOp::create(builder, loc, packed, index));
  llvm::append_range(arguments, body->getArguments().drop_front());
  LLVM::CallOp::create(builder, loc, kernel, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  return part;
}

/// Replaces a call of `kernel` by one of the runtime, which calls `part`.
static void runInParts(LLVM::CallOp op, LLVM::LLVMFuncOp kernel,
                       LLVM::LLVMFuncOp part) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  RuntimeCallBuilder calls(builder, op);
  {
    StackScope scope(calls);
    SmallVector<Value> arguments(op.getArgOperands().drop_back(2));
    Value packed = calls.storeArray(createStruct(builder, loc, arguments));
    auto size = kernel->getAttrOfType<IntegerAttr>(kPartSizeAttrName);
    calls.call("braid_rt_run_parts", Type(),
               {LLVM::AddressOfOp::create(builder, loc, part), packed,
                op.getArgOperands().back(), calls.getI64(size.getInt())});
  }
  op->erase();
}

namespace {

struct ConvertPartsToBraidRTPass
    : public braid::impl::ConvertPartsToBraidRTPassBase<
          ConvertPartsToBraidRTPass> {
  void runOnOperation() override {
    SmallVector<LLVM::CallOp> calls;
    getOperation().walk([&](LLVM::CallOp op) { calls.push_back(op); });
    SymbolTable symbols(getOperation());
    llvm::DenseMap<Operation *, LLVM::LLVMFuncOp> parts;
    for (LLVM::CallOp op : calls) {
      auto kernel = symbols.lookup<LLVM::LLVMFuncOp>(
          op.getCallee().value_or(StringRef()));
      if (!kernel || !kernel->hasAttr(kPartSizeAttrName))
        continue;
      LLVM::LLVMFuncOp &part = parts[kernel];
      if (!part)
        part = createPart(kernel);
      runInParts(op, kernel, part);
    }
  }
};

} // namespace
