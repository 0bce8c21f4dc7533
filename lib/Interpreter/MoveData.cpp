//===- MoveData.cpp - What collectives do to data -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace braid::interpreter;
using namespace mlir;

using Elements = std::vector<Attribute>;

/// `a` and `b` combined; null for what is not known.
static Attribute combine(comm::ReductionKind kind, Attribute a, Attribute b) {
  if (auto x = dyn_cast_if_present<FloatAttr>(a)) {
    APFloat left = x.getValue(), right = cast<FloatAttr>(b).getValue();
    switch (kind) {
    case comm::ReductionKind::sum:
      return FloatAttr::get(x.getType(), left + right);
    case comm::ReductionKind::product:
      return FloatAttr::get(x.getType(), left * right);
    case comm::ReductionKind::min:
      return FloatAttr::get(x.getType(), llvm::minimum(left, right));
    case comm::ReductionKind::max:
      return FloatAttr::get(x.getType(), llvm::maximum(left, right));
    default:
      return {};
    }
  }
  auto x = dyn_cast_if_present<IntegerAttr>(a);
  if (!x)
    return {};
  APInt left = x.getValue(), right = cast<IntegerAttr>(b).getValue();
  switch (kind) {
  case comm::ReductionKind::sum:
    return IntegerAttr::get(x.getType(), left + right);
  case comm::ReductionKind::product:
    return IntegerAttr::get(x.getType(), left * right);
  case comm::ReductionKind::min:
    return IntegerAttr::get(x.getType(), llvm::APIntOps::smin(left, right));
  case comm::ReductionKind::max:
    return IntegerAttr::get(x.getType(), llvm::APIntOps::smax(left, right));
  case comm::ReductionKind::band:
    return IntegerAttr::get(x.getType(), left & right);
  case comm::ReductionKind::bor:
    return IntegerAttr::get(x.getType(), left | right);
  case comm::ReductionKind::bxor:
    return IntegerAttr::get(x.getType(), left ^ right);
  default:
    return {};
  }
}

/// Part `part` of `numParts` of `whole` along dimension `dim`.
static Elements split(const Elements &whole, ArrayRef<int64_t> sizes,
                      int64_t dim, int64_t numParts, int64_t part) {
  int64_t inner = 1;
  for (int64_t size : sizes.drop_front(dim + 1))
    inner *= size;
  int64_t along = sizes[dim], length = along / numParts;
  Elements result;
  for (auto [index, element] : llvm::enumerate(whole))
    if (static_cast<int64_t>(index) / inner % along / length == part)
      result.push_back(element);
  return result;
}

/// `parts`, each with `sizes`, joined along dimension `dim`.
static Elements join(ArrayRef<Elements> parts, ArrayRef<int64_t> sizes,
                     int64_t dim) {
  int64_t outer = 1;
  for (int64_t size : sizes.take_front(dim))
    outer *= size;
  Elements result;
  for (int64_t i = 0; i != outer; ++i)
    for (const Elements &part : parts) {
      int64_t length = part.size() / outer;
      result.insert(result.end(), part.begin() + i * length,
                    part.begin() + (i + 1) * length);
    }
  return result;
}

static Attribute getZero(Attribute element) {
  return cast<Attribute>(Builder(element.getContext())
                             .getZeroAttr(cast<TypedAttr>(element).getType()));
}

