//===- IntegerTables.h - Elements of constants as ops on scalars -*- C++ -*-==//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_READS_INTEGERTABLES_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_READS_INTEGERTABLES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace braid::comm {

/// The number of ops that compute an element of `table` from its place; none if
/// the elements are no integers, or too many without a rule.
std::optional<uint64_t> countOpsOfTable(mlir::ElementsAttr table);

/// The element of `table`, which `countOpsOfTable` has ops for, at `places`.
mlir::Value readTable(mlir::DenseIntElementsAttr table,
                      mlir::ArrayRef<mlir::Value> places,
                      mlir::ImplicitLocOpBuilder &b);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_READS_INTEGERTABLES_H
