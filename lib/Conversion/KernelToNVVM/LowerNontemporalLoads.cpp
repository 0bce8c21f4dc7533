//===- LowerNontemporalLoads.cpp - Loads that pass by the L1 cache --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelArguments.h"

#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/TypeSize.h"

namespace braid {
#define GEN_PASS_DEF_LOWERNONTEMPORALLOADSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

/// The only size that is lowered: four registers of 32 bits.
static constexpr unsigned kRegisters = 4, kBytes = 16;

/// True if the function only loads through `pointer`.
static bool isOnlyLoaded(Value pointer) {
  return llvm::all_of(pointer.getUsers(), [](Operation *user) {
    if (auto offset = dyn_cast<LLVM::GEPOp>(user))
      return isOnlyLoaded(offset.getRes());
    return isa<LLVM::LoadOp>(user);
  });
}

/// True if `load` loads 16 aligned bytes of a buffer that no thread of the
/// kernel writes.
static bool isLowered(LLVM::LoadOp load, const DataLayout &layout) {
  if (!load.getNontemporal() || load.getVolatile_() ||
      load.getAlignment().value_or(1) < kBytes ||
      !isa<VectorType>(load.getType()) ||
      layout.getTypeSize(load.getType()) != llvm::TypeSize::getFixed(kBytes))
    return false;
  BlockArgument argument = getKernelArgument(load.getAddr());
  if (!argument)
    return false;
  auto function = cast<LLVM::LLVMFuncOp>(argument.getOwner()->getParentOp());
  return function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) &&
         function.getArgAttr(argument.getArgNumber(),
                             LLVM::LLVMDialect::getNoAliasAttrName()) &&
         isOnlyLoaded(argument);
}

static void lowerLoad(LLVM::LoadOp load) {
  ImplicitLocOpBuilder b(load.getLoc(), load);
  auto global = LLVM::LLVMPointerType::get(
      b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  Value address = LLVM::AddrSpaceCastOp::create(b, global, load.getAddr());
  auto registers = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(kRegisters, b.getI32Type()));
  auto loaded = LLVM::InlineAsmOp::create(
      b, registers, address,
      "ld.global.L1::no_allocate.v4.b32 {$0, $1, $2, $3}, [$4];",
      "=r,=r,=r,=r,l", /*has_side_effects=*/false, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
      ArrayAttr());
  auto words = VectorType::get({kRegisters}, b.getI32Type());
  Value vector = LLVM::PoisonOp::create(b, words);
  for (int64_t each = 0; each < kRegisters; ++each)
    vector = LLVM::InsertElementOp::create(
        b, vector, LLVM::ExtractValueOp::create(b, loaded.getRes(), each),
        LLVM::ConstantOp::create(b, b.getI32IntegerAttr(each)));
  load.replaceAllUsesWith(
      LLVM::BitcastOp::create(b, load.getType(), vector).getResult());
  load.erase();
}

namespace {

struct LowerNontemporalLoadsPass
    : public braid::impl::LowerNontemporalLoadsPassBase<
          LowerNontemporalLoadsPass> {
  void runOnOperation() override {
    DataLayout layout(getOperation());
    SmallVector<LLVM::LoadOp> loads;
    getOperation().walk([&](LLVM::LoadOp load) {
      if (isLowered(load, layout))
        loads.push_back(load);
    });
    for (LLVM::LoadOp load : loads)
      lowerLoad(load);
  }
};

} // namespace
