//===- MatmulAttributes.h - Attributes of matmuls ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Discardable attributes of matmuls. Programs and passes before scheduling set
// them; the lowering to library calls reads them.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_MATMULATTRIBUTES_H
#define BRAID_SUPPORT_MATMULATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace braid {

/// The attribute of matmuls that overwrite their result.
constexpr llvm::StringLiteral kOverwritesAttrName = "braid.overwrites";

/// The attribute of matmuls whose third input is a bias: a row that is added
/// to each row of the result.
constexpr llvm::StringLiteral kBiasAttrName = "braid.bias";

/// The function, "relu" or "gelu" (with tanh), that the library applies to the
/// result of a matmul before rounding.
constexpr llvm::StringLiteral kEpilogueAttrName = "braid.epilogue";

/// The attribute of matmuls of f32 that may run in another precision: "tf32"
/// lets the library of a GPU round each operand to 11 significant bits. A
/// matmul without the attribute multiplies in f32.
constexpr llvm::StringLiteral kPrecisionAttrName = "braid.precision";

} // namespace braid

#endif // BRAID_SUPPORT_MATMULATTRIBUTES_H
