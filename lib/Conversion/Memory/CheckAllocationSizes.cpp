//===- CheckAllocationSizes.cpp - Sizes of buffers that wrap --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace braid {
#define GEN_PASS_DEF_CHECKALLOCATIONSIZESPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

/// The bytes of a buffer of `type` if its dynamic sizes are 1, saturated.
static uint64_t getStaticBytes(MemRefType type, const DataLayout &layout) {
  uint64_t bytes = layout.getTypeSize(type.getElementType());
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size))
      bytes = llvm::SaturatingMultiply(bytes, static_cast<uint64_t>(size));
  return bytes;
}

/// True if `sizes` are all dynamic sizes of one buffer that needs as many bytes
/// as one of `bytes` for sizes of 1.
static bool areOfOneBuffer(ValueRange sizes, uint64_t bytes,
                           const DataLayout &layout) {
  Value buffer;
  llvm::SmallDenseSet<int64_t> dims;
  for (Value size : sizes) {
    auto dim = size.getDefiningOp<memref::DimOp>();
    std::optional<int64_t> index =
        dim ? dim.getConstantIndex() : std::optional<int64_t>();
    if (!index || (buffer && dim.getSource() != buffer) ||
        !dims.insert(*index).second)
      return false;
    buffer = dim.getSource();
  }
  auto type =
      dyn_cast_if_present<MemRefType>(buffer ? buffer.getType() : Type());
  return type && type.getNumDynamicDims() == dims.size() &&
         bytes <= getStaticBytes(type, layout);
}

/// Asserts before `op`, which allocates a buffer of `type` and `sizes`, that
/// the bytes of the buffer are a number from 0 to 2^63 - 1.
static void check(Operation *op, MemRefType type, ValueRange sizes,
                  const DataLayout &layout) {
  uint64_t bytes = getStaticBytes(type, layout);
  if (bytes == 0 || areOfOneBuffer(sizes, bytes, layout))
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Type i64 = builder.getI64Type();
  auto constant = [&](uint64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, i64,
                                        static_cast<int64_t>(value));
  };
  // As numbers without a sign, negative sizes are too large.
  Value product, fits;
  auto require = [&](Value condition) {
    fits =
        fits ? arith::AndIOp::create(builder, loc, fits, condition) : condition;
  };
  for (Value size : sizes) {
    Value factor = arith::IndexCastOp::create(builder, loc, i64, size);
    if (!product) {
      product = factor;
      continue;
    }
    auto wide = arith::MulUIExtendedOp::create(builder, loc, product, factor);
    product = wide.getLow();
    require(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                  wide.getHigh(), constant(0)));
  }
  constexpr auto most =
      static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  require(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                product, constant(most / bytes)));
  std::string message;
  llvm::raw_string_ostream(message)
      << type << ": the sizes are negative or their product is too large";
  cf::AssertOp::create(builder, loc, fits, message);
}

namespace {
struct CheckAllocationSizesPass
    : public braid::StructuralPass<
          braid::impl::CheckAllocationSizesPassBase<CheckAllocationSizesPass>> {
  LogicalResult transform() override {
    DataLayout layout = DataLayout::closest(getOperation());
    getOperation().walk([&](Operation *op) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
        if (!alloc.getDynamicSizes().empty())
          check(op, alloc.getType(), alloc.getDynamicSizes(), layout);
      } else if (auto alloca = dyn_cast<memref::AllocaOp>(op)) {
        if (!alloca.getDynamicSizes().empty())
          check(op, alloca.getType(), alloca.getDynamicSizes(), layout);
      }
    });
    return success();
  }
};
} // namespace
