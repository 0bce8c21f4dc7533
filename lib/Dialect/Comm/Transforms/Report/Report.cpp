//===- Report.cpp - Timeline and exposed communication --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Schedule/SchedulingPass.h"

#include "Support/JsonFile.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Report/Report.h"
#include "braid/Support/OutputFile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMREPORTPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace mlir;

/// Parses `pipeline`, a list of passes or a `builtin.module(...)`, into
/// `passManager`, which runs on modules. Messages go to `errors`.
static LogicalResult parsePipeline(StringRef pipeline,
                                   OpPassManager &passManager,
                                   llvm::raw_ostream &errors) {
  StringRef passes = pipeline.trim();
  if (passes.consume_front("builtin.module(") && !passes.consume_back(")")) {
    errors << "expected ')' at the end";
    return failure();
  }
  return parsePassPipeline(passes, passManager, errors);
}

using Printer = void (*)(const Report &, llvm::raw_ostream &);

/// The function that writes reports in `format`.
static Printer getPrinter(comm::ReportFormat format) {
  switch (format) {
  case comm::ReportFormat::Text:
    return printText;
  case comm::ReportFormat::Json:
    return printJson;
  case comm::ReportFormat::Trace:
    return printTrace;
  case comm::ReportFormat::Html:
    return printHtml;
  }
  llvm_unreachable("unknown format of reports");
}

namespace {
struct CommReportPass : comm::impl::CommReportPassBase<CommReportPass> {
  using CommReportPassBase::CommReportPassBase;

  /// The passes of option `passes` run in a nested pass manager. Their dialects
  /// have to be loaded before this pass runs.
  void getDependentDialects(DialectRegistry &registry) const override {
    CommReportPassBase::getDependentDialects(registry);
    OpPassManager passManager(ModuleOp::getOperationName(),
                              OpPassManager::Nesting::Implicit);
    if (succeeded(parsePipeline(passes, passManager, llvm::nulls())))
      passManager.getDependentDialects(registry);
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    ModuleOp module = getOperation();
    FailureOr<std::optional<int64_t>> limit =
        comm::resolveMaxMemory(module, maxMemory);
    if (failed(limit))
      return signalPassFailure();
    CostSettings settings = {
        machine,     comm::getCollectiveModel(collectiveModel),
        linkLatency, linkBandwidth,
        ranks,       ranksPerNode,
        dynamicSize, profile,
        cudaGraph,   nullptr};
    FailureOr<CostOptions> options = resolveCostOptions(module, settings);
    if (failed(options))
      return signalPassFailure();

    Report report;
    report.machine = options->hardware->name;
    report.ranks = options->ranks.value_or(options->hardware->ranksPerNode);
    report.dynamicSize = options->sizes.dynamicSize;
    if (options->hardware->memoryBytes > 0)
      report.deviceMemory = options->hardware->memoryBytes;
    report.maxMemory = *limit;
    report.passes = passes;
    if (failed(fillReport(module, settings, *options, report)) ||
        failed(compare(report)) || failed(write(report)) ||
        failed(writeProfile(report)))
      signalPassFailure();
  }

private:
  /// Reports `module` as it stands, or before and after the passes.
  LogicalResult fillReport(ModuleOp module, const CostSettings &settings,
                           const CostOptions &options, Report &report) {
    auto reportCosts = [&](ModuleOp program) {
      CostModel model(options);
      report.collectiveModel = model.getCollectiveModel(1).getName().str();
      return reportProgram(program, model, report.getMemoryLimit());
    };
    if (passes.empty()) {
      report.after = reportCosts(module);
      report.reorderedSums = listReorderedSums(module);
      return success();
    }

    // The marks of the report go to a copy.
    OwningOpRef<ModuleOp> clone(module.clone());
    numberStarts(*clone);
    // A report among the passes of a report passes on the outer defaults.
    setCostDefaults(*clone, applyCostDefaults(module, settings));
    if (report.maxMemory)
      comm::setMaxMemoryDefault(*clone, *report.maxMemory);
    report.before = reportCosts(*clone);
    PassManager passManager(module.getContext(), ModuleOp::getOperationName(),
                            OpPassManager::Nesting::Implicit);
    std::string message;
    llvm::raw_string_ostream errors(message);
    if (failed(parsePipeline(passes, passManager, errors)))
      return emitError(module.getLoc())
             << "invalid pipeline '" << passes
             << "' in option 'passes': " << StringRef(message).trim();
    if (failed(passManager.run(*clone)))
      return emitError(module.getLoc())
             << "passes '" << passes << "' of comm-report failed";
    report.after = reportCosts(*clone);
    report.reorderedSums = listReorderedSums(*clone);
    return success();
  }

  /// Compares the report with the run of option `trace`, if there is one.
  LogicalResult compare(Report &report) {
    if (trace.empty())
      return success();
    auto fail = [&](const Twine &message) {
      return emitError(getOperation().getLoc())
             << "cannot compare with the run of option 'trace': " << message;
    };
    llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> text =
        readRegularFile(trace);
    if (!text)
      return fail(trace + ": " + llvm::toString(text.takeError()));
    llvm::Expected<Comparison> comparison =
        compareWithTrace(report.after, (*text)->getBuffer());
    if (!comparison)
      return fail(trace + ": " + llvm::toString(comparison.takeError()));
    report.comparison = std::move(*comparison);
    return success();
  }

  /// Writes what option `measured-profile` asks for.
  LogicalResult writeProfile(const Report &report) {
    if (measuredProfile.empty())
      return success();
    if (!report.comparison)
      return emitError(getOperation().getLoc())
             << "found option 'measured-profile' without option 'trace', which "
                "names the measurement";
    return writeFile(
        measuredProfile, "measured-profile", [&](llvm::raw_ostream &os) {
          printMeasuredProfile(*report.comparison, report.machine, os);
        });
  }

  LogicalResult write(const Report &report) {
    Printer print = getPrinter(format);
    // Standard output is for the program.
    if (output == "-") {
      print(report, llvm::errs());
      return success();
    }
    return writeFile(output, "output",
                     [&](llvm::raw_ostream &os) { print(report, os); });
  }

  /// Writes the file of an option.
  LogicalResult writeFile(StringRef path, StringRef option,
                          llvm::function_ref<void(llvm::raw_ostream &)> print) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    print(stream);
    if (std::string error = writeWholeFile(path.str(), text); !error.empty())
      return emitError(getOperation().getLoc())
             << "option '" << option << "': " << error;
    return success();
  }
};
} // namespace
