//===- braid-compile.cpp - The compiler driver ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a program to a shared object that braid-run loads: prepare,
// schedule, lower, generate code, link.
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/InitAll.h"
#include "braid/Pipelines/Pipelines.h"
#include "braid/Pipelines/VerifyEachPass.h"
#include "braid/Support/CleanUp.h"
#include "braid/Support/OutputFile.h"
#include "braid/Support/SourceKind.h"
#include "braid/Support/Text.h"
#include "braid/Target/Host/HostTarget.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

#include <csignal>
#include <cstdlib>
#include <optional>

using namespace mlir;
namespace cl = llvm::cl;

namespace {

enum ExitStatus { succeededStatus = 0, failedStatus = 1, usageStatus = 2 };

cl::OptionCategory fileCategory("Input and output");
cl::OptionCategory passCategory("Schedule");
cl::OptionCategory checkCategory("Checks of the program");
cl::OptionCategory codeCategory("Host code");
cl::OptionCategory cudaCategory("GPU code (--target=cuda)");

cl::opt<std::string> inputPath(cl::Positional, cl::desc("<program.mlir>"),
                               cl::init("-"), cl::cat(fileCategory));
cl::opt<std::string> outputPath(
    "o",
    cl::desc("Where to write the result; - is standard output, the default for "
             "mlir and llvm (default else: the program's path with .so or .o)"),
    cl::value_desc("file"), cl::cat(fileCategory));
cl::opt<std::string> target("target",
                            cl::desc("What to compile for: host or cuda"),
                            cl::init("host"), cl::cat(fileCategory));
cl::opt<std::string> passes(
    "passes",
    cl::desc("How to schedule: 'default' (braid-overlap), 'none', or a "
             "pipeline such as 'braid-overlap{machine=cpu max-memory=1GiB}', "
             "with or without builtin.module() around"),
    cl::value_desc("pipeline"), cl::init("default"), cl::cat(passCategory));
cl::alias passPipeline("pass-pipeline",
                       cl::desc("--passes, by MLIR's name of the option"),
                       cl::aliasopt(passes), cl::cat(passCategory));
cl::opt<std::string>
    emit("emit",
         cl::desc("What to write: mlir (the LLVM dialect), llvm "
                  "(LLVM IR), obj or so"),
         cl::init("so"), cl::cat(fileCategory));
cl::opt<std::string> cpu("cpu", cl::desc("The CPU to generate code for"),
                         cl::init("native"), cl::cat(codeCategory));
cl::opt<unsigned> optimizationLevel("O", cl::desc("Optimization level, 0 to 3"),
                                    cl::Prefix, cl::init(3),
                                    cl::cat(codeCategory));
cl::opt<std::string> runtimeLibrary(
    "runtime-library",
    cl::desc("The runtime to link against (default: the one next to this "
             "tool)"),
    cl::value_desc("libbraid_rt.so"), cl::cat(codeCategory));

cl::opt<std::string> chip("chip",
                          cl::desc("The GPU to compile for (--target=cuda)"),
                          cl::value_desc("sm_90"), cl::init("sm_90"),
                          cl::cat(cudaCategory));
cl::opt<braid::LibraryLowering>
    attention("attention",
              cl::desc("What computes attention on a GPU (--target=cuda)"),
              braid::getLibraryLoweringValues(),
              cl::init(braid::LibraryLowering::Library), cl::cat(cudaCategory));
cl::opt<braid::LibraryLowering>
    convolution("convolution",
                cl::desc("What computes convolutions on a GPU (--target=cuda)"),
                braid::getLibraryLoweringValues(),
                cl::init(braid::LibraryLowering::Library),
                cl::cat(cudaCategory));
cl::opt<std::string> features(
    "features",
    cl::desc("The version of PTX (--target=cuda; default: the chip's)"),
    cl::value_desc("+ptx80"), cl::cat(cudaCategory));
cl::opt<std::string> cudaPath(
    "cuda-path",
    cl::desc("The folder of the CUDA toolkit (default: what CUDA_ROOT, "
             "CUDA_HOME or CUDA_PATH name, else /usr/local/cuda)"),
    cl::value_desc("folder"), cl::cat(cudaCategory));

enum class Findings { Off, Warning, Error, Each };
cl::opt<Findings> verification(
    "verify",
    cl::desc("What comm-verify makes of its findings, in the program and in "
             "its schedule"),
    cl::values(clEnumValN(Findings::Off, "off", "nothing: it does not run"),
               clEnumValN(Findings::Warning, "warning", "warnings"),
               clEnumValN(Findings::Error, "error", "errors (default)"),
               clEnumValN(Findings::Each, "each",
                          "errors, also after every pass, with the name of "
                          "the pass after which the program is wrong")),
    cl::init(Findings::Error), cl::cat(checkCategory));
cl::opt<unsigned> ranks(
    "ranks",
    cl::desc("The number of ranks that comm-verify follows (default: what the "
             "program implies)"),
    cl::value_desc("number"), cl::init(0), cl::cat(checkCategory));

llvm::raw_ostream &error() {
  return llvm::WithColor::error(llvm::errs(), "braid-compile");
}

/// The runtime library in ../lib of the folder of this tool. Empty if there is
/// none; then the loader of the program must provide the runtime.
std::string findRuntimeLibrary(const char *tool) {
  static int anchor;
  std::string executable = llvm::sys::fs::getMainExecutable(tool, &anchor);
  SmallString<256> path(
      llvm::sys::path::parent_path(llvm::sys::path::parent_path(executable)));
  llvm::sys::path::append(path, "lib", "libbraid_rt.so");
  return llvm::sys::fs::exists(path) ? path.str().str() : std::string();
}

/// Adds comm-verify, unless the options disable it or run it on every pass.
void addVerification(PassManager &pm) {
  if (verification == Findings::Off || verification == Findings::Each)
    return;
  braid::comm::CommVerifyPassOptions options;
  options.onlyWarns = verification == Findings::Warning;
  options.ranks = ranks;
  pm.addPass(braid::comm::createCommVerifyPass(options));
}

/// Builds the pipeline from the program to its schedule.
LogicalResult buildSchedulePipeline(PassManager &pm) {
  braid::PrepareOptions prepareOptions;
  prepareOptions.target =
      target == "cuda" ? braid::KernelTarget::CUDA : braid::KernelTarget::Host;
  prepareOptions.attention = attention;
  prepareOptions.convolution = convolution;
  prepareOptions.chip = chip;
  addVerification(pm);
  braid::buildPreparePipeline(pm, prepareOptions);
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (passes == "default") {
    braid::buildOverlapPipeline(pm);
  } else if (passes != "none" &&
             failed(parsePassPipeline(braid::getModulePasses(passes), pm,
                                      stream))) {
    error() << "--passes: " << message;
    return failure();
  }
  addVerification(pm);
  return success();
}

/// Builds the pipeline from the schedule to the LLVM dialect.
LogicalResult buildLoweringPipeline(PassManager &pm) {
  if (target == "host") {
    braid::buildLowerToHostPipeline(pm);
    return success();
  }
  braid::LowerToCUDAOptions options;
  options.chip = chip;
  options.attention = attention;
  options.convolution = convolution;
  if (!features.empty())
    options.features = features;
  options.toolkit = cudaPath;
  braid::buildLowerToCUDAPipeline(pm, options);
  return success();
}

/// Runs the pipeline that `build` makes. Gives the status to exit with.
ExitStatus runPipeline(ModuleOp module, TimingScope &timing,
                       LogicalResult (*build)(PassManager &)) {
  bool verifiesEach = verification == Findings::Each;
  PassManager pm(module.getContext());
  if (failed(applyPassManagerCLOptions(pm)))
    return usageStatus;
  // The rules of ops, checked after each pass, take a quarter of all time.
  pm.enableVerifier(verifiesEach);
  braid::ProgramVerifierOptions options;
  if (ranks != 0)
    options.numRanks = ranks;
  if (failed(verifiesEach
                 ? braid::verifyProgramAfterEachPass(pm, options, build)
                 : build(pm)))
    return usageStatus;
  pm.enableTiming(timing);
  return succeeded(pm.run(module)) && succeeded(verify(module))
             ? succeededStatus
             : failedStatus;
}

/// Writes `bytes` to `outputPath`, a whole file or standard output.
LogicalResult writeOutput(StringRef bytes) {
  std::string message;
  if (outputPath == "-") {
    llvm::outs() << bytes;
    llvm::outs().flush();
    if (std::error_code failed = llvm::outs().error()) {
      llvm::outs().clear_error();
      message = "cannot write to the standard output: " + failed.message();
    }
  } else {
    message = braid::writeWholeFile(outputPath, bytes);
  }
  if (message.empty())
    return success();
  error() << message << '\n';
  return failure();
}

/// Writes `module` to `outputPath`, in the format of `--emit`. What the linker
/// reads is in `folder` until then.
LogicalResult generate(ModuleOp module, StringRef runtimePath,
                       const std::string &folder, TimingScope &timing) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (emit == "mlir") {
    module.print(stream);
    stream << '\n';
    return writeOutput(text);
  }

