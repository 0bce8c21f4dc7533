//===- TypeSize.cpp - Elements and bytes of types -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TypeSize.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace braid;
using namespace mlir;

uint64_t braid::getElementBytes(Type elementType,
                                const comm::SizeDefaults &sizes) {
  if (auto complexType = dyn_cast<ComplexType>(elementType))
    return 2 * getElementBytes(complexType.getElementType(), sizes);
  if (auto vectorType = dyn_cast<VectorType>(elementType))
    return llvm::SaturatingMultiply(
        static_cast<uint64_t>(vectorType.getNumElements()),
        getElementBytes(vectorType.getElementType(), sizes));
  if (elementType.isIntOrFloat())
    return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
  if (elementType.isIndex())
    return static_cast<uint64_t>(sizes.indexBytes);
  return 8; // pointers
}

uint64_t braid::getNumElements(Type type, int64_t dynamicSize) {
  auto shapedType = dyn_cast<ShapedType>(type);
  if (!shapedType || !shapedType.hasRank() || isa<VectorType>(type))
    return 0;
  uint64_t numElements = 1;
  for (int64_t size : shapedType.getShape())
    numElements = llvm::SaturatingMultiply(
        numElements, static_cast<uint64_t>(
                         ShapedType::isDynamic(size) ? dynamicSize : size));
  return numElements;
}

uint64_t braid::getTypeBytes(Type type, const comm::SizeDefaults &sizes) {
  uint64_t numElements = getNumElements(type, sizes.dynamicSize);
  if (numElements == 0)
    return 0;
  return llvm::SaturatingMultiply(
      numElements,
      getElementBytes(cast<ShapedType>(type).getElementType(), sizes));
}

uint64_t braid::getDistinctBytes(ValueRange values,
                                 const comm::SizeDefaults &sizes) {
  uint64_t bytes = 0;
  for (auto [index, value] : llvm::enumerate(values))
    if (!llvm::is_contained(values.take_front(index), value))
      bytes = llvm::SaturatingAdd(bytes, getTypeBytes(value.getType(), sizes));
  return bytes;
}
