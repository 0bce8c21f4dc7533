//===- InitAll.cpp - Everything that Braid's tools register ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/InitAll.h"

#include "braid/Conversion/CommToLLVM/CommToLLVM.h"
#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Pipelines/Pipelines.h"
#include "braid/Schedule/CostExternalModels.h"

void braid::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<comm::CommDialect>();
  registerConvertCommToLLVMInterface(registry);
  registerCostExternalModels(registry);
}

void braid::registerAllPasses() {
  comm::registerCommTransformsPasses();
  registerBraidConversionPasses();
  registerPipelines();
}
