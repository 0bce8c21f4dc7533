//===- StructuralPass.h - Base of passes that replace ops ----- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_ANALYSIS_STRUCTURE_STRUCTURALPASS_H
#define BRAID_ANALYSIS_STRUCTURE_STRUCTURALPASS_H

#include "braid/Analysis/Structure/CommunicationRules.h"

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/LogicalResult.h"

#include <memory>

namespace braid {

class CommunicationSummary;

/// The summary of a program's communication as an analysis. The next structural
/// pass reuses that of the last one, unless another pass runs between them.
struct KnownCommunication {
  explicit KnownCommunication(mlir::Operation * /*root*/) {}
  /// Null if it is not known.
  std::shared_ptr<const CommunicationSummary> summary;
};

/// Runs `transform`, which changes the program below `root`, and validates its
/// result, if passes are validated. On entry `known` is taken as the summary of
/// `root` and is not recomputed; on success it is the summary of the result.
llvm::LogicalResult
runValidated(mlir::Operation *root, const CommunicationRules &rules,
             llvm::StringRef pass, KnownCommunication &known,
             llvm::function_ref<llvm::LogicalResult()> transform);

/// True if each pass checks its result from the program alone; by default they
/// do.
bool arePassesValidated();

/// Sets that for all passes of this process. Not while passes run.
void setPassesValidated(bool areValidated);

/// The base of a pass that creates, replaces or erases ops: `Base`, which
/// TableGen has made, with a check of the result. A pass that does not keep all
/// communication declares what it may do in `getRules`.
template <typename Base> class StructuralPass : public Base {
public:
  using Base::Base;

protected:
  /// Does the work of the pass. Fails after an error.
  virtual llvm::LogicalResult transform() = 0;
  virtual CommunicationRules getRules() const { return {}; }

private:
  void runOnOperation() final {
    auto &known = this->template getAnalysis<KnownCommunication>();
    if (llvm::failed(runValidated(this->getOperation(), getRules(),
                                  this->getArgument(), known,
                                  [&]() { return transform(); })))
      return this->signalPassFailure();
    if (arePassesValidated())
      this->template markAnalysesPreserved<KnownCommunication>();
  }
};

} // namespace braid

#endif // BRAID_ANALYSIS_STRUCTURE_STRUCTURALPASS_H
