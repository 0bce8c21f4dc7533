//===- braid-lsp-server.cpp - The language server -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The language server for editors: diagnostics, hover, definitions and
// completion in .mlir files with Braid's and upstream's dialects.
//
//===----------------------------------------------------------------------===//

#include "braid/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  braid::registerAllDialects(registry);
  braid::registerAllOptions();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
