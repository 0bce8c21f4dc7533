//===- EntryPoints.h - The attribute of entry points ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_SUPPORT_ENTRYPOINTS_H
#define BRAID_LIB_CONVERSION_SUPPORT_ENTRYPOINTS_H

#include "mlir/IR/BuiltinAttributes.h"

namespace braid {

/// The attribute of functions that are entry points: an array with one
/// dictionary for each argument and then for each result. A dictionary has
/// `name`, `type` and `direction` ("in", "inout" or "out"). The unit attribute
/// `result` marks a value that the function returns instead of writing it to an
/// argument.
constexpr llvm::StringLiteral kEntryAttrName = "braid.entry";

} // namespace braid

#endif // BRAID_LIB_CONVERSION_SUPPORT_ENTRYPOINTS_H
