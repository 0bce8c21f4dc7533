//===- BraidPlugin.cpp - Braid as a plugin of other tools -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dialect plugin and a pass plugin in one library, for mlir-opt and any other
// tool that loads MLIR plugins:
//
//   mlir-opt --load-dialect-plugin=libBraidPlugin.so
//            --load-pass-plugin=libBraidPlugin.so
//            --pass-pipeline='builtin.module(func.func(comm-sink-waits))'
//
// A pass of a plugin has no flag of its own, because the tool parses its
// command line before it loads plugins.
//
//===----------------------------------------------------------------------===//

#include "braid-c/Version.h"
#include "braid/InitAll.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Braid", BRAID_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            braid::registerAllDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Braid", BRAID_VERSION_STRING,
          [] { braid::registerAllPasses(); }};
}