bool braid::interpreter::moveData(ArrayRef<LaunchPtr> meeting, unsigned operand,
                                  std::vector<Elements> &destinations) {
  auto op = cast<comm::CollectiveOpInterface>(meeting.front()->op);
  size_t numMembers = meeting.size();
  destinations.assign(numMembers, {});
  if (meeting.front()->sources.empty())
    return op.getCollectiveTraits().flow == BRAID_RT_FLOW_NONE;
  std::vector<Elements> sources;
  for (const LaunchPtr &launch : meeting) {
    Elements elements;
    if (operand < launch->sources.size()) {
      const RuntimeValue &value = launch->sources[operand];
      for (int64_t i = 0, e = value.getNumElements(); i != e; ++i) {
        elements.push_back(value.memory->elements[value.getPosition(i)]);
        if (!elements.back())
          return false;
      }
    }
    sources.push_back(std::move(elements));
  }
  ArrayRef<int64_t> sizes = meeting.front()->sources[operand].sizes;
  int64_t root = op.getRootIndex().value_or(0), dim = op.getSplitDim();
  auto isMember = [&](int64_t index) {
    return index >= 0 && index < static_cast<int64_t>(numMembers);
  };
  bool splits = op.getCollectiveKind() == comm::CollectiveKind::all_to_all ||
                op.getCollectiveKind() == comm::CollectiveKind::scatter ||
                op.getCollectiveKind() == comm::CollectiveKind::reduce_scatter;
  bool joins = op.getCollectiveKind() == comm::CollectiveKind::all_gather ||
               op.getCollectiveKind() == comm::CollectiveKind::gather;
  if (!isMember(root) || llvm::is_contained(sizes, 0) ||
      ((splits || joins) && dim >= static_cast<int64_t>(sizes.size())) ||
      (splits && sizes[dim] % numMembers != 0))
    return false;
  switch (op.getCollectiveKind()) {
  case comm::CollectiveKind::all_reduce:
  case comm::CollectiveKind::reduce:
  case comm::CollectiveKind::reduce_scatter: {
    Elements reduced = sources.front();
    for (const Elements &source : ArrayRef(sources).drop_front())
      for (auto [into, element] : llvm::zip_equal(reduced, source))
        if (!(into = combine(*op.getReductionKind(), into, element)))
          return false;
    for (size_t member = 0; member != numMembers; ++member) {
      bool getsAll =
          op.getCollectiveKind() == comm::CollectiveKind::all_reduce ||
          static_cast<int64_t>(member) == root;
      if (op.getCollectiveKind() == comm::CollectiveKind::reduce_scatter)
        destinations[member] = split(reduced, sizes, dim, numMembers, member);
      else
        destinations[member] = getsAll ? reduced : sources[member];
    }
    return true;
  }
  case comm::CollectiveKind::broadcast:
    destinations.assign(numMembers, sources[root]);
    return true;
  case comm::CollectiveKind::all_gather:
    destinations.assign(numMembers, join(sources, sizes, dim));
    return true;
  case comm::CollectiveKind::gather: {
    Elements joined = join(sources, sizes, 0), zeros;
    for (Attribute element : joined)
      zeros.push_back(getZero(element));
    destinations.assign(numMembers, zeros);
    destinations[root] = joined;
    return true;
  }
  case comm::CollectiveKind::scatter:
    for (size_t member = 0; member != numMembers; ++member)
      destinations[member] = split(sources[root], sizes, 0, numMembers, member);
    return true;
  case comm::CollectiveKind::all_to_all:
    if (cast<comm::AllToAllOp>(meeting.front()->op).hasSplits())
      return false;
    for (size_t member = 0; member != numMembers; ++member)
      for (const Elements &source : sources)
        llvm::append_range(destinations[member],
                           split(source, sizes, 0, numMembers, member));
    return true;
  case comm::CollectiveKind::permute: {
    for (size_t member = 0; member != numMembers; ++member)
      for (Attribute element : sources[member])
        destinations[member].push_back(getZero(element));
    auto pairs = cast<comm::PermuteOp>(meeting.front()->op).getPairs();
    for (auto pair : pairs.getAsRange<DenseI64ArrayAttr>()) {
      if (!isMember(pair[0]) || !isMember(pair[1]))
        return false;
      destinations[pair[1]] = sources[pair[0]];
    }
    return true;
  }
  case comm::CollectiveKind::send:
    destinations[1] = sources[0];
    return true;
  default:
    return false;
  }
}
