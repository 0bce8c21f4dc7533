//===- CommunicationSummary.h - What a program communicates ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_ANALYSIS_COMMUNICATIONSUMMARY_H
#define BRAID_ANALYSIS_COMMUNICATIONSUMMARY_H

#include "braid/Dialect/Comm/IR/Comm.h"

#include "llvm/ADT/SmallVector.h"

#include <array>
#include <optional>
#include <vector>

namespace braid {

/// What one start says, in attributes and types alone: it can be read after the
/// op is gone.
struct StartSummary {
  mlir::OperationName name;
  mlir::Location location;
  /// None for a kernel on a side stream, in which no other rank takes part.
  std::optional<comm::CollectiveKind> kind;
  mlir::FlatSymbolRefAttr group;
  std::optional<comm::ReductionKind> reduction;
  /// The dimension along which operands are joined or split, if the program
  /// gives it.
  std::optional<int64_t> splitDim;
  /// Root, peer, pairs and splits; null for a number that the program computes.
  llvm::SmallVector<mlir::Attribute, 2> arguments;
  /// `comm.lane`, `comm.ctas` and `comm.transport`.
  std::array<mlir::Attribute, 3> lane;
  /// The types of what the operation reads, and of what it gives or writes.
  llvm::SmallVector<mlir::Type, 1> sources, values;

  bool isPointToPoint() const {
    return kind == comm::CollectiveKind::send ||
           kind == comm::CollectiveKind::recv;
  }
};

/// A step of what a function communicates, in the order of its text.
struct CommunicationEvent {
  enum class Kind {
    start,
    wait,
    /// A call of a function that communicates.
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
  /// The numbers of the tokens that the op takes; ~0 for that of a later block.
  llvm::SmallVector<unsigned, 1> taken;
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
  std::vector<StartSummary> starts;
  std::vector<CommunicationEvent> events;
  /// The first tokens are the arguments of the function.
  unsigned numTokens = 0, numArguments = 0;
};

/// The communication of all functions that communicate below `root`, without
/// kernels. A pass takes it before it changes the program.
class CommunicationSummary {
public:
  explicit CommunicationSummary(mlir::Operation *root);

  llvm::ArrayRef<FunctionCommunication> getFunctions() const {
    return functions;
  }
  /// The accesses to buffers in flight, which are wrong already, by place.
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

} // namespace braid

#endif // BRAID_ANALYSIS_COMMUNICATIONSUMMARY_H
