//===- OpSet.h - A set of the ops of a long block ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_VERIFICATION_OPSET_H
#define BRAID_LIB_ANALYSIS_VERIFICATION_OPSET_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <array>
#include <cstdint>
#include <vector>

namespace braid {

/// A set of ops: one bit for each address at which an op may be. The ops of a
/// block lie close to each other, so that the set of 100,000 ops takes a few
/// hundred KB, and ops that follow each other share a cache line of it.
class OpSet {
public:
  void insert(mlir::Operation *op) {
    Place place = getPlace(op);
    if (place.page != lastPage || pages.empty())
      findPage(place.page, /*isAdded=*/true);
    pages[lastIndex][place.word] |= place.bit;
  }

  bool contains(mlir::Operation *op) {
    Place place = getPlace(op);
    if ((place.page != lastPage || pages.empty()) &&
        !findPage(place.page, /*isAdded=*/false))
      return false;
    return (pages[lastIndex][place.word] & place.bit) != 0;
  }

private:
  static constexpr unsigned bytesOfBit = alignof(mlir::Operation);
  static constexpr unsigned wordsOfPage = 512;
  using Page = std::array<uint64_t, wordsOfPage>;
  struct Place {
    uintptr_t page;
    unsigned word;
    uint64_t bit;
  };

  static Place getPlace(mlir::Operation *op) {
    uintptr_t number = reinterpret_cast<uintptr_t>(op) / bytesOfBit;
    return {number / (64 * wordsOfPage),
            static_cast<unsigned>(number / 64 % wordsOfPage),
            uint64_t(1) << (number % 64)};
  }

  bool findPage(uintptr_t page, bool isAdded) {
    auto it = indices.find(page);
    if (it == indices.end()) {
      if (!isAdded)
        return false;
      it = indices.try_emplace(page, pages.size()).first;
      pages.emplace_back().fill(0);
    }
    lastPage = page;
    lastIndex = it->second;
    return true;
  }

  llvm::DenseMap<uintptr_t, unsigned> indices;
  std::vector<Page> pages;
  /// The page of the last op; ops that follow each other mostly share it.
  uintptr_t lastPage = 0;
  unsigned lastIndex = 0;
};

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_VERIFICATION_OPSET_H
