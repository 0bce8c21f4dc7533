//===- CompareDeallocations.cpp - Deallocations without lists -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompareDeallocations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace braid;

/// The comparisons are quadratic in the number of buffers.
static constexpr unsigned kMostBuffers = 24;

/// Frees each buffer whose condition is true, unless the buffer is retained or
/// an earlier operand has freed it. A retained buffer is owned if one of the
/// buffers with a true condition is the same.
static void lowerDeallocation(bufferization::DeallocOp dealloc) {
  ImplicitLocOpBuilder b(dealloc.getLoc(), dealloc);
  auto getAddresses = [&](ValueRange buffers) {
    SmallVector<Value> addresses;
    for (Value buffer : buffers)
      addresses.push_back(
          memref::ExtractAlignedPointerAsIndexOp::create(b, buffer));
    return addresses;
  };
  auto isSame = [&](Value first, Value second) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, first, second);
  };
  SmallVector<Value> addresses = getAddresses(dealloc.getMemrefs());
  SmallVector<Value> retained = getAddresses(dealloc.getRetained());
  OperandRange conditions = dealloc.getConditions();
  Value isFalse = arith::ConstantOp::create(b, b.getBoolAttr(false));
  Value isTrue = arith::ConstantOp::create(b, b.getBoolAttr(true));

  SmallVector<Value> isOwned(retained.size(), isFalse), isFreed;
  for (auto [index, address] : llvm::enumerate(addresses)) {
    Value isKept = isFalse;
    for (auto [owned, other] : llvm::zip_equal(isOwned, retained)) {
      Value same = isSame(address, other);
      isKept = arith::OrIOp::create(b, isKept, same);
      owned = arith::OrIOp::create(
          b, owned, arith::AndIOp::create(b, same, conditions[index]));
    }
    for (unsigned earlier = 0; earlier < index; ++earlier)
      isKept = arith::OrIOp::create(
          b, isKept,
          arith::AndIOp::create(b, isSame(address, addresses[earlier]),
                                conditions[earlier]));
    isFreed.push_back(arith::AndIOp::create(
        b, conditions[index], arith::XOrIOp::create(b, isKept, isTrue)));
  }
  for (auto [buffer, condition] :
       llvm::zip_equal(dealloc.getMemrefs(), isFreed)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(scf::IfOp::create(b, condition).thenBlock());
    memref::DeallocOp::create(b, buffer);
  }
  dealloc.replaceAllUsesWith(isOwned);
  dealloc.erase();
}

void braid::compareDeallocations(ModuleOp module) {
  SmallVector<bufferization::DeallocOp> deallocs;
  module.walk([&](bufferization::DeallocOp dealloc) {
    if (dealloc.getMemrefs().size() + dealloc.getRetained().size() <=
        kMostBuffers)
      deallocs.push_back(dealloc);
  });
  for (bufferization::DeallocOp dealloc : deallocs)
    lowerDeallocation(dealloc);
}
