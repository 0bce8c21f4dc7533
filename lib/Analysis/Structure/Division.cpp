//===- Division.cpp - Operations that are divided into parts --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Division.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

/// The one dimension along which `part` is smaller than `whole`; none unless
/// both have static shapes that agree in all others.
static std::optional<int64_t> getSmallerDim(Type whole, Type part) {
  auto wholeType = dyn_cast<RankedTensorType>(whole),
       partType = dyn_cast<RankedTensorType>(part);
  if (!wholeType || !partType || !wholeType.hasStaticShape() ||
      !partType.hasStaticShape() ||
      wholeType.getElementType() != partType.getElementType() ||
      wholeType.getRank() != partType.getRank())
    return std::nullopt;
  std::optional<int64_t> smaller;
  for (int64_t dim = 0; dim != wholeType.getRank(); ++dim) {
    if (wholeType.getDimSize(dim) == partType.getDimSize(dim))
      continue;
    if (smaller || wholeType.getDimSize(dim) < partType.getDimSize(dim))
      return std::nullopt;
    smaller = dim;
  }
  return smaller;
}

std::optional<int64_t> braid::getDividedDim(const StartSummary &whole,
                                            const StartSummary &part,
                                            bool mayKeepParts) {
  if (!whole.kind || part.kind != whole.kind || part.group != whole.group ||
      part.lane != whole.lane || part.reduction != whole.reduction ||
      part.arguments != whole.arguments || whole.sources.size() != 1 ||
      part.sources.size() != 1 || whole.values.size() != 1 ||
      part.values.size() != 1)
    return std::nullopt;
  std::optional<int64_t> dim = getSmallerDim(whole.sources[0], part.sources[0]);
  // A gather of parts joins rows of each member.
  bool joins = whole.kind == comm::CollectiveKind::all_gather;
  // Members exchange parts along dimension 0.
  bool exchanges = whole.kind == comm::CollectiveKind::all_to_all;
  bool isMembers = (dim == whole.splitDim && !joins) || (exchanges && dim == 0);
  if (!dim || (isMembers && !mayKeepParts) ||
      dim != getSmallerDim(whole.values[0], part.values[0]))
    return std::nullopt;
  return dim;
}

int64_t braid::getTransferredSize(const StartSummary &start, int64_t dim) {
  return cast<RankedTensorType>(start.values[0]).getDimSize(dim);
}

namespace {
/// The positions of parts along one dimension of the whole value.
struct Parts {
  struct Part {
    int64_t begin, end;
  };
  SmallVector<Part> parts;

  /// Adds `slice`, whose result has `type`. False if its offsets or sizes are
  /// dynamic, or if it does not span the other dimensions of `whole`.
  bool add(OffsetSizeAndStrideOpInterface slice, RankedTensorType type,
           RankedTensorType whole, int64_t dim) {
    for (int64_t other = 0; other != whole.getRank(); ++other) {
      if (slice.isDynamicOffset(other) || slice.isDynamicSize(other) ||
          slice.getStaticSize(other) != type.getDimSize(other) ||
          (other != dim && (slice.getStaticOffset(other) != 0 ||
                            type.getDimSize(other) != whole.getDimSize(other))))
        return false;
      if (other == dim)
        parts.push_back({slice.getStaticOffset(dim),
                         slice.getStaticOffset(dim) + type.getDimSize(dim)});
    }
    return slice.hasUnitStride();
  }

  /// Describes the first gap or overlap of the parts; empty if there is none.
  std::string findGap(RankedTensorType whole, int64_t dim) {
    llvm::sort(parts, [](Part a, Part b) { return a.begin < b.begin; });
    int64_t end = 0;
    auto describe = [&](StringRef what, int64_t from, int64_t to) {
      return (what + " " + Twine(from) + " to " + Twine(to - 1) +
              " of dimension " + Twine(dim))
          .str();
    };
    for (Part part : parts) {
      if (part.begin > end)
        return describe("no part at", end, part.begin);
      if (part.begin < end)
        return describe("two parts at", part.begin, end);
      end = part.end;
    }
    if (end != whole.getDimSize(dim))
      return describe("no part at", end, whole.getDimSize(dim));
    return "";
  }
};
} // namespace

std::string braid::findGapOfOperands(ArrayRef<comm::WaitOp> waits, Type source,
                                     int64_t dim) {
  auto whole = cast<RankedTensorType>(source);
  Parts parts;
  Value last;
  for (comm::WaitOp wait : waits) {
    Value operand = wait.getStart().getSources()[0];
    // Slices that are not whole rows of memory are copied.
    if (auto copy = operand.getDefiningOp<linalg::CopyOp>())
      operand = copy.getInputs()[0];
    auto slice = operand.getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice || slice.getSourceType() != whole ||
        (last && slice.getSource() != last) ||
        !parts.add(slice, slice.getType(), whole, dim))
      return "a part that is not a slice of the operand";
    last = slice.getSource();
  }
  return parts.findGap(whole, dim);
}

std::string braid::findGap(ArrayRef<comm::WaitOp> waits, Type whole,
                           int64_t dim) {
  auto wholeType = cast<RankedTensorType>(whole);
  Parts parts;
  Value last;
  for (comm::WaitOp wait : waits) {
    Value value = wait.getValue();
    auto insertion = value && value.hasOneUse()
                         ? dyn_cast<tensor::InsertSliceOp>(*value.user_begin())
                         : tensor::InsertSliceOp();
    if (!insertion || insertion.getSource() != value ||
        insertion.getDestType() != wholeType || !insertion.hasUnitStride())
      return "a part that is not inserted into the whole";
    if (last && insertion.getDest() != last)
      return "a part that is not inserted beside the one before it";
    last = insertion.getResult();
    if (!parts.add(insertion, cast<RankedTensorType>(value.getType()),
                   wholeType, dim))
      return "a part whose place in the whole is not known";
  }
  return parts.findGap(wholeType, dim);
}
