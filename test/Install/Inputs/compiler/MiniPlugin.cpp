// The dialect and the pass as a plugin of a stock mlir-opt, with Braid inside.
#include "Mini.h"
#include "braid-c/Version.h"
#include "braid/InitAll.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Mini", BRAID_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            registry->insert<mini::MiniDialect>();
            mini::registerCosts(*registry);
            braid::registerAllDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Mini", BRAID_VERSION_STRING, [] {
            braid::registerAllPasses();
            mini::registerPasses();
          }};
}
