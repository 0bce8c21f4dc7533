// The tool: Braid and the dialect. "first" registers the costs of the dialect
// before those of Braid, which changes nothing.
#include "Mini.h"
#include "braid/InitAll.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mini::MiniDialect>();
  bool isFirst = argc > 1 && llvm::StringRef(argv[1]) == "first";
  if (isFirst) {
    mini::registerCosts(registry);
    --argc;
    ++argv;
  }
  braid::registerAllDialects(registry);
  if (!isFirst)
    mini::registerCosts(registry);
  braid::registerAllPasses();
  braid::registerAllOptions();
  mini::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "A compiler on Braid\n", registry));
}
