//===- RuntimeDialects.h - Attributes of the lowering -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_CONVERSION_RUNTIMEDIALECTS_H
#define BRAID_CONVERSION_RUNTIMEDIALECTS_H

#include "mlir/IR/Dialect.h"

#include "braid/Conversion/BraidDialect.h.inc"
#include "braid/Conversion/BraidRTDialect.h.inc"

#endif // BRAID_CONVERSION_RUNTIMEDIALECTS_H