  Location loc = module.getLoc();
  braid::HostTargetOptions options;
  options.cpu = cpu;
  options.optimizationLevel = optimizationLevel;
  std::unique_ptr<braid::HostTarget> host =
      braid::HostTarget::create(options, loc);
  if (!host)
    return failure();
  llvm::LLVMContext context;
  TimingScope translateTiming = timing.nest("Translate and optimize LLVM IR");
  std::unique_ptr<llvm::Module> code = host->translate(module, context);
  translateTiming.stop();
  if (!code)
    return failure();
  if (emit == "llvm") {
    stream << *code;
    return writeOutput(text);
  }

  TimingScope codeTiming = timing.nest("Generate code");
  SmallString<0> bytes;
  llvm::raw_svector_ostream object(bytes);
  if (failed(host->emitObject(*code, loc, object)))
    return failure();
  if (emit == "obj")
    return writeOutput(bytes);
  std::string file = folder + "/program.o";
  if (std::string message = braid::writeWholeFile(file, StringRef(bytes));
      !message.empty()) {
    error() << message << '\n';
    return failure();
  }
  codeTiming.stop();
  TimingScope linkTiming = timing.nest("Link");
  StringRef output = outputPath.getValue();
  if (output == "-")
    output = "/dev/stdout";
  return braid::linkSharedObject(file, output, runtimePath, loc);
}

