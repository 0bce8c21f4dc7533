//===- braid-opt.cpp - The optimizer tool ---------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/InitAll.h"
#include "braid/Pipelines/VerifyEachPass.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
namespace cl = llvm::cl;

static cl::opt<bool> verifyEach(
    "verify-program-each",
    cl::desc("Run comm-verify on the input and after every pass, and name the "
             "pass after which the program is wrong"),
    cl::init(false));

/// Runs mlir-opt with comm-verify around the passes.
static LogicalResult runVerified(StringRef inputPath, StringRef outputPath,
                                 DialectRegistry &registry) {
  MlirOptMainConfig given = MlirOptMainConfig::createFromCLOptions();
  MlirOptMainConfig config = given;
  config.setPassPipelineSetupFn([&](PassManager &pm) {
    return braid::verifyProgramAfterEachPass(
        pm, braid::ProgramVerifierOptions(),
        [&](PassManager &pm) { return given.setupPassPipeline(pm); });
  });
  std::string message;
  auto input = openInputFile(inputPath, &message);
  auto output = input ? openOutputFile(outputPath, &message) : nullptr;
  if (!output) {
    llvm::errs() << message << '\n';
    return failure();
  }
  if (failed(MlirOptMain(output->os(), std::move(input), registry, config)))
    return failure();
  output->keep();
  return success();
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  registerAllPasses();
  braid::registerAllDialects(registry);
  braid::registerAllPasses();
  braid::registerAllOptions();
  auto [inputPath, outputPath] = registerAndParseCLIOptions(
      argc, argv, "Braid optimizer: hides communication behind computation\n",
      registry);
  return asMainReturnCode(
      verifyEach ? runVerified(inputPath, outputPath, registry)
                 : MlirOptMain(argc, argv, inputPath, outputPath, registry));
}
