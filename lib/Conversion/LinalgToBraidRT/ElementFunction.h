//===- ElementFunction.h - The function of an elementwise body --*- C++ -*-===//
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

/// Functions that a library applies to the elements of a matmul.
enum class ElementFunction { identity, relu, gelu };

/// The function f such that the body `body` of a linalg op yields f(x + b); `b`
/// may be null. Nothing if there is no such function, or if roundings in the
/// body hide it.
///
/// The match evaluates the body at sample points, without rounding, so the body
/// may express the function in any way. The body may contain only ops for which
/// equality at the sample points implies equality everywhere (relu: sums,
/// choices and zeros; gelu: sums, products, powers and tanh).
std::optional<ElementFunction> matchElementFunction(mlir::Block &body,
                                                    mlir::BlockArgument x,
                                                    mlir::BlockArgument b);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_ELEMENTFUNCTION_H
