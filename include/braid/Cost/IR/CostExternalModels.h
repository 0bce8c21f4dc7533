//===- CostExternalModels.h - Costs of other dialects' ops ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_COST_IR_COSTEXTERNALMODELS_H
#define BRAID_COST_IR_COSTEXTERNALMODELS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace braid {

/// Makes the ops of linalg, tensor, memref, arith and math, and `comm.compute`
/// with a region, implement `DefaultCostOpInterface`. A `CostOpInterface` on
/// such an op replaces the estimate, in whatever order the two are registered.
void registerCostExternalModels(mlir::DialectRegistry &registry);

/// The part of the above for linalg.
void registerLinalgCostModels(mlir::DialectRegistry &registry);

} // namespace braid

#endif // BRAID_COST_IR_COSTEXTERNALMODELS_H
