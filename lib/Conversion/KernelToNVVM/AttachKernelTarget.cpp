//===- AttachKernelTarget.cpp - The target of kernels ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Config/Targets.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"

#include <cstdlib>

namespace braid {
#define GEN_PASS_DEF_ATTACHKERNELTARGETPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

/// The path of libdevice in the CUDA toolkit `folder`.
static std::string getLibdevice(StringRef folder) {
  SmallString<128> path(folder);
  llvm::sys::path::append(path, "nvvm", "libdevice", "libdevice.10.bc");
  return std::string(path);
}

std::string braid::findCudaToolkit() {
  for (const char *name : {"CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"})
    if (const char *folder = std::getenv(name))
      return folder;
  return "/usr/local/cuda";
}

unsigned braid::getChipNumber(StringRef chip) {
  unsigned number = 0;
  return chip.consume_front("sm_") && !chip.consumeInteger(10, number) ? number
                                                                       : 0;
}

/// The default features of `chip`: a version of PTX with bfloat16. LLVM's
/// defaults of newer chips have bfloat16.
static StringRef getDefaultFeatures(StringRef chip) {
  unsigned number = 0;
  chip.consume_front("sm_");
  return chip.consumeInteger(10, number) || number <= 90 ? "+ptx80" : "";
}

static constexpr StringLiteral kTriple = "nvptx64-nvidia-cuda";

/// True if LLVM supports `chip`, or if this is unknown.
static bool isKnownChip(StringRef chip) {
#if LLVM_HAS_NVPTX_TARGET
  static bool isInitialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    return true;
  }();
  (void)isInitialized;
  std::string error;
  llvm::Triple triple(kTriple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return true;
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(triple, /*CPU=*/"", /*Features=*/""));
  return !info || info->isCPUStringValid(chip);
#else
  return true;
#endif
}

namespace {

struct AttachKernelTargetPass
    : public braid::impl::AttachKernelTargetPassBase<AttachKernelTargetPass> {
  using AttachKernelTargetPassBase::AttachKernelTargetPassBase;

  void runOnOperation() override {
    gpu::GPUModuleOp kernels = getOperation();
    Builder builder(&getContext());
    if (!isKnownChip(chip)) {
      kernels.emitError() << "kernels cannot be compiled for '" << chip
                          << "': expected a chip that this LLVM knows, such as "
                             "sm_90";
      return signalPassFailure();
    }
    std::string folder = toolkit.empty() ? braid::findCudaToolkit() : toolkit;
    std::string library = getLibdevice(folder);
    SmallVector<Attribute> libraries;
    auto function = llvm::find_if(
        kernels.getOps<LLVM::LLVMFuncOp>(), [](LLVM::LLVMFuncOp function) {
          return function.isExternal() &&
                 function.getName().starts_with("__nv_");
        });
    if (function != kernels.getOps<LLVM::LLVMFuncOp>().end()) {
      if (!llvm::sys::fs::exists(library)) {
        (*function)->emitError()
            << "the kernels call " << (*function).getName()
            << ", which is in CUDA's libdevice, and there is no " << library
            << "; CUDA_ROOT names another folder of a CUDA toolkit";
        return signalPassFailure();
      }
      libraries.push_back(builder.getStringAttr(library));
    }
    auto target = NVVM::NVVMTargetAttr::get(
        &getContext(), /*optLevel=*/3, kTriple, chip,
        features.empty() ? getDefaultFeatures(chip) : StringRef(features),
        /*flags=*/{},
        libraries.empty() ? ArrayAttr() : builder.getArrayAttr(libraries));
    kernels.setTargetsAttr(builder.getArrayAttr({target}));
  }
};

} // namespace