/// True for `sm_` and a number, with a letter for chips of one architecture.
bool isChip(StringRef name) {
  unsigned number;
  return name.consume_front("sm_") && !name.consumeInteger(10, number) &&
         (name.empty() || name == "a" || name == "f");
}

/// Checks the values of the options.
bool checkOptions() {
  if (target != "host" && target != "cuda") {
    error() << "unknown target '" << target << "', expected 'host' or 'cuda'\n";
    return false;
  }
  for (const cl::Option *option :
       std::initializer_list<const cl::Option *>{&chip, &features, &cudaPath})
    if (target == "host" && option->getNumOccurrences() != 0) {
      error() << "--" << option->ArgStr
              << ": found the target host, expected --target=cuda, which "
                 "compiles for a GPU\n";
      return false;
    }
  if (!isChip(chip)) {
    error() << "unknown chip '" << chip
            << "', expected one such as 'sm_90' or 'sm_90a'\n";
    return false;
  }
  if (emit != "mlir" && emit != "llvm" && emit != "obj" && emit != "so") {
    error() << "unknown output '--emit=" << emit
            << "', expected 'mlir', 'llvm', 'obj' or 'so'\n";
    return false;
  }
  if (optimizationLevel > 3) {
    error() << "unknown optimization level " << optimizationLevel
            << ", expected 0, 1, 2 or 3\n";
    return false;
  }
  if (!runtimeLibrary.empty() && !llvm::sys::fs::exists(runtimeLibrary)) {
    error() << "cannot find the runtime library '" << runtimeLibrary << "'\n";
    return false;
  }
  if (!outputPath.empty())
    return true;
  if (emit == "mlir" || emit == "llvm") {
    outputPath = "-";
    return true;
  }
  if (inputPath == "-") {
    error() << "no output, expected '-o <file>' for a program from standard "
               "input\n";
    return false;
  }
  SmallString<256> path(inputPath);
  llvm::sys::path::replace_extension(path, emit == "so" ? "so" : "o");
  outputPath = path.str().str();
  return true;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  braid::cleanUpOnSignals();
  // A file that becomes too large is an error with the name of the file.
  std::signal(SIGXFSZ, SIG_IGN);
  DialectRegistry registry;
  registerAllPasses();
  braid::registerAllDialects(registry);
  braid::registerAllPasses();
  braid::registerAllOptions();

  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  cl::HideUnrelatedOptions({&fileCategory, &passCategory, &checkCategory,
                            &codeCategory, &cudaCategory});
  if (!cl::ParseCommandLineOptions(argc, argv,
                                   "Compiles a program for Braid's runtime\n",
                                   &llvm::errs()))
    return usageStatus;
  if (!checkOptions())
    return usageStatus;

  if (std::string kind = braid::describeForeignSource(inputPath);
      !kind.empty()) {
    error() << inputPath << ": found " << kind
            << ", expected MLIR as text or bytecode\n";
    return failedStatus;
  }
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(inputPath, &message);
  if (!input) {
    error() << message << '\n';
    return usageStatus;
  }

  // ptxas and the linker end with this process, and what they write goes.
  std::optional<braid::CleanUp> cleanUp;
  std::optional<braid::TemporaryFolder> folder;
  if (emit == "so" || target == "cuda") {
    cleanUp.emplace();
    folder.emplace("braid-compile");
    if (!folder->getError().empty()) {
      error() << folder->getError() << '\n';
      return failedStatus;
    }
    setenv("TMPDIR", folder->getPath().c_str(), /*overwrite=*/1);
  }

  DefaultTimingManager timingManager;
  applyDefaultTimingManagerCLOptions(timingManager);
  TimingScope timing = timingManager.getRootScope();

  MLIRContext context(registry);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(input), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  TimingScope parseTiming = timing.nest("Parse");
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  parseTiming.stop();
  if (!module)
    return failedStatus;

  TimingScope passTiming = timing.nest("Passes");
  for (auto *build : {buildSchedulePipeline, buildLoweringPipeline})
    if (ExitStatus status = runPipeline(*module, passTiming, build))
      return status;
  passTiming.stop();

  std::string runtimePath = runtimeLibrary.empty() ? findRuntimeLibrary(argv[0])
                                                   : runtimeLibrary.getValue();
  LogicalResult result =
      generate(*module, runtimePath, folder ? folder->getPath() : "", timing);
  return failed(result) ? failedStatus : succeededStatus;
}
