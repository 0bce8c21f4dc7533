//===- DeviceCopies.cpp - Contiguous copies as runtime calls --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/Buffers.h"

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

namespace braid {
#define GEN_PASS_DEF_CONVERTDEVICECOPIESTOBRAIDRTPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {

struct ConvertDeviceCopiesToBraidRTPass
    : public braid::StructuralPass<
          braid::impl::ConvertDeviceCopiesToBraidRTPassBase<
              ConvertDeviceCopiesToBraidRTPass>> {
  LogicalResult transform() override {
    auto isContiguous = [](Value buffer) {
      auto type = dyn_cast<MemRefType>(buffer.getType());
      return type && memref::isStaticShapeAndContiguousRowMajor(type) &&
             getRuntimeDtype(type.getElementType()) && getTotalBytes(type);
    };
    getOperation().walk([&](memref::CopyOp copy) {
      if (isContiguous(copy.getSource()) && isContiguous(copy.getTarget()))
        convert(copy);
    });
    return success();
  }

private:
  static void convert(memref::CopyOp copy) {
    OpBuilder builder(copy);
    Location loc = copy.getLoc();
    RuntimeCallBuilder calls(builder, copy);
    auto getAddress = [&](Value buffer) {
      auto metadata =
          memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
      return getElementAddress(builder, loc, buffer, metadata.getOffset(),
                               calls);
    };
    auto type = cast<MemRefType>(copy.getTarget().getType());
    Value target = getAddress(copy.getTarget());
    Value source = getAddress(copy.getSource());
    calls.call(
        "braid_rt_copy", Type(),
        {target, source, calls.getI64(*getTotalBytes(type)), calls.getSite()});
    copy.erase();
  }
};

} // namespace
