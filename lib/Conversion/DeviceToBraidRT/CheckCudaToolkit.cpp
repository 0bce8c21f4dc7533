//===- CheckCudaToolkit.cpp - Check for the tools of kernels --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Config/Targets.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

namespace braid {
#define GEN_PASS_DEF_CHECKCUDATOOLKITPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

namespace {

struct CheckCudaToolkitPass
    : public braid::impl::CheckCudaToolkitPassBase<CheckCudaToolkitPass> {
  using CheckCudaToolkitPassBase::CheckCudaToolkitPassBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    ModuleOp module = getOperation();
    if (module.getOps<gpu::GPUModuleOp>().empty())
      return;
#if !LLVM_HAS_NVPTX_TARGET
    module.emitError() << "cannot compile kernels: this LLVM has no target "
                          "nvptx64, expected one that was built with NVPTX";
    return signalPassFailure();
#endif
    std::string folder =
        toolkit.empty() ? braid::findCudaToolkit() : toolkit.getValue();
    for (StringRef program : {"ptxas", "fatbinary"}) {
      SmallString<128> path(folder);
      llvm::sys::path::append(path, "bin", program);
      if (llvm::sys::fs::can_execute(path) ||
          llvm::sys::findProgramByName(program))
        continue;
      module.emitError()
          << "cannot compile kernels: found no program '" << program
          << "' of the CUDA toolkit, neither as '" << path
          << "' nor on the PATH; CUDA_ROOT, CUDA_HOME or CUDA_PATH name "
             "another folder of a CUDA toolkit";
      return signalPassFailure();
    }
  }
};

} // namespace
