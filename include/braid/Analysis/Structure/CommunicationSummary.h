//===- CommunicationSummary.h - What a program communicates --- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_ANALYSIS_STRUCTURE_COMMUNICATIONSUMMARY_H
#define BRAID_ANALYSIS_STRUCTURE_COMMUNICATIONSUMMARY_H

#include "braid/Analysis/Structure/CommunicationRules.h"

#include "llvm/Support/LogicalResult.h"

#include <deque>
#include <vector>

namespace braid {

/// A step of what a function communicates, in the order of its text.
struct CommunicationEvent {
  enum class Kind {
    start,
    wait,
    /// A call that takes or gives tokens, or of a function that communicates. A
    /// summary for a pass on a function has only the former.
    call,
    /// Another op that takes or gives tokens, such as a yield.
    carry,
    /// Region number `number` of an op begins, or ends.
    open,
    close,
    /// A further block of the region begins.
    block
  };

  Kind kind;
  mlir::OperationName name;
  mlir::Location location;
  /// Gone once the program changes.
  mlir::Operation *op;
  /// The number of the start or of the region.
  unsigned number = 0;
  /// The tokens that the op takes: their place in the list of the function.
  unsigned firstTaken = 0, numTaken = 0;
  /// The tokens that the op or region gives: their number, and that of the
  /// first one.
  unsigned firstGiven = 0, numGiven = 0;
  mlir::StringAttr callee;
};

/// The communication of one function, without what is computed.
struct FunctionCommunication {
  mlir::StringAttr name;
  mlir::Location location;
  mlir::Operation *op;
  /// A deque: references stay valid while starts are added.
  std::deque<StartSummary> starts;
  std::vector<CommunicationEvent> events;
  /// The tokens that events take; ~0 for one of a later block.
  std::vector<unsigned> takenTokens;
  /// The first tokens are the arguments of the function.
  unsigned numTokens = 0, numArguments = 0;
  /// The number of all arguments of the function.
  unsigned numInputs = 0;

  llvm::ArrayRef<unsigned> getTaken(const CommunicationEvent &event) const {
    return llvm::ArrayRef(takenTokens).slice(event.firstTaken, event.numTaken);
  }
  /// The token that a wait takes.
  unsigned getAwaited(const CommunicationEvent &wait) const {
    return takenTokens[wait.firstTaken];
  }
};

/// The communication of all functions that communicate below `root`, without
/// kernels. A pass takes it before it changes the program.
class CommunicationSummary {
public:
  explicit CommunicationSummary(mlir::Operation *root);

  llvm::ArrayRef<FunctionCommunication> getFunctions() const {
    return functions;
  }
  /// Where the program accesses buffers in flight: errors before any pass.
  llvm::ArrayRef<mlir::Location> getAccessesInFlight() const {
    return accessesInFlight;
  }
  /// True if an operation works on buffers.
  bool hasBuffers() const { return isOnBuffers; }

private:
  void dropSilentCalls();

  std::vector<FunctionCommunication> functions;
  std::vector<mlir::Location> accessesInFlight;
  bool isOnBuffers = false;
};

/// Checks from the program below `root` alone that what it communicates,
/// `after`, follows from `before` by `rules`, and that no op accesses a buffer
/// in flight that did not do so before. Emits an error that names `pass`, and
/// fails, at the first difference.
llvm::LogicalResult validateCommunication(const CommunicationSummary &before,
                                          const CommunicationSummary &after,
                                          mlir::Operation *root,
                                          const CommunicationRules &rules,
                                          llvm::StringRef pass);

} // namespace braid

#endif // BRAID_ANALYSIS_STRUCTURE_COMMUNICATIONSUMMARY_H
