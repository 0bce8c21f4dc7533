//===- structural-passes.cpp - Time of passes that replace ops ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Prints the processor time that structural passes take, in one thread, on one
// block of 1,000 and of 10,000 ops, and what the validation of the result adds
// to it, measured by itself, because two runs of a pass differ by more: by
// itself and behind another structural pass, whose summary it shares. Best of
// ten runs, or three. `structural-passes [--quick] [bufferize]` measures the
// passes alone whose names contain the text.
//
//===----------------------------------------------------------------------===//

#include "Figures.h"
#include "braid/Analysis/Structure/CommunicationSummary.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/InitAll.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <ctime>
#include <optional>
#include <string>

using namespace braid;
using namespace mlir;

namespace {

/// The program that a pass gets: layers of eight ops each.
enum class Program { matmuls, elementwise, kernels, bits };

struct PassCase {
  const char *name;
  Program program;
  /// Runs before, unmeasured.
  const char *before;
  const char *pipeline;
};

/// The passes up to the memory plan.
constexpr char toLinalg[] = "convert-elementwise-to-linalg";
constexpr char toBuffers[] =
    "convert-elementwise-to-linalg,comm-bufferize,braid-prepare-entries";

const PassCase passCases[] = {
    {"comm-fuse-elementwise", Program::elementwise, "",
     "func.func(comm-fuse-elementwise)"},
    {"comm-legalize-for-nccl", Program::bits, "",
     "func.func(comm-legalize-for-nccl)"},
    {"comm-pipeline-matmul{chunks=2}", Program::matmuls, "",
     "comm-pipeline-matmul{chunks=2}"},
    {"comm-inline-compute", Program::kernels, "",
     "func.func(comm-inline-compute)"},
    {"comm-bufferize", Program::matmuls, toLinalg, "comm-bufferize"},
    {"braid-mark-overwriting-matmuls", Program::matmuls, "",
     "func.func(braid-mark-overwriting-matmuls)"},
    {"braid-fold-splats", Program::matmuls, "", "func.func(braid-fold-splats)"},
    {"braid-prepare-entries", Program::matmuls,
     "convert-elementwise-to-linalg,comm-bufferize", "braid-prepare-entries"},
    {"braid-split-reductions", Program::matmuls, toBuffers,
     "func.func(braid-split-reductions)"},
    {"braid-plan-memory", Program::matmuls, toBuffers, "braid-plan-memory"},
    {"braid-deallocate-buffers", Program::matmuls, toBuffers,
     "braid-deallocate-buffers"},
    {"convert-linalg-to-braid-rt", Program::matmuls, toBuffers,
     "convert-linalg-to-braid-rt"},
    {"braid-outline-kernels", Program::matmuls, toBuffers,
     "braid-outline-kernels"},
    {"convert-linalg-to-gpu", Program::matmuls, toBuffers,
     "convert-linalg-to-gpu"},
};

/// The ops of layer `number`, which computes %v`number + 1`.
std::string getLayer(Program program, unsigned number) {
  std::string source = "%v" + std::to_string(number),
              result = "%v" + std::to_string(number + 1),
              n = std::to_string(number);
  StringRef type =
      program == Program::bits ? "tensor<64x64xi32>" : "tensor<64x64xf32>";
  StringRef reduction = program == Program::bits ? "bor" : "sum";
  std::string compute;
  switch (program) {
  case Program::matmuls:
    compute = llvm::formatv(
        "%z{0} = tensor.empty() : {1}\n"
        "%f{0} = linalg.fill ins(%zero : f32) outs(%z{0} : {1}) -> {1}\n"
        "%c{0} = linalg.matmul ins({2}, %w : {1}, {1}) outs(%f{0} : {1}) -> "
        "{1}\n"
        "%y{0} = linalg.matmul ins(%w, %w : {1}, {1}) outs(%f{0} : {1}) -> "
        "{1}\n",
        n, type, source);
    break;
  case Program::elementwise:
    compute = llvm::formatv("%a{0} = math.exp {2} : {1}\n"
                            "%c{0} = math.absf %a{0} : {1}\n"
                            "%b{0} = math.exp %w : {1}\n"
                            "%y{0} = math.absf %b{0} : {1}\n",
                            n, type, source);
    break;
  case Program::kernels:
    compute =
        llvm::formatv("%c{0} = comm.compute \"f\"(%p = {2} : {1}) -> {1} {{\n"
                      "%q = math.exp %p : {1}\ncomm.yield %q : {1}\n}\n"
                      "%y{0} = comm.compute \"g\"(%p = %w : {1}) -> {1} {{\n"
                      "%q = math.exp %p : {1}\ncomm.yield %q : {1}\n}\n",
                      n, type, source);
    break;
  case Program::bits:
    compute = llvm::formatv("%a{0} = arith.addi {2}, %w : {1}\n"
                            "%c{0} = arith.muli %a{0}, %w : {1}\n"
                            "%b{0} = arith.addi %w, %w : {1}\n"
                            "%y{0} = arith.muli %b{0}, %w : {1}\n",
                            n, type, source);
    break;
  }
  return compute +
         llvm::formatv("%t{0} = comm.all_reduce {2} %c{0} on @g : {1}\n"
                       "%r{0} = comm.wait %t{0} : !comm.token<{1}>\n"
                       "{3} = arith.{4} %r{0}, %y{0} : {1}\n",
                       n, type, reduction, result,
                       program == Program::bits ? "addi" : "addf")
             .str();
}

OwningOpRef<ModuleOp> build(MLIRContext &context, Program program,
                            unsigned numOps) {
  constexpr unsigned opsOfLayer = 7;
  StringRef type =
      program == Program::bits ? "tensor<64x64xi32>" : "tensor<64x64xf32>";
  std::string text = llvm::formatv(
      "comm.group @g [[0, 1]]\nfunc.func @main(%v0: {0}, %w: {0}) -> {0} {{\n"
      "%zero = arith.constant 0.0 : f32\n",
      type);
  unsigned numLayers = numOps / opsOfLayer;
  for (unsigned number = 0; number != numLayers; ++number)
    text += getLayer(program, number);
  text += llvm::formatv("return %v{0} : {1}\n}\n", numLayers, type);
  return parseSourceString<ModuleOp>(text, &context);
}

LogicalResult run(ModuleOp module, const char *pipeline) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  if (failed(parsePassPipeline(pipeline, passes)))
    return failure();
  return passes.run(module);
}

