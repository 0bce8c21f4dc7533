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

/// As many zeros as `elements` has elements, of the same types.
static Elements getZeros(const Elements &elements) {
  Elements zeros;
  for (Attribute element : elements)
    zeros.push_back(Builder(element.getContext())
                        .getZeroAttr(cast<TypedAttr>(element).getType()));
  return zeros;
}

/// The elements of source number `operand` of each launch; none if one of them
/// is not known.
static std::optional<std::vector<Elements>>
readSources(ArrayRef<LaunchPtr> meeting, unsigned operand) {
  std::vector<Elements> sources;
  for (const LaunchPtr &launch : meeting) {
    Elements elements;
    if (operand < launch->sources.size()) {
      const RuntimeValue &value = launch->sources[operand];
      for (int64_t i = 0, e = value.getNumElements(); i != e; ++i) {
        elements.push_back(value.memory->elements[value.getPosition(i)]);
        if (!elements.back())
          return std::nullopt;
      }
    }
    sources.push_back(std::move(elements));
  }
  return sources;
}

/// `sources` combined one by one; none if a result is not known.
static std::optional<Elements> reduce(comm::ReductionKind kind,
                                      ArrayRef<Elements> sources) {
  Elements reduced = sources.front();
  for (const Elements &source : sources.drop_front())
    for (auto [into, element] : llvm::zip_equal(reduced, source))
      if (!(into = combine(kind, into, element)))
        return std::nullopt;
  return reduced;
}

/// Sources of `pairs` send all to their targets; other members get zeros.
static bool permute(ArrayAttr pairs, ArrayRef<Elements> sources,
                    std::vector<Elements> &destinations) {
  int64_t numMembers = sources.size();
  for (auto [source, destination] : llvm::zip_equal(sources, destinations))
    destination = getZeros(source);
  for (auto pair : pairs.getAsRange<DenseI64ArrayAttr>()) {
    for (int64_t member : pair.asArrayRef())
      if (member < 0 || member >= numMembers)
        return false;
    destinations[pair[1]] = sources[pair[0]];
  }
  return true;
}

bool braid::interpreter::moveData(ArrayRef<LaunchPtr> meeting, unsigned operand,
                                  std::vector<Elements> &destinations) {
  auto op = cast<comm::CollectiveOpInterface>(meeting.front()->op);
  const comm::CollectiveTraits &traits = op.getCollectiveTraits();
  int64_t numMembers = meeting.size();
  destinations.assign(numMembers, {});
  if (meeting.front()->sources.empty())
    return traits.flow == BRAID_RT_FLOW_NONE;
  std::optional<std::vector<Elements>> read = readSources(meeting, operand);
  if (!read)
    return false;
  const std::vector<Elements> &sources = *read;
  ArrayRef<int64_t> sizes = meeting.front()->sources[operand].sizes;
  int64_t root = op.getRootIndex().value_or(0), dim = op.getSplitDim();
  bool splits = traits.shape == BRAID_RT_SHAPE_SPLIT ||
                traits.shape == BRAID_RT_SHAPE_PARTS;
  bool joins = traits.shape == BRAID_RT_SHAPE_JOIN;
  if (root < 0 || root >= numMembers || llvm::is_contained(sizes, 0) ||
      ((splits || joins) && dim >= static_cast<int64_t>(sizes.size())) ||
      (splits && sizes[dim] % numMembers != 0))
    return false;

  std::optional<Elements> moved;
  switch (traits.flow) {
  case BRAID_RT_FLOW_REDUCE:
    moved = reduce(*op.getReductionKind(), sources);
    break;
  case BRAID_RT_FLOW_GATHER:
    moved = join(sources, sizes, dim);
    break;
  case BRAID_RT_FLOW_FROM_ROOT:
    moved = sources[root];
    break;
  case BRAID_RT_FLOW_EXCHANGE:
    if (cast<comm::AllToAllOp>(op.getOperation()).hasSplits())
      return false;
    for (int64_t member = 0; member != numMembers; ++member)
      for (const Elements &source : sources)
        llvm::append_range(destinations[member],
                           split(source, sizes, dim, numMembers, member));
    return true;
  case BRAID_RT_FLOW_PAIRS:
    return permute(cast<comm::PermuteOp>(op.getOperation()).getPairs(), sources,
                   destinations);
  case BRAID_RT_FLOW_MESSAGE:
    destinations[1] = sources[0];
    return true;
  case BRAID_RT_FLOW_NONE:
    break;
  }
  if (!moved)
    return false;
  bool goesToRoot = traits.hasRoot && traits.flow != BRAID_RT_FLOW_FROM_ROOT;
  for (int64_t member = 0; member != numMembers; ++member) {
    if (goesToRoot && member != root)
      destinations[member] = joins ? getZeros(*moved) : sources[member];
    else
      destinations[member] =
          splits ? split(*moved, sizes, dim, numMembers, member) : *moved;
  }
  return true;
}
