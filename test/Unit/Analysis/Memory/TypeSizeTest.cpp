//===- TypeSizeTest.cpp - Elements and bytes of types ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/Memory/TypeSize.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "gtest/gtest.h"

#include <limits>

using namespace braid;
using namespace mlir;

TEST(TypeSize, CountsBytes) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  Builder builder(&context);
  comm::SizeDefaults sizes;
  auto bytes = [&](ArrayRef<int64_t> shape, Type type) {
    return getTypeBytes(RankedTensorType::get(shape, type), sizes);
  };
  EXPECT_EQ(bytes({3, 5}, builder.getF32Type()), 60u);
  EXPECT_EQ(bytes({3, 5}, builder.getI1Type()), 15u);
  EXPECT_EQ(bytes({3}, ComplexType::get(builder.getF32Type())), 24u);
  EXPECT_EQ(bytes({3}, builder.getIndexType()), 24u);
  EXPECT_EQ(bytes({}, builder.getF64Type()), 8u);
  EXPECT_EQ(bytes({0, 7}, builder.getF64Type()), 0u);
  EXPECT_EQ(bytes({ShapedType::kDynamic, 2}, builder.getF16Type()), 256u);
  EXPECT_EQ(getTypeBytes(MemRefType::get({4}, builder.getF32Type()), sizes),
            16u);
  EXPECT_EQ(getTypeBytes(builder.getF32Type(), sizes), 0u);
  EXPECT_EQ(getTypeBytes(UnrankedTensorType::get(builder.getF32Type()), sizes),
            0u);
  // Too many to count.
  int64_t many = int64_t{1} << 40;
  EXPECT_EQ(bytes({many, many}, builder.getF32Type()),
            std::numeric_limits<uint64_t>::max());
}

TEST(TypeSize, TakesTheBytesOfIndexFromTheSizes) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  Builder builder(&context);
  comm::SizeDefaults sizes;
  sizes.indexBytes = 4;
  EXPECT_EQ(getElementBytes(builder.getIndexType(), sizes), 4u);
  EXPECT_EQ(getElementBytes(builder.getI64Type(), sizes), 8u);
}