double getSeconds(llvm::function_ref<void()> work) {
  std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// What any of the passes may do; the rules of each are private to it.
CommunicationRules getRules() {
  CommunicationRules rules;
  rules.mayReplace = [](const StartSummary &before, const StartSummary &after) {
    return isSameStart(before, after) ||
           before.reduction == comm::ReductionKind::bor;
  };
  rules.mayDivide = true;
  return rules;
}

struct Figures {
  double pass = 1e9;
  /// Of a pass by itself, and of one behind another structural pass, whose
  /// summary it shares.
  double validation = 1e9, shared = 1e9;
};

std::optional<Figures> measure(MLIRContext &context, const PassCase &passCase,
                               unsigned numOps, unsigned numRounds) {
  OwningOpRef<ModuleOp> input = build(context, passCase.program, numOps);
  if (!input || failed(run(*input, passCase.before)))
    return std::nullopt;
  Figures figures;
  for (unsigned round = 0; round != numRounds; ++round) {
    OwningOpRef<ModuleOp> module = input->clone();
    std::optional<CommunicationSummary> before;
    double summary = getSeconds([&]() { before.emplace(*module); });
    bool hasFailed = false;
    setPassesValidated(false);
    figures.pass = std::min(figures.pass, getSeconds([&]() {
                              hasFailed =
                                  failed(run(*module, passCase.pipeline));
                            }));
    if (hasFailed)
      return std::nullopt;
    double result = getSeconds([&]() {
      hasFailed =
          failed(validateCommunication(*before, CommunicationSummary(*module),
                                       *module, getRules(), passCase.name));
    });
    if (hasFailed)
      return std::nullopt;
    figures.validation = std::min(figures.validation, summary + result);
    figures.shared = std::min(figures.shared, result);
  }
  return figures;
}

} // namespace

int main(int argc, char **argv) {
  bool isQuick = argc > 1 && StringRef(argv[1]) == "--quick";
  unsigned numRounds = isQuick ? 3 : 10;
  // Only passes whose names contain the text are measured.
  StringRef filter = argc > 1 + isQuick ? argv[1 + isQuick] : "";
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  braid::registerAllDialects(registry);
  braid::registerAllPasses();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();

  llvm::outs() << llvm::formatv("{0,-36}", "");
  for (const char *size : {"1,000 ops", "10,000 ops"})
    llvm::outs() << llvm::formatv("{0,12}{1,12}{2,8}{3,12}{4,8}", size,
                                  "validation", "", "shared", "");
  llvm::outs() << '\n';
  for (const PassCase &passCase : passCases) {
    if (!StringRef(passCase.name).contains(filter))
      continue;
    std::optional<Figures> small = measure(context, passCase, 1000, numRounds),
                           large = measure(context, passCase, 10000, numRounds);
    if (!small || !large) {
      llvm::errs() << passCase.name << " failed\n";
      return 1;
    }
    llvm::outs() << llvm::formatv("{0,-36}", passCase.name);
    test::recordFigure(passCase.name, large->pass * 1e3, "ms");
    test::recordFigure(std::string(passCase.name) + ", validation",
                       large->validation * 1e3, "ms");
    for (const Figures &figures : {*small, *large})
      llvm::outs() << llvm::formatv(
          "{0,9:f3} ms{1,9:f3} ms{2,6:f1} %{3,9:f3} ms{4,6:f1} %",
          figures.pass * 1e3, figures.validation * 1e3,
          100 * figures.validation / figures.pass, figures.shared * 1e3,
          100 * figures.shared / figures.pass);
    llvm::outs() << '\n';
  }
  return 0;
}
