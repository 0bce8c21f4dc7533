//===- CommCostInterface.cpp - The work of an op --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/CommCostInterface.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/IR/CommSplitInterface.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace braid::comm;

void Work::addOperations(mlir::Type elementType, uint64_t count) {
  if (count == 0)
    return;
  auto *it = llvm::find_if(operations, [&](const Operations &entry) {
    return entry.elementType == elementType;
  });
  if (it == operations.end())
    operations.push_back({elementType, count});
  else
    it->count = llvm::SaturatingAdd(it->count, count);
}

void Work::addOperationsOf(const Work &other, uint64_t times) {
  for (const Operations &entry : other.operations)
    addOperations(entry.elementType,
                  llvm::SaturatingMultiply(entry.count, times));
  for (Matmul matmul : other.matmuls) {
    matmul.operations = llvm::SaturatingMultiply(matmul.operations, times);
    matmuls.push_back(matmul);
  }
}

void Work::addBytes(uint64_t read, uint64_t written) {
  bytesRead = llvm::SaturatingAdd(bytesRead, read);
  bytesWritten = llvm::SaturatingAdd(bytesWritten, written);
}

uint64_t Work::getBytes() const {
  return llvm::SaturatingAdd(bytesRead, bytesWritten);
}

#include "braid/Dialect/Comm/IR/CommCostInterface.cpp.inc"
#include "braid/Dialect/Comm/IR/CommSplitInterface.cpp.inc"

int64_t braid::comm::getMultiprocessorsAttr(mlir::Operation *op) {
  auto target = op->getAttrOfType<mlir::IntegerAttr>(
      CommDialect::kMultiprocessorsAttrName);
  return target ? target.getInt() : 0;
}

std::optional<Work> braid::comm::getKnownWork(mlir::Operation *op,
                                              const SizeDefaults &defaults) {
  if (auto own = llvm::dyn_cast<CostOpInterface>(op))
    return own.getWork(defaults);
  if (auto other = llvm::dyn_cast<DefaultCostOpInterface>(op))
    return other.getWork(defaults);
  return std::nullopt;
}
