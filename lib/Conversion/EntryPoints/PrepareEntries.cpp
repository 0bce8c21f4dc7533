//===- PrepareEntries.cpp - Signatures of entry points --------------------===//
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
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {
#define GEN_PASS_DEF_PREPAREENTRIESPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {

/// Checks that the runtime can pass a value of `type`.
LogicalResult checkType(func::FuncOp function, StringRef role, unsigned index,
                        Type type) {
  auto emit = [&]() {
    return function.emitOpError()
           << "has " << role << " #" << index << " of type " << type
           << ", which an entry point cannot pass; ";
  };
  if (isa<comm::TokenType>(type))
    return emit() << "await the operation inside, or make the function private";
  Type element = type;
  if (auto memref = dyn_cast<MemRefType>(type)) {
    if (!memref.getLayout().isIdentity())
      return emit() << "expected a contiguous row-major buffer";
    element = memref.getElementType();
  }
  if (!getRuntimeDtype(element))
    return emit()
           << "expected a tensor or a scalar of f16, bf16, f32, f64, i1, "
              "i8, i16, i32, i64, index, complex<f32>, complex<f64>, "
              "f8E4M3FN or f8E5M2";
  return success();
}

DictionaryAttr describe(Builder &builder, const Twine &name, Type type,
                        StringRef direction, bool isResult) {
  SmallVector<NamedAttribute> attributes = {
      builder.getNamedAttr("direction", builder.getStringAttr(direction)),
      builder.getNamedAttr("name", builder.getStringAttr(name)),
      builder.getNamedAttr("type", TypeAttr::get(type))};
  if (isResult)
    attributes.push_back(builder.getNamedAttr("result", builder.getUnitAttr()));
  return builder.getDictionaryAttr(attributes);
}

/// Writes the result `value` to `output`: replaces the allocation of `value` by
/// `output`, or copies `value` before `exit`.
void writeToOutput(func::FuncOp function, Value value, BlockArgument output,
                   Operation *exit, bool isOnlyExit) {
  auto allocation = value.getDefiningOp<memref::AllocOp>();
  if (allocation && isOnlyExit && allocation.getType() == output.getType() &&
      allocation->getBlock() == &function.getBody().front()) {
    allocation.replaceAllUsesWith(output);
    allocation.erase();
    return;
  }
  OpBuilder builder(exit);
  memref::CopyOp::create(builder, exit->getLoc(), value, output);
}

/// Copies the buffers that `exit` returns if an argument owns them, or if
/// `exit` returns them before: the caller frees each of its results.
void copySharedResults(func::ReturnOp exit) {
  OpBuilder builder(exit);
  llvm::SmallDenseSet<Value> returned;
  for (OpOperand &operand : exit->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    Value root = memref::skipViewLikeOps(cast<MemrefValue>(operand.get()));
    if (!isa<BlockArgument>(root) && returned.insert(root).second)
      continue;
    operand.set(createCopy(builder, exit.getLoc(), operand.get()));
  }
}

LogicalResult prepare(func::FuncOp function) {
  Builder builder(function.getContext());
  SmallVector<Attribute> arguments;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (failed(checkType(function, "argument", index, type)))
      return failure();
    bool donated = function.getArgAttr(
                       index, comm::CommDialect::kDonatedAttrName) != nullptr;
    function.removeArgAttr(index, comm::CommDialect::kDonatedAttrName);
    arguments.push_back(describe(builder, "arg" + Twine(index), type,
                                 donated ? "inout" : "in", false));
  }

  SmallVector<func::ReturnOp> exits;
  function.walk([&](func::ReturnOp exit) { exits.push_back(exit); });
  SmallVector<unsigned> written;
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    if (failed(checkType(function, "result", index, type)))
      return failure();
    auto memref = dyn_cast<MemRefType>(type);
    bool isWritten = memref && memref.hasStaticShape();
    if (isWritten)
      written.push_back(index);
    arguments.push_back(
        describe(builder, "result" + Twine(index), type, "out", !isWritten));
  }

  for (unsigned index : written) {
    Type type = function.getResultTypes()[index];
    (void)function.insertArgument(function.getNumArguments(), type,
                                  builder.getDictionaryAttr({}),
                                  function.getLoc());
  }
  unsigned firstOutput = function.getNumArguments() - written.size();
  llvm::BitVector isWritten(function.getNumResults());
  for (unsigned index : written)
    isWritten.set(index);
  for (func::ReturnOp exit : exits) {
    for (auto [position, index] : llvm::enumerate(written))
      writeToOutput(function, exit.getOperand(index),
                    function.getArgument(firstOutput + position), exit,
                    exits.size() == 1);
    exit->eraseOperands(isWritten);
    copySharedResults(exit);
  }
  (void)function.eraseResults(isWritten);
  function->setAttr(kEntryAttrName, builder.getArrayAttr(arguments));
  return success();
}

/// Checks the dimensions of `memref.dim`. A canonicalization pattern of the gpu
/// dialect would access a dimension out of range beyond the shape.
LogicalResult checkDimensions(ModuleOp module) {
  WalkResult result = module.walk([](memref::DimOp dim) {
    std::optional<int64_t> index = dim.getConstantIndex();
    auto type = dyn_cast<MemRefType>(dim.getSource().getType());
    if (!index || !type || (*index >= 0 && *index < type.getRank()))
      return WalkResult::advance();
    dim.emitOpError() << "asks for dimension " << *index << " of " << type
                      << ", expected less than " << type.getRank()
                      << ", and not less than 0";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

struct PrepareEntriesPass
    : public braid::StructuralPass<
          braid::impl::PrepareEntriesPassBase<PrepareEntriesPass>> {
  using StructuralPass::StructuralPass;

  LogicalResult transform() override {
    ModuleOp module = getOperation();
    if (target != KernelTarget::Host) {
      if (failed(checkDimensions(module)))
        return failure();
      module->setAttr(kTargetAttrName, StringAttr::get(&getContext(), "cuda"));
    }
    llvm::DenseSet<StringAttr> called;
    module.walk([&](CallOpInterface call) {
      if (auto callee = dyn_cast<SymbolRefAttr>(call.getCallableForCallee()))
        called.insert(callee.getRootReference());
    });
    bool hasEntry = false;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal()) {
        function.emitOpError()
            << "has no body, expected a definition: a program for the "
            << (target == KernelTarget::Host ? "host" : "cuda")
            << " has to be whole";
        return failure();
      }
      if (!function.isPublic())
        continue;
      if (called.contains(function.getSymNameAttr()))
        return function.emitOpError()
               << "is an entry point that the program calls, expected a "
                  "private function for the calls: --braid-separate-entries "
                  "makes one";
      if (failed(prepare(function)))
        return failure();
      hasEntry = true;
    }
    if (hasEntry)
      return success();
    module.emitError()
        << "the module has no public function, expected an entry "
           "point such as 'func.func @main'";
    return failure();
  }
};

} // namespace
