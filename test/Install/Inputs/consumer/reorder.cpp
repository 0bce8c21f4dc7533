// Reads a program, sinks its waits, prints it: Braid's passes in a compiler of
// one's own.
#include "braid/InitAll.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect>();
  braid::registerAllDialects(registry);
  braid::registerAllPasses();
  mlir::MLIRContext context(registry);
  auto module =
      mlir::parseSourceFile<mlir::ModuleOp>(argc > 1 ? argv[1] : "-", &context);
  mlir::PassManager passes(&context);
  if (!module ||
      mlir::failed(
          mlir::parsePassPipeline("func.func(comm-sink-waits)", passes)) ||
      mlir::failed(passes.run(*module)))
    return 1;
  module->print(llvm::outs());
}
