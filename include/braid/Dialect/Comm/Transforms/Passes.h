//===- Passes.h - Passes of the comm dialect --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_TRANSFORMS_PASSES_H
#define BRAID_DIALECT_COMM_TRANSFORMS_PASSES_H

#include "braid/Dialect/Comm/Transforms/PassOptions.h"
#include "mlir/Pass/Pass.h"

namespace braid::comm {

#define GEN_PASS_DECL
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"

} // namespace braid::comm

#endif // BRAID_DIALECT_COMM_TRANSFORMS_PASSES_H
