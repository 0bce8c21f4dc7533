//===- MatmulAttributes.h - Attributes of matrix products -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Discardable attributes by which passes before scheduling tell the lowering to
// library calls what a product does besides.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_MATMULATTRIBUTES_H
#define BRAID_SUPPORT_MATMULATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace braid {

/// The attribute of products that overwrite their result.
constexpr llvm::StringLiteral kOverwritesAttrName = "braid.overwrites";

/// The attribute of products whose third input is a row from which the sums of
/// each row of the result start.
constexpr llvm::StringLiteral kBiasAttrName = "braid.bias";

/// The attribute of products that the library applies a function to, "relu" or
/// "gelu" (with tanh), before it rounds the result.
constexpr llvm::StringLiteral kEpilogueAttrName = "braid.epilogue";

} // namespace braid

#endif // BRAID_SUPPORT_MATMULATTRIBUTES_H
