//===- CheckCostSettings.h - Checks of cost options alone -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_COST_IR_CHECKCOSTSETTINGS_H
#define BRAID_COST_IR_CHECKCOSTSETTINGS_H

#include "mlir/IR/Location.h"
#include "llvm/Support/LogicalResult.h"

namespace braid {

struct CostSettings;

/// Checks what can be known of `settings` without a program: names of hardware,
/// files, units and ranges, and what contradicts each other. Passes call this
/// function when they begin, so that a wrong option is an error even if no op
/// asks for a cost. Emits an error at `loc` and fails if a setting is wrong.
llvm::LogicalResult checkCostSettings(mlir::Location loc,
                                      const CostSettings &settings);

} // namespace braid

#endif // BRAID_COST_IR_CHECKCOSTSETTINGS_H
