//===- Choices.cpp - Choices by numbers in memory -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Choices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace braid;

memref::LoadOp braid::findOnlyLoad(Value value) {
  auto load = value.getDefiningOp<memref::LoadOp>();
  return load && load->hasOneUse() && load.getMemRefType().getRank() == 0
             ? load
             : memref::LoadOp();
}

memref::LoadOp braid::findSelector(Operation *op) {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return findOnlyLoad(branch.getCondition());
  auto choice = dyn_cast<scf::IndexSwitchOp>(op);
  if (!choice)
    return {};
  for (auto [number, value] : llvm::enumerate(choice.getCases()))
    if (value != static_cast<int64_t>(number))
      return {};
  Value number = choice.getArg();
  if (auto cast = number.getDefiningOp<arith::IndexCastOp>();
      cast && cast->hasOneUse())
    number = cast.getIn();
  memref::LoadOp load = findOnlyLoad(number);
  if (!load)
    return {};
  Type type = load.getMemRefType().getElementType();
  return type.isIndex() || type.isSignlessInteger(32) ||
                 type.isSignlessInteger(64)
             ? load
             : memref::LoadOp();
}

SmallVector<Region *> braid::getCases(Operation *op) {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return {&branch.getElseRegion(), &branch.getThenRegion()};
  auto choice = cast<scf::IndexSwitchOp>(op);
  SmallVector<Region *> cases;
  for (Region &region : choice.getCaseRegions())
    cases.push_back(&region);
  cases.push_back(&choice.getDefaultRegion());
  return cases;
}

void braid::eraseChoice(Operation *op) {
  memref::LoadOp load = findSelector(op);
  Operation *cast = op->getOperand(0).getDefiningOp();
  op->erase();
  if (cast != load)
    cast->erase();
  load.erase();
}
