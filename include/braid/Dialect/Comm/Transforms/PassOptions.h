//===- PassOptions.h - Enumerations in options of passes --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_TRANSFORMS_PASSOPTIONS_H
#define BRAID_DIALECT_COMM_TRANSFORMS_PASSOPTIONS_H

#include "braid/Cost/Hardware/Hardware.h"
#include "braid/Schedule/Search/SearchEffort.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/LogicalResult.h"

#include <optional>

namespace mlir {
class Location;
class MLIRContext;
} // namespace mlir

namespace braid::comm {

/// The formats of `comm-report`.
enum class ReportFormat { Text, Json, Trace, Html };

/// The collectives that run concurrently in `comm-schedule`.
enum class LaneSharing {
  /// Collectives of different groups.
  Communicator,
  /// No collectives.
  Shared
};

/// The orders for which `comm-plan-resources` plans.
enum class PlannedOrders {
  /// The program's own.
  Program,
  /// Those that a search finds with the plan.
  Search
};

/// A model of collectives, or the default of the machine.
enum class CollectiveModelOption { Auto, Nccl, Inductor, Link };

/// What a rewrite may do to sums of floats.
enum class Numerics {
  /// All bits stay as they are.
  Exact,
  /// The terms stay; a library may add them in another order.
  SameTerms,
  /// Terms may be added before they are sent.
  Reassociate
};

/// The values of the options on the command line, with their meaning.
llvm::cl::ValuesClass getReportFormatValues();
llvm::cl::ValuesClass getLaneSharingValues();
llvm::cl::ValuesClass getPlannedOrdersValues();
llvm::cl::ValuesClass getSearchEffortValues();
llvm::cl::ValuesClass getCollectiveModelValues();
llvm::cl::ValuesClass getNumericsValues();

/// The model that `option` names; none for the default of the machine.
std::optional<CollectiveModelKind>
getCollectiveModel(CollectiveModelOption option);

/// Checks the option `ranks` of the passes that follow a program on all ranks:
/// 0 stands for the number that the program implies. Emits an error about a
/// negative number.
llvm::LogicalResult checkRanksOption(mlir::MLIRContext *context, int64_t ranks);

/// The fraction in `text`, the value of the option `min-gain`: the least part
/// of the time that a change has to save. None for `auto`. Emits an error at
/// `loc` and fails if `text` is neither that nor a fraction below 0.1, such
/// as `0.01` or `1%`.
llvm::FailureOr<std::optional<double>> parseMinGain(mlir::Location loc,
                                                    llvm::StringRef text);

} // namespace braid::comm

#endif // BRAID_DIALECT_COMM_TRANSFORMS_PASSOPTIONS_H
