//===- ElementFunction.h - What an elementwise body computes ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_ELEMENTFUNCTION_H
#define BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_ELEMENTFUNCTION_H

#include "mlir/IR/Block.h"
#include <optional>

namespace braid {

/// Functions that a library applies to the elements of a product.
enum class ElementFunction { identity, relu, gelu };

/// The function f for which `body`, of a linalg op, yields f(x + b); `b` is
/// null if there is none. Nothing if it is none of these, or if rounding alone
/// keeps it from being told.
///
/// The body may write the function in any way: it is evaluated at a number of
/// points, without rounding, and only if it is made of ops that cannot differ
/// elsewhere (relu: sums, choices and zeros; gelu: sums, products, powers and
/// tanh).
std::optional<ElementFunction> matchElementFunction(mlir::Block &body,
                                                    mlir::BlockArgument x,
                                                    mlir::BlockArgument b);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_ELEMENTFUNCTION_H
