//===- RooflineTest.cpp - Time of work on a machine -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/IR/Roofline.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "gtest/gtest.h"

#include <limits>

using namespace braid;
using namespace mlir;
using comm::Work;

namespace {
class Roofline : public ::testing::Test {
protected:
  MLIRContext context{MLIRContext::Threading::DISABLED};
  Builder builder{&context};
};
} // namespace

TEST_F(Roofline, ClassifiesElementTypes) {
  EXPECT_EQ(classifyElementType(builder.getF64Type()), ElementClass::F64);
  EXPECT_EQ(classifyElementType(builder.getF32Type()), ElementClass::F32);
  EXPECT_EQ(classifyElementType(builder.getF16Type()), ElementClass::F16);
  EXPECT_EQ(classifyElementType(builder.getBF16Type()), ElementClass::BF16);
  EXPECT_EQ(classifyElementType(Float8E4M3FNType::get(&context)),
            ElementClass::F8);
  EXPECT_EQ(classifyElementType(Float8E5M2Type::get(&context)),
            ElementClass::F8);
  EXPECT_EQ(classifyElementType(builder.getIntegerType(8)), ElementClass::I8);
  EXPECT_EQ(classifyElementType(builder.getI32Type()), ElementClass::Integer);
  EXPECT_EQ(classifyElementType(builder.getI1Type()), ElementClass::Integer);
  EXPECT_EQ(classifyElementType(builder.getIndexType()), ElementClass::Integer);
  EXPECT_EQ(classifyElementType(ComplexType::get(builder.getF64Type())),
            ElementClass::F64);
}

TEST_F(Roofline, TakesTheLongerOfComputeAndMemory) {
  const Hardware &ideal = *lookupHardware("ideal");
  Work work;
  EXPECT_EQ(estimateRooflineNs(work, ideal), 0.0);
  work.addOperations(builder.getF32Type(), 5000);
  EXPECT_DOUBLE_EQ(estimateRooflineNs(work, ideal), 5.0);
  work.addBytes(3000, 1000);
  EXPECT_DOUBLE_EQ(estimateRooflineNs(work, ideal), 5.0);
  work.addBytes(0, 3000);
  EXPECT_DOUBLE_EQ(estimateRooflineNs(work, ideal), 7.0);
}

TEST_F(Roofline, TF32IsHalfAsFastAsBF16) {
  auto getNs = [&](Type type, const char *hardware) {
    Work work;
    work.addOperations(type, uint64_t{1} << 40);
    return estimateRooflineNs(work, *lookupHardware(hardware));
  };
  Type tf32 = FloatTF32Type::get(&context), f32 = builder.getF32Type();
  EXPECT_DOUBLE_EQ(getNs(tf32, "h100x8"),
                   2 * getNs(builder.getBF16Type(), "h100x8"));
  EXPECT_LT(getNs(tf32, "h100x8"), getNs(f32, "h100x8"));
  for (const char *other : {"cpu", "ideal", "v100x8"})
    EXPECT_DOUBLE_EQ(getNs(tf32, other), getNs(f32, other));
}

TEST_F(Roofline, EveryElementTypeHasItsPeak) {
  const Hardware &h100 = *lookupHardware("h100x8");
  Work work;
  work.addOperations(builder.getBF16Type(), 989400000);
  EXPECT_DOUBLE_EQ(estimateRooflineNs(work, h100), 1000.0);
  // Operations of one type add up in one entry, those of another follow.
  work.addOperations(builder.getBF16Type(), 989400000);
  EXPECT_EQ(work.operations.size(), 1u);
  work.addOperations(builder.getF32Type(), 67000000);
  EXPECT_EQ(work.operations.size(), 2u);
  EXPECT_DOUBLE_EQ(estimateRooflineNs(work, h100), 3000.0);
}

// 2048 tiles of 128 x 256 are 16 waves on 132 multiprocessors, where 15.52
// would do; machines without multiprocessors know no waves.
TEST_F(Roofline, MatmulsTakeWholeWaves) {
  uint64_t operations = 2ull * 8192 * 8192 * 8192;
  Work work;
  work.addOperations(builder.getBF16Type(), operations);
  work.matmuls.push_back({builder.getBF16Type(), 8192, 8192, 1, operations});
  auto spread = static_cast<double>(operations);
  EXPECT_DOUBLE_EQ(estimateRooflineNs(work, *lookupHardware("h200x8")),
                   spread / 989.4e3 * (16 * 132 / 2048.0));
  EXPECT_DOUBLE_EQ(estimateRooflineNs(work, *lookupHardware("ideal")),
                   spread / 1e3);
  // Other operations beside the matmul are spread evenly.
  work.addOperations(builder.getF32Type(), 67000000);
  EXPECT_NEAR(estimateArithmetic(work, *lookupHardware("h200x8")).ns,
              spread / 989.4e3 * (16 * 132 / 2048.0) + 1000, 1e-3);
  // In a loop the matmul runs again and again.
  Work loop;
  loop.addOperationsOf(work, 10);
  EXPECT_NEAR(estimateArithmetic(loop, *lookupHardware("h200x8")).ns,
              10 * estimateArithmetic(work, *lookupHardware("h200x8")).ns,
              1e-2);
}

TEST_F(Roofline, WorkSaturates) {
  uint64_t most = std::numeric_limits<uint64_t>::max();
  Work work;
  work.addOperations(builder.getF32Type(), most);
  work.addOperations(builder.getF32Type(), 1);
  EXPECT_EQ(work.operations.front().count, most);
  work.addBytes(most, 1);
  EXPECT_EQ(work.getBytes(), most);
  Work sum;
  sum.addOperationsOf(work, 3);
  EXPECT_EQ(sum.operations.front().count, most);
  EXPECT_EQ(sum.getBytes(), 0u);
}

TEST_F(Roofline, RoundsToTheNearestButNeverWorkToNone) {
  EXPECT_EQ(roundToNs(0.0), 0);
  EXPECT_EQ(roundToNs(1e-9), 1);
  EXPECT_EQ(roundToNs(0.4), 1);
  EXPECT_EQ(roundToNs(1.4), 1);
  EXPECT_EQ(roundToNs(1.5), 2);
  EXPECT_EQ(roundToNs(1e30), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(roundToNs(std::numeric_limits<double>::quiet_NaN()), 0);
}

TEST_F(Roofline, SumsSaturate) {
  int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(addNs(2, 3), 5);
  EXPECT_EQ(addNs(most, 1), most);
  EXPECT_EQ(multiplyNs(2, 3), 6);
  EXPECT_EQ(multiplyNs(most, 2), most);
  EXPECT_EQ(multiplyNs(most, 0), 0);
}
