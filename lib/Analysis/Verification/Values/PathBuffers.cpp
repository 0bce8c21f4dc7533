//===- PathBuffers.cpp - Pieces of buffers on one path --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PathBuffers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>
#include <vector>

using namespace braid;
using namespace mlir;

int64_t braid::multiplySaturating(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!llvm::MulOverflow(a, b, product))
    return product;
  return (a < 0) == (b < 0) ? std::numeric_limits<int64_t>::max()
                            : std::numeric_limits<int64_t>::min();
}

int64_t braid::addSaturating(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!llvm::AddOverflow(a, b, sum))
    return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min()
               : std::numeric_limits<int64_t>::max();
}

bool BufferBox::isEmpty() const {
  return llvm::any_of(dims, [](const Dim &dim) { return dim.size <= 0; });
}

bool BufferBox::isContiguous() const {
  int64_t expected = elementBytes;
  for (const Dim &dim : llvm::reverse(dims)) {
    if (dim.size == 1)
      continue;
    if (dim.stride != expected)
      return false;
    expected = multiplySaturating(expected, dim.size);
  }
  return true;
}

std::optional<int64_t> braid::getFixedElementBytes(Type type) {
  if (type.isIndex())
    return 8;
  if (type.isIntOrFloat())
    return (type.getIntOrFloatBitWidth() + 7) / 8;
  if (auto complex = dyn_cast<ComplexType>(type)) {
    std::optional<int64_t> part =
        getFixedElementBytes(complex.getElementType());
    return part ? std::optional<int64_t>(2 * *part) : std::nullopt;
  }
  return std::nullopt;
}

BufferBox braid::getRowMajorBox(ArrayRef<int64_t> sizes, int64_t elementBytes) {
  BufferBox box;
  box.elementBytes = elementBytes;
  box.dims.resize(sizes.size());
  int64_t stride = elementBytes;
  for (size_t i = sizes.size(); i-- != 0;) {
    box.dims[i] = {sizes[i], stride};
    stride = multiplySaturating(stride, sizes[i]);
  }
  return box;
}

/// The first byte of `box` and the byte after its last one.
static std::pair<int64_t, int64_t> getExtent(const BufferBox &box) {
  int64_t first = box.begin, last = box.begin;
  for (const BufferBox::Dim &dim : box.dims) {
    int64_t &end = dim.stride < 0 ? first : last;
    end = addSaturating(end, multiplySaturating(dim.size - 1, dim.stride));
  }
  return {first, addSaturating(last, box.elementBytes)};
}

namespace {
using Runs = std::vector<std::pair<int64_t, int64_t>>;
} // namespace

/// The runs of neighbouring bytes of `box`, ascending; none if there are many.
static std::optional<Runs> getRuns(const BufferBox &box) {
  constexpr size_t mostRuns = 1 << 16;
  // What the innermost dimensions have in one piece.
  int64_t length = box.elementBytes;
  size_t numOuter = box.dims.size();
  while (numOuter != 0 && (box.dims[numOuter - 1].size == 1 ||
                           box.dims[numOuter - 1].stride == length))
    length = multiplySaturating(length, box.dims[--numOuter].size);
  Runs runs = {{box.begin, addSaturating(box.begin, length)}};
  for (const BufferBox::Dim &dim : ArrayRef(box.dims).take_front(numOuter)) {
    if (static_cast<uint64_t>(dim.size) > mostRuns / runs.size())
      return std::nullopt;
    Runs more;
    for (auto [begin, end] : runs)
      for (int64_t i = 0; i != dim.size; ++i)
        more.emplace_back(
            addSaturating(begin, multiplySaturating(i, dim.stride)),
            addSaturating(end, multiplySaturating(i, dim.stride)));
    runs = std::move(more);
  }
  llvm::sort(runs);
  return runs;
}

static Overlap getOverlap(const BufferBox &a, const BufferBox &b) {
  if (a.isEmpty() || b.isEmpty())
    return Overlap::None;
  auto [beginA, endA] = getExtent(a);
  auto [beginB, endB] = getExtent(b);
  if (endA <= beginB || endB <= beginA)
    return Overlap::None;
  if (a.isContiguous() && b.isContiguous())
    return Overlap::Some;
  std::optional<Runs> runsA = getRuns(a), runsB = getRuns(b);
  if (!runsA || !runsB)
    return Overlap::Unknown;
  for (auto itA = runsA->begin(), itB = runsB->begin();
       itA != runsA->end() && itB != runsB->end();) {
    if (itA->second <= itB->first)
      ++itA;
    else if (itB->second <= itA->first)
      ++itB;
    else
      return Overlap::Some;
  }
  return Overlap::None;
}

/// True if all elements of `a` are elements of `b`, a piece of the same buffer.
static bool isKnownToCover(const PathBuffer &b, const PathBuffer &a) {
  if (b.isUnknownPart)
    return false;
  if (b.isWhole || a.id == b.id)
    return true;
  if (!a.box || !b.box || !b.box->isContiguous())
    return false;
  auto [beginA, endA] = getExtent(*a.box);
  auto [beginB, endB] = getExtent(*b.box);
  return beginB <= beginA && endA <= endB;
}

Overlap braid::getOverlap(const PathBuffer &a, const PathBuffer &b) {
  if (a.root != b.root)
    return Overlap::None;
  if ((a.box && a.box->isEmpty()) || (b.box && b.box->isEmpty()))
    return Overlap::None;
  if (isKnownToCover(a, b) || isKnownToCover(b, a))
    return Overlap::Some;
  Overlap overlap =
      a.box && b.box ? ::getOverlap(*a.box, *b.box) : Overlap::Unknown;
  return overlap == Overlap::Some && (a.isUnknownPart || b.isUnknownPart)
             ? Overlap::Unknown
             : overlap;
}
