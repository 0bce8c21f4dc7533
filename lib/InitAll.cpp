//===- InitAll.cpp - Everything that Braid's tools register ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/InitAll.h"

#include "braid-c/Version.h"
#include "braid/Conversion/CommToLLVM/CommToLLVM.h"
#include "braid/Conversion/Passes.h"
#include "braid/Conversion/RuntimeDialects.h"
#include "braid/Cost/IR/CostExternalModels.h"
#include "braid/Dialect/Comm/Extensions/ParallelRegionModels.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Dialect/Comm/Transforms/ScheduleVerification.h"
#include "braid/Dialect/Library/IR/Library.h"
#include "braid/Pipelines/Pipelines.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Target/LLVM/NVVM/Target.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

void braid::registerAllDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<BraidDialect, BraidRTDialect, comm::CommDialect,
                  library::LibraryDialect>();
  comm::registerParallelRegionModels(registry);
  registerConvertCommToLLVMInterface(registry);
  registerCostExternalModels(registry);
  // What gpu-module-to-binary asks for.
  mlir::NVVM::registerNVVMTargetInterfaceExternalModels(registry);
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerGPUDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
}

void braid::registerAllPasses() {
  comm::registerCommTransformsPasses();
  registerBraidConversionPasses();
  registerPipelines();
}

void braid::registerAllOptions() {
  comm::registerScheduleVerificationOption();
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &stream) {
    stream << "Braid version " << getVersion() << '\n';
  });
}

const char *braid::getVersion() { return BRAID_VERSION_STRING; }
