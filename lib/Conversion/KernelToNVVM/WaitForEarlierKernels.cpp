//===- WaitForEarlierKernels.cpp - Dependent launches of kernels ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelArguments.h"

#include "braid-rt/Program.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace braid {
#define GEN_PASS_DEF_WAITFOREARLIERKERNELSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

/// What the arguments of `kernel` with `llvm.noalias` point to does not
/// overlap, but changes while the kernel waits: accesses say the former by
/// alias scopes. With the attribute, LLVM and PTX's assembler move loads before
/// the wait.
static void replaceNoAlias(LLVM::LLVMFuncOp kernel) {
  StringRef name = LLVM::LLVMDialect::getNoAliasAttrName();
  MLIRContext *context = kernel.getContext();
  auto domain = LLVM::AliasScopeDomainAttr::get(context);
  SmallVector<Attribute> scopes;
  llvm::SmallDenseMap<Value, size_t> numbers;
  for (BlockArgument argument : kernel.getArguments())
    if (kernel.removeArgAttr(argument.getArgNumber(),
                             StringAttr::get(context, name))) {
      numbers.insert({argument, scopes.size()});
      scopes.push_back(LLVM::AliasScopeAttr::get(domain));
    }
  // For each argument its scope, and those of all others.
  SmallVector<std::pair<ArrayAttr, ArrayAttr>> own;
  for (size_t number = 0; number < scopes.size(); ++number) {
    SmallVector<Attribute> others(scopes);
    others.erase(others.begin() + number);
    own.emplace_back(ArrayAttr::get(context, scopes[number]),
                     ArrayAttr::get(context, others));
  }
  kernel.walk([&](LLVM::AliasAnalysisOpInterface access) {
    SmallVector<Value> addresses = access.getAccessedOperands();
    auto found = addresses.size() == 1
                     ? numbers.find(getKernelArgument(addresses.front()))
                     : numbers.end();
    if (found == numbers.end())
      return;
    access.setAliasScopes(own[found->second].first);
    access.setNoAliasScopes(own[found->second].second);
  });
}

namespace {

struct WaitForEarlierKernelsPass
    : public braid::impl::WaitForEarlierKernelsPassBase<
          WaitForEarlierKernelsPass> {
  using WaitForEarlierKernelsPassBase::WaitForEarlierKernelsPassBase;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    // The oldest chips whose kernels can wait.
    if (getChipNumber(chip) < 90 || module.lookupSymbol(BRAID_RT_KERNELS_WAIT))
      return;
    StringRef isKernel = NVVM::NVVMDialect::getKernelFuncAttrName();
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr(isKernel) && !function.isExternal()) {
        auto builder = OpBuilder::atBlockBegin(&function.front());
        NVVM::GriddepcontrolOp::create(builder, function.getLoc(),
                                       NVVM::GridDepActionKind::wait);
        replaceNoAlias(function);
      }
    auto builder = OpBuilder::atBlockBegin(module.getBody());
    LLVM::GlobalOp::create(
        builder, module.getLoc(), builder.getI8Type(), /*isConstant=*/true,
        LLVM::Linkage::External, BRAID_RT_KERNELS_WAIT,
        builder.getI8IntegerAttr(1), /*alignment=*/0,
        static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  }
};

} // namespace
