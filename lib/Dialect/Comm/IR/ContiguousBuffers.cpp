//===- ContiguousBuffers.cpp - Buffers as libraries want them -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/ContiguousBuffers.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

FailureOr<Value>
braid::comm::getContiguous(RewriterBase &rewriter, Location loc, Value buffer,
                           const bufferization::BufferizationOptions &options,
                           bool copy) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || isContiguous(type))
    return buffer;
  auto packedType =
      MemRefType::get(type.getShape(), type.getElementType(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(rewriter, loc, buffer, dim));
  FailureOr<Value> packed =
      options.createAlloc(rewriter, loc, packedType, sizes);
  if (failed(packed) ||
      (copy && failed(options.createMemCpy(rewriter, loc, buffer, *packed))))
    return failure();
  return packed;
}
