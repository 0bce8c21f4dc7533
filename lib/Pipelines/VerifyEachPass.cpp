//===- VerifyEachPass.cpp - Programs checked after each pass --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Pipelines/VerifyEachPass.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

#include <memory>

using namespace braid;
using namespace mlir;

namespace {
/// What the instrumentation has seen. The last pass of the pipeline reads it.
struct Findings {
  bool hasStarted = false;
  bool isWrong = false;
};

/// Runs the verifier around the passes on the outermost module, where no other
/// thread works on the program.
class ProgramInstrumentation : public PassInstrumentation {
public:
  ProgramInstrumentation(const ProgramVerifierOptions &options,
                         std::shared_ptr<Findings> findings)
      : options(options), findings(std::move(findings)) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    auto module = getProgram(op);
    if (!module || findings->hasStarted)
      return;
    findings->hasStarted = true;
    if (failed(verifyProgram(module, options))) {
      findings->isWrong = true;
      module.emitError("the program is wrong before the first pass");
    }
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    auto module = getProgram(op);
    if (!module || findings->isWrong ||
        succeeded(verifyProgram(module, options)))
      return;
    findings->isWrong = true;
    std::string name;
    llvm::raw_string_ostream stream(name);
    pass->printAsTextualPipeline(stream);
    module.emitError("the program is wrong after the pass '")
        << name << "', and was right before";
  }

private:
  static ModuleOp getProgram(Operation *op) {
    return op->getParentOp() ? ModuleOp() : dyn_cast<ModuleOp>(op);
  }

  ProgramVerifierOptions options;
  std::shared_ptr<Findings> findings;
};

/// Fails if a program was wrong: an instrumentation cannot fail a pipeline.
struct FailOnFindingsPass : PassWrapper<FailOnFindingsPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FailOnFindingsPass)

  explicit FailOnFindingsPass(std::shared_ptr<Findings> findings)
      : findings(std::move(findings)) {}

  StringRef getArgument() const override { return "braid-fail-on-findings"; }

  void runOnOperation() override {
    if (findings->isWrong)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

  std::shared_ptr<Findings> findings;
};
} // namespace

LogicalResult braid::verifyProgramAfterEachPass(
    PassManager &pm, const ProgramVerifierOptions &options,
    llvm::function_ref<LogicalResult(PassManager &)> addPasses) {
  auto findings = std::make_shared<Findings>();
  pm.addInstrumentation(
      std::make_unique<ProgramInstrumentation>(options, findings));
  if (failed(addPasses(pm)))
    return failure();
  pm.addPass(std::make_unique<FailOnFindingsPass>(findings));
  return success();
}
