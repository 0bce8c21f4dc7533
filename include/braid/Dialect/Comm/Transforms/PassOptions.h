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
#include "braid/Schedule/Search/SearchTypes.h"
#include "llvm/Support/CommandLine.h"

#include <optional>

namespace braid::comm {

/// How `comm-report` writes a report.
enum class ReportFormat { Text, Json, Trace, Svg, Html };

/// Which collectives `comm-schedule` lets run beside each other.
enum class LaneSharing {
  /// Those of different groups.
  Communicator,
  /// None.
  Shared
};

/// A model of collectives, or that of the hardware.
enum class CollectiveModelOption {
  Hardware,
  Nccl,
  Inductor,
  InductorNewest,
  Link
};

/// The values that the command line takes, with what each means.
llvm::cl::ValuesClass getReportFormatValues();
llvm::cl::ValuesClass getLaneSharingValues();
llvm::cl::ValuesClass getSearchEffortValues();
llvm::cl::ValuesClass getCollectiveModelValues();

/// The model that `option` names; none for that of the hardware.
std::optional<CollectiveModelKind>
getCollectiveModel(CollectiveModelOption option);

} // namespace braid::comm

#endif // BRAID_DIALECT_COMM_TRANSFORMS_PASSOPTIONS_H
