//===- CollectiveKind.h - Kinds of collectives ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The enum of the dialect for code that includes no MLIR, such as cost models.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_COLLECTIVEKIND_H
#define BRAID_DIALECT_COMM_IR_COLLECTIVEKIND_H

#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <optional>
#include <string>

// The generated parser of the enum names it so.
namespace mlir {
using llvm::FailureOr;
} // namespace mlir

#include "braid/Dialect/Comm/IR/CollectiveKind.h.inc"

#endif // BRAID_DIALECT_COMM_IR_COLLECTIVEKIND_H
