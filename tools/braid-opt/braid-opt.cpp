//===- braid-opt.cpp - The optimizer tool ---------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/InitAll.h"
#include "braid/Pipelines/VerifyEachPass.h"
#include "braid/Support/CleanUp.h"
#include "braid/Support/OutputFile.h"
#include "braid/Support/SourceKind.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"

#include <csignal>
#include <unistd.h>

using namespace mlir;
namespace cl = llvm::cl;

namespace {
enum class Verified { Off, Each };
} // namespace

static cl::OptionCategory category("Braid's checks");
static cl::opt<Verified> verification(
    "verify", cl::desc("When to run comm-verify beside the passes"),
    cl::values(clEnumValN(Verified::Off, "off", "never (default)"),
               clEnumValN(Verified::Each, "each",
                          "on the input and after every pass; names the pass "
                          "after which the program is wrong")),
    cl::init(Verified::Off), cl::cat(category));

/// The options of mlir-opt, and comm-verify around the passes if the option
/// asks for it.
static MlirOptMainConfig makeConfig() {
  MlirOptMainConfig given = MlirOptMainConfig::createFromCLOptions();
  if (verification == Verified::Off)
    return given;
  MlirOptMainConfig config = given;
  config.setPassPipelineSetupFn([given](PassManager &pm) {
    return braid::verifyProgramAfterEachPass(
        pm, braid::ProgramVerifierOptions(),
        [&](PassManager &pm) { return given.setupPassPipeline(pm); });
  });
  return config;
}

static LogicalResult fail(const llvm::Twine &message) {
  llvm::errs() << "braid-opt: error: " << message << '\n';
  return failure();
}

/// Runs mlir-opt. A file is written whole, standard output as it comes.
static LogicalResult run(StringRef inputPath, const std::string &outputPath,
                         DialectRegistry &registry) {
  std::string message, text;
  if (inputPath == "-" &&
      llvm::sys::Process::FileDescriptorIsDisplayed(STDIN_FILENO))
    llvm::errs() << "(reads the program from standard input; Ctrl-D ends it)\n";
  auto input = openInputFile(inputPath, &message);
  if (!input)
    return fail(message);
  if (outputPath == "-") {
    LogicalResult result =
        MlirOptMain(llvm::outs(), std::move(input), registry, makeConfig());
    llvm::outs().flush();
    if (std::error_code error = llvm::outs().error()) {
      llvm::outs().clear_error();
      return fail("cannot write to the standard output: " + error.message());
    }
    return result;
  }
  // Find out now that a file cannot be written, not after the passes.
  braid::OutputFile output(outputPath);
  llvm::raw_string_ostream stream(text);
  if (!output.hasFailed() &&
      failed(MlirOptMain(stream, std::move(input), registry, makeConfig())))
    return failure();
  output.write(text);
  if (message = output.finish(); !message.empty())
    return fail(message);
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
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  // Lists are upstream's.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(
        MlirOptMain(argc, argv, inputPath, outputPath, registry));
  llvm::InitLLVM initialize(argc, argv);
  braid::cleanUpOnSignals();
  if (std::string kind = braid::describeForeignSource(inputPath);
      !kind.empty()) {
    llvm::errs() << inputPath << ": error: found " << kind
                 << ", expected MLIR as text or bytecode\n";
    return EXIT_FAILURE;
  }
  // A file that becomes too large is an error with the name of the file.
  std::signal(SIGXFSZ, SIG_IGN);
  return asMainReturnCode(run(inputPath, outputPath, registry));
}
