//===- RecordNumerics.h - Sums in another order than as written -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_ENTRYPOINTS_RECORDNUMERICS_H
#define BRAID_LIB_CONVERSION_ENTRYPOINTS_RECORDNUMERICS_H

#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// A sum of `braid_rt.numerics` on a target.
struct RecordedSum {
  llvm::StringRef operation;
  std::string reason; ///< Empty: the target adds in the order as written.
  mlir::Location loc;
  int32_t kind;    ///< braid_rt_sum_kind
  int32_t members; ///< Of braid_rt_reordered_sum.
};

/// Reads one element of `braid_rt.numerics` for a target with resources to plan
/// (`isOnHost` false) or for the host, which has none, and a library for the
/// matmuls of some types only.
RecordedSum readNumerics(mlir::DictionaryAttr sum, bool isOnHost);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_ENTRYPOINTS_RECORDNUMERICS_H
