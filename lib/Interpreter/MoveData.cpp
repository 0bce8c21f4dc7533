//===- MoveData.cpp - What collectives do to data -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "braid/Support/ArrayParts.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace braid::interpreter;
using namespace mlir;

/// Calls `compute` with the parts of complex numbers, or with both numbers.
static Attribute
forParts(Attribute a, Attribute b,
         function_ref<Attribute(Attribute, Attribute)> compute) {
  auto x = dyn_cast_if_present<ArrayAttr>(a);
  auto y = dyn_cast_if_present<ArrayAttr>(b);
  if (!x || !y)
    return compute(a, b);
  Attribute real = compute(x[0], y[0]), imaginary = compute(x[1], y[1]);
  return real && imaginary ? ArrayAttr::get(x.getContext(), {real, imaginary})
                           : Attribute();
}

/// `a` and `b` combined; null for what is not known.
static Attribute combine(comm::ReductionKind kind, Attribute a, Attribute b) {
  if (auto x = dyn_cast_if_present<FloatAttr>(a)) {
    APFloat left = x.getValue(), right = cast<FloatAttr>(b).getValue();
    switch (kind) {
    case comm::ReductionKind::sum:
    case comm::ReductionKind::avg:
    case comm::ReductionKind::premul_sum:
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
  // Conditions are 0 and 1, other integers are signed.
  bool isCondition = left.getBitWidth() == 1;
  switch (kind) {
  case comm::ReductionKind::sum:
  case comm::ReductionKind::avg:
  case comm::ReductionKind::premul_sum:
    return IntegerAttr::get(x.getType(), left + right);
  case comm::ReductionKind::product:
    return IntegerAttr::get(x.getType(), left * right);
  case comm::ReductionKind::min:
    return IntegerAttr::get(x.getType(),
                            isCondition ? left & right
                                        : llvm::APIntOps::smin(left, right));
  case comm::ReductionKind::max:
    return IntegerAttr::get(x.getType(),
                            isCondition ? left | right
                                        : llvm::APIntOps::smax(left, right));
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

/// `a` times `b`.
static Attribute multiply(Attribute a, Attribute b) {
  auto x = dyn_cast_if_present<ArrayAttr>(a);
  auto y = dyn_cast_if_present<ArrayAttr>(b);
  if (!x || !y)
    return combine(comm::ReductionKind::product, a, b);
  auto part = [](Attribute attribute) {
    return cast<FloatAttr>(attribute).getValue();
  };
  Type type = cast<FloatAttr>(x[0]).getType();
  APFloat real = part(x[0]) * part(y[0]) - part(x[1]) * part(y[1]);
  APFloat imaginary = part(x[0]) * part(y[1]) + part(x[1]) * part(y[0]);
  return ArrayAttr::get(x.getContext(), {FloatAttr::get(type, real),
                                         FloatAttr::get(type, imaginary)});
}

/// The sum `sum` of `count` numbers divided by their number.
static Attribute average(Attribute sum, int64_t count) {
  if (auto pair = dyn_cast_if_present<ArrayAttr>(sum))
    return ArrayAttr::get(pair.getContext(),
                          {average(pair[0], count), average(pair[1], count)});
  if (auto number = dyn_cast_if_present<FloatAttr>(sum)) {
    APFloat divisor(number.getValue().getSemantics());
    divisor.convertFromAPInt(APInt(64, count), /*IsSigned=*/true,
                             APFloat::rmNearestTiesToEven);
    return FloatAttr::get(number.getType(), number.getValue() / divisor);
  }
  // The sum of small integers may not have the bits of the number.
  auto number = dyn_cast_if_present<IntegerAttr>(sum);
  if (!number)
    return {};
  unsigned bits = number.getValue().getBitWidth(), wide = std::max(bits, 64u);
  return IntegerAttr::get(
      number.getType(),
      number.getValue().sext(wide).sdiv(APInt(wide, count)).trunc(bits));
}

/// `count` zeros of `type`.
static Elements getZeros(size_t count, Type type) {
  Builder builder(type.getContext());
  auto complex = dyn_cast<ComplexType>(type);
  Attribute zero =
      builder.getZeroAttr(complex ? complex.getElementType() : type);
  if (complex)
    zero = builder.getArrayAttr({zero, zero});
  return Elements(count, zero);
}

/// The elements of source number `operand` of each launch.
static std::vector<Elements> readSources(ArrayRef<LaunchPtr> matched,
                                         unsigned operand) {
  std::vector<Elements> sources;
  for (const LaunchPtr &launch : matched) {
    Elements &elements = sources.emplace_back();
    if (operand >= launch->sources.size())
      continue;
    const RuntimeValue &value = launch->sources[operand];
    for (int64_t i = 0, e = value.getNumElements(); i != e; ++i)
      elements.push_back(value.memory->elements[value.getPosition(i)]);
  }
  return sources;
}

/// `element` as a 32-bit float if it is a smaller one.
static Attribute widen(Attribute element) {
  auto number = dyn_cast_if_present<FloatAttr>(element);
  if (!number || number.getType().getIntOrFloatBitWidth() >= 32)
    return element;
  return roundTo(Float32Type::get(number.getContext()), number);
}

std::optional<Elements>
braid::interpreter::reduceElements(comm::ReductionKind kind,
                                   ArrayRef<Elements> sources,
                                   ArrayRef<Attribute> scales) {
  // Small floats are rounded once, at the end, as the runtime does.
  std::vector<Elements> scaled(sources.begin(), sources.end());
  for (auto [source, scale] : llvm::zip(scaled, scales))
    for (Attribute &element : source) {
      element = widen(element);
      if (scale && !(element = multiply(element, widen(scale))))
        return std::nullopt;
    }
  Elements reduced = scaled.front();
  auto combineParts = [&](Attribute a, Attribute b) {
    return combine(kind, a, b);
  };
  for (const Elements &source : ArrayRef(scaled).drop_front())
    for (auto [into, element] : llvm::zip_equal(reduced, source))
      if (!(into = forParts(into, element, combineParts)))
        return std::nullopt;
  if (kind == comm::ReductionKind::avg)
    for (Attribute &element : reduced)
      if (!(element = average(element, sources.size())))
        return std::nullopt;
  for (auto [element, original] : llvm::zip_equal(reduced, sources.front()))
    if (auto number = dyn_cast<FloatAttr>(element))
      element =
          roundTo(cast<FloatType>(cast<FloatAttr>(original).getType()), number);
  return reduced;
}

/// Sources of `pairs` send all to their targets; other members get zeros.
static bool permute(ArrayAttr pairs, Type type, ArrayRef<Elements> sources,
                    std::vector<std::optional<Elements>> &destinations) {
  int64_t numMembers = sources.size();
  for (auto [source, destination] : llvm::zip_equal(sources, destinations))
    destination = getZeros(source.size(), type);
  for (auto pair : pairs.getAsRange<DenseI64ArrayAttr>()) {
    for (int64_t member : pair.asArrayRef())
      if (member < 0 || member >= numMembers)
        return false;
    destinations[pair[1]] = sources[pair[0]];
  }
  return true;
}

/// Member i gets part i of every member.
static void exchange(ArrayRef<LaunchPtr> matched, unsigned operand,
                     ArrayRef<Elements> sources,
                     std::vector<std::optional<Elements>> &destinations) {
  int64_t numMembers = matched.size();
  for (int64_t member = 0; member != numMembers; ++member) {
    Elements &received = destinations[member].emplace();
    for (auto [launch, source] : llvm::zip_equal(matched, sources)) {
      ArrayRef<int64_t> sizes = launch->sources[operand].sizes;
      if (launch->sendSizes.empty()) {
        llvm::append_range(received,
                           getArrayPart(source, sizes, 0, numMembers, member));
        continue;
      }
      int64_t inner = ShapedType::getNumElements(sizes.drop_front());
      int64_t begin = 0;
      for (int64_t before : ArrayRef(launch->sendSizes).take_front(member))
        begin += before * inner;
      const auto *first = source.data() + begin;
      received.insert(received.end(), first,
                      first + launch->sendSizes[member] * inner);
    }
  }
}

bool braid::interpreter::moveData(
    ArrayRef<LaunchPtr> matched, unsigned operand,
    std::vector<std::optional<Elements>> &destinations) {
  auto op = cast<comm::CollectiveOpInterface>(matched.front()->op);
  const comm::CollectiveTraits &traits = op.getCollectiveTraits();
  int64_t numMembers = matched.size();
  destinations.assign(numMembers, std::nullopt);
  if (matched.front()->sources.empty())
    return traits.flow == BRAID_RT_FLOW_NONE;
  std::vector<Elements> sources = readSources(matched, operand);
  Type type = getElementTypeOrSelf(
      cast<comm::AsyncStartOpInterface>(matched.front()->op)
          .getSources()[operand]
          .getType());
  ArrayRef<int64_t> sizes = matched.front()->sources[operand].sizes;
  int64_t root = op.getRootIndex().value_or(0), dim = op.getSplitDim();
  bool splits = traits.shape == BRAID_RT_SHAPE_SPLIT ||
                traits.shape == BRAID_RT_SHAPE_PARTS;
  bool joins = traits.shape == BRAID_RT_SHAPE_JOIN;
  if (root < 0 || root >= numMembers)
    return false;
  // What has no dimensions is one element of what is joined.
  bool hasDim = dim < static_cast<int64_t>(sizes.size());
  if (!hasDim && (splits || (joins && !sizes.empty())))
    return false;
  if (splits && matched.front()->sendSizes.empty() &&
      sizes[dim] % numMembers != 0)
    return false;

  std::optional<Elements> moved;
  switch (traits.flow) {
  case BRAID_RT_FLOW_REDUCE:
    moved = reduceElements(
        *op.getReductionKind(), sources,
        llvm::map_to_vector(
            matched, [](const LaunchPtr &launch) { return launch->scale; }));
    break;
  case BRAID_RT_FLOW_GATHER:
    moved = joinArrays<Attribute>(sources, sizes, dim);
    break;
  case BRAID_RT_FLOW_FROM_ROOT:
    moved = sources[root];
    break;
  case BRAID_RT_FLOW_EXCHANGE:
    exchange(matched, operand, sources, destinations);
    return true;
  case BRAID_RT_FLOW_PAIRS:
    return permute(cast<comm::PermuteOp>(op.getOperation()).getPairs(), type,
                   sources, destinations);
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
      destinations[member] =
          joins ? getZeros(moved->size(), type) : sources[member];
    else
      destinations[member] =
          splits ? getArrayPart(*moved, sizes, dim, numMembers, member)
                 : *moved;
  }
  return true;
}
