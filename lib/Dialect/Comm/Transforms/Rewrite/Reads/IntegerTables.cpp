//===- IntegerTables.cpp - Elements of constants as ops on scalars --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseReads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace braid::comm;

/// The most elements of a constant that a chain of selects reads.
static constexpr int64_t kMostSelected = 16;

/// The difference of neighbours, in the order of memory, where all neighbours
/// have the same one: tables of partitioners have the offset of each rank.
static std::optional<APInt> getDifference(DenseIntElementsAttr table) {
  auto values = table.getValues<APInt>();
  APInt difference = table.isSplat() ? APInt::getZero(values[0].getBitWidth())
                                     : values[1] - values[0];
  APInt expected = values[0];
  for (const APInt &value : values) {
    if (value != expected)
      return std::nullopt;
    expected += difference;
  }
  return difference;
}

std::optional<uint64_t> braid::comm::countOpsOfTable(ElementsAttr attr) {
  auto table = dyn_cast<DenseIntElementsAttr>(attr);
  if (!table || table.empty())
    return std::nullopt;
  if (table.isSplat())
    return 1;
  uint64_t ofPlace = 3 * table.getType().getRank();
  if (getDifference(table))
    return ofPlace + 5;
  return table.getNumElements() <= kMostSelected
             ? ofPlace + 4 * table.getNumElements()
             : std::optional<uint64_t>();
}

Value braid::comm::readTable(DenseIntElementsAttr table, ArrayRef<Value> places,
                             ImplicitLocOpBuilder &b) {
  Type type = table.getElementType();
  auto values = table.getValues<APInt>();
  auto getConstant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  if (table.isSplat())
    return getConstant(values[0]);
  Value place = arith::ConstantIndexOp::create(b, 0);
  for (auto [index, size] : llvm::zip_equal(places, table.getType().getShape()))
    place = arith::AddIOp::create(
        b,
        arith::MulIOp::create(b, place,
                              arith::ConstantIndexOp::create(b, size)),
        index);
  if (std::optional<APInt> difference = getDifference(table)) {
    if (!type.isIndex())
      place = arith::IndexCastOp::create(b, type, place);
    return arith::AddIOp::create(
        b, getConstant(values[0]),
        arith::MulIOp::create(b, place, getConstant(*difference)));
  }
  Value element = getConstant(values[0]);
  for (int64_t number = 1; number < table.getNumElements(); ++number)
    element = arith::SelectOp::create(
        b,
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, place,
                              arith::ConstantIndexOp::create(b, number)),
        getConstant(values[number]), element);
  return element;
}
