//===- ExpandFloats.cpp - Lower arithmetic on small floats ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpandFloats.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"

using namespace mlir;

void braid::addExpandFloats(OpPassManager &pm) {
  // LLVM would lower math on small floats to calls of functions that no library
  // provides.
  math::MathExtendToSupportedTypesOptions mathOptions;
  mathOptions.targetTypeStr = "f32";
  pm.addPass(math::createMathExtendToSupportedTypes(mathOptions));
  // The C library has no reciprocal square root.
  math::MathExpandOpsPassOptions expandOptions;
  expandOptions.opMnemonics = {"rsqrt"};
  pm.addPass(math::createMathExpandOpsPass(expandOptions));
  arith::ArithEmulateUnsupportedFloatsOptions floatOptions;
  floatOptions.sourceTypeStrs = {"bf16", "f8E4M3FN", "f8E5M2"};
  floatOptions.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(floatOptions));
  pm.addPass(createExpandFloat8Pass());
}
