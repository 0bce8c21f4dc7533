//===- PassOptions.cpp - Enumerations in options of passes ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/Transforms/PassOptions.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/ErrorHandling.h"

using namespace braid;

llvm::cl::ValuesClass braid::comm::getReportFormatValues() {
  return llvm::cl::values(
      clEnumValN(ReportFormat::Text, "text", "lines to read"),
      clEnumValN(ReportFormat::Json, "json", "JSON"),
      clEnumValN(ReportFormat::Trace, "trace", "a trace for Perfetto"),
      clEnumValN(ReportFormat::Html, "html", "a page to zoom into"));
}

llvm::cl::ValuesClass braid::comm::getLaneSharingValues() {
  return llvm::cl::values(
      clEnumValN(LaneSharing::Communicator, "communicator",
                 "those of different groups"),
      clEnumValN(LaneSharing::Shared, "shared",
                 "none: all collectives run one after the other"));
}

llvm::cl::ValuesClass braid::comm::getPlannedOrdersValues() {
  return llvm::cl::values(
      clEnumValN(PlannedOrders::Program, "program", "the program's own"),
      clEnumValN(PlannedOrders::Search, "search",
                 "the one that a search finds together with the plan"));
}

llvm::cl::ValuesClass braid::comm::getSearchEffortValues() {
  return llvm::cl::values(
      clEnumValN(SearchEffort::Low, "low", "an eighth of the default's steps"),
      clEnumValN(SearchEffort::Default, "default",
                 "until twice the steps gain less than 0.1 percent"),
      clEnumValN(SearchEffort::High, "high", "all steps"));
}

llvm::cl::ValuesClass braid::comm::getCollectiveModelValues() {
  return llvm::cl::values(
      clEnumValN(CollectiveModelOption::Auto, "auto",
                 "nccl on GPUs, link elsewhere"),
      clEnumValN(CollectiveModelOption::Nccl, "nccl", "the tuner of NCCL 2.28"),
      clEnumValN(CollectiveModelOption::Inductor, "inductor",
                 "the formula of PyTorch 2.4"),
      clEnumValN(CollectiveModelOption::Link, "link",
                 "latency and bandwidth, as braid-run --link rehearses them"));
}

llvm::cl::ValuesClass braid::comm::getNumericsValues() {
  return llvm::cl::values(
      clEnumValN(Numerics::Exact, "exact", "all bits stay as they are"),
      clEnumValN(Numerics::SameTerms, "same-terms",
                 "sums may have another order of the same terms"),
      clEnumValN(Numerics::Reassociate, "reassociate",
                 "terms may also be added before they are sent"));
}

std::optional<CollectiveModelKind>
braid::comm::getCollectiveModel(CollectiveModelOption option) {
  switch (option) {
  case CollectiveModelOption::Auto:
    return std::nullopt;
  case CollectiveModelOption::Nccl:
    return CollectiveModelKind::Nccl;
  case CollectiveModelOption::Inductor:
    return CollectiveModelKind::Inductor;
  case CollectiveModelOption::Link:
    return CollectiveModelKind::Link;
  }
  llvm_unreachable("unknown model of collectives");
}

llvm::LogicalResult braid::comm::checkRanksOption(mlir::MLIRContext *context,
                                                  int64_t ranks) {
  if (ranks >= 0)
    return llvm::success();
  return mlir::emitError(mlir::UnknownLoc::get(context))
         << "invalid number " << ranks
         << " in option 'ranks', expected a number of at least 1, or 0 for the "
            "number that the program implies";
}

llvm::FailureOr<std::optional<double>>
braid::comm::parseMinGain(mlir::Location loc, llvm::StringRef text) {
  if (text == "auto")
    return std::optional<double>();
  double fraction;
  bool isPercentage = text.ends_with("%");
  if (!(isPercentage ? text.drop_back() : text).getAsDouble(fraction)) {
    if (isPercentage)
      fraction /= 100.0;
    // Who writes 0.5 or 1 means percent.
    if (fraction >= 0.0 && (isPercentage ? fraction <= 1.0 : fraction < 0.1))
      return std::optional(fraction);
  }
  return mlir::emitError(loc) << "invalid value '" << text
                              << "' of option 'min-gain', expected auto, a "
                                 "fraction below 0.1, such "
                                 "as 0.01, or a percentage, such as 1%";
}
