//===- StructuralPass.h - Base of passes that replace ops ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_ANALYSIS_STRUCTURALPASS_H
#define BRAID_ANALYSIS_STRUCTURALPASS_H

#include "braid/Analysis/CommunicationSummary.h"

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/LogicalResult.h"

namespace braid {

/// True if `after` is the same operation on the same data as `before`, be it on
/// tensors or on buffers.
bool isSameStart(const StartSummary &before, const StartSummary &after);

/// What a pass may do to the communication of a program. Without an entry of
/// its own a pass keeps all: the starts and what they transfer, their order,
/// the waits and their places among the starts, and where tokens go.
struct CommunicationRules {
  /// Whether the start `after` may stand for `before`, in its place. Both are
  /// of one group.
  bool (*mayReplace)(const StartSummary &before,
                     const StartSummary &after) = isSameStart;
  /// Whether a start may vanish together with its waits.
  bool (*mayErase)(const StartSummary &start) = nullptr;
  /// A start and its wait may become several of each, which divide the data
  /// along a dimension: without gap or overlap, in place of the whole.
  bool mayDivide = false;
  /// Starts may be added, each with one wait in its block.
  bool mayAdd = false;
  /// Waits may move up in their blocks, as far as no rank waits for another
  /// one because of it.
  bool mayRaiseWaits = false;
};

/// Checks from the program below `root` alone that what it communicates
/// follows from `before` by `rules`, and that no op accesses a buffer in flight
/// that did not do so before. Emits an error that names `pass`, and fails, at
/// the first difference.
llvm::LogicalResult validateCommunication(const CommunicationSummary &before,
                                          mlir::Operation *root,
                                          const CommunicationRules &rules,
                                          llvm::StringRef pass);

/// Runs `transform`, which changes the program below `root`, and validates what
/// it did, if passes are validated.
llvm::LogicalResult
runValidated(mlir::Operation *root, const CommunicationRules &rules,
             llvm::StringRef pass,
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
    if (llvm::failed(runValidated(this->getOperation(), getRules(),
                                  this->getArgument(),
                                  [&]() { return transform(); })))
      this->signalPassFailure();
  }
};

} // namespace braid

#endif // BRAID_ANALYSIS_STRUCTURALPASS_H
