//===- CollectiveValues.cpp - What collectives give each rank -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveValues.h"
#include "braid/Support/ArrayParts.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

using Elements = std::vector<PathValue>;

/// `a` and `b` combined; none for what is not computed.
static std::optional<APInt> combine(comm::ReductionKind kind, const APInt &a,
                                    const APInt &b) {
  bool isLess = a.getBitWidth() == 1 ? a.ult(b) : a.slt(b);
  switch (kind) {
  case comm::ReductionKind::sum:
  case comm::ReductionKind::avg:
    return a + b;
  case comm::ReductionKind::product:
    return a * b;
  case comm::ReductionKind::min:
    return isLess ? a : b;
  case comm::ReductionKind::max:
    return isLess ? b : a;
  case comm::ReductionKind::band:
    return a & b;
  case comm::ReductionKind::bor:
    return a | b;
  case comm::ReductionKind::bxor:
    return a ^ b;
  default:
    return std::nullopt;
  }
}

/// The same of floats; none also for a result that is rounded, which depends on
/// the order of the members.
static std::optional<APFloat> combine(comm::ReductionKind kind,
                                      const APFloat &a, const APFloat &b) {
  if (a.isNaN() || b.isNaN())
    return std::nullopt;
  APFloat result = a;
  APFloat::opStatus status = APFloat::opOK;
  switch (kind) {
  case comm::ReductionKind::sum:
    status = result.add(b, APFloat::rmNearestTiesToEven);
    break;
  case comm::ReductionKind::product:
    status = result.multiply(b, APFloat::rmNearestTiesToEven);
    break;
  case comm::ReductionKind::min:
    return minimum(a, b);
  case comm::ReductionKind::max:
    return maximum(a, b);
  default:
    return std::nullopt;
  }
  return status == APFloat::opOK ? std::optional(result) : std::nullopt;
}

/// Two numbers of one type combined; null for what is not computed.
static TypedAttr combine(comm::ReductionKind kind, TypedAttr a, TypedAttr b) {
  if (auto one = dyn_cast<IntegerAttr>(a)) {
    std::optional<APInt> result =
        combine(kind, one.getValue(), cast<IntegerAttr>(b).getValue());
    return result ? IntegerAttr::get(a.getType(), *result) : IntegerAttr();
  }
  std::optional<APFloat> result = combine(kind, cast<FloatAttr>(a).getValue(),
                                          cast<FloatAttr>(b).getValue());
  return result ? FloatAttr::get(a.getType(), *result) : FloatAttr();
}

/// The integer `number` divided by `count`; null for more than 64 bits.
static TypedAttr divide(TypedAttr number, int64_t count) {
  const APInt &value = cast<IntegerAttr>(number).getValue();
  if (value.getBitWidth() > 64)
    return {};
  int64_t dividend =
      value.getBitWidth() == 1 ? value.getZExtValue() : value.getSExtValue();
  return getNumberAttr(number.getType(), dividend / count);
}

/// True if all of `results` have the same elements.
static bool areEqual(ArrayRef<Elements> results) {
  return llvm::all_of(results, [&](const Elements &elements) {
    return llvm::equal(
        elements, results.front(),
        [](const PathValue &a, const PathValue &b) { return a.id == b.id; });
  });
}

namespace {

/// The values of one operation: what its members have, and what each gets.
class MatchedCollective {
public:
  /// `sources` has the elements of each member, or the one that all elements
  /// are, if it `isUniform`; `id` is that of the operation.
  MatchedCollective(comm::CollectiveOpInterface op, Value source,
                    std::vector<Elements> sources, bool isUniform, uint64_t id)
      : op(op), source(source), sources(std::move(sources)),
        isUniform(isUniform), id(id),
        type(getElementTypeOrSelf(source.getType())) {}

  /// What each member gets; none if nothing of it is known, or if the program
  /// is wrong.
  std::optional<std::vector<Elements>> compute();

private:
  TypedAttr getKnown(unsigned member, size_t index);
  PathValue makeConstant(TypedAttr number) {
    isKnown = true;
    return getConstantScalar(number, /*dependsOnRank=*/false);
  }
  /// Element `index` of `member`, as other members see it.
  PathValue take(unsigned member, size_t index);
  Elements takeAll(unsigned member);
  PathValue reduce(size_t index);
  Elements getZeros(size_t count) {
    return Elements(count, makeConstant(OpBuilder(op).getZeroAttr(type)));
  }
  comm::CollectiveOpInterface op;
  Value source;
  std::vector<Elements> sources;
  bool isUniform;
  uint64_t id;
  Type type;
  bool isKnown = false;
  PathChoices noChoices{{}, {}};
  ScalarEvaluator scalars{noChoices};
};

} // namespace

TypedAttr MatchedCollective::getKnown(unsigned member, size_t index) {
  return scalars.evaluateNumber(sources[member][index]);
}

PathValue MatchedCollective::take(unsigned member, size_t index) {
  if (TypedAttr number = getKnown(member, index))
    return makeConstant(number);
  return getUnknownScalar(source, type,
                          llvm::hash_combine(id, member, index, 23));
}

Elements MatchedCollective::takeAll(unsigned member) {
  Elements elements;
  for (size_t i = 0, e = sources[member].size(); i != e; ++i)
    elements.push_back(take(member, i));
  return elements;
}

PathValue MatchedCollective::reduce(size_t index) {
  comm::ReductionKind kind = *op.getReductionKind();
  TypedAttr reduced = getKnown(0, index);
  for (unsigned member = 1; member < sources.size() && reduced; ++member) {
    TypedAttr other = getKnown(member, index);
    reduced = other ? combine(kind, reduced, other) : TypedAttr();
  }
  if (reduced && kind == comm::ReductionKind::avg)
    reduced = divide(reduced, sources.size());
  if (reduced && kind != comm::ReductionKind::premul_sum)
    return makeConstant(reduced);
  return getUnknownScalar(source, type, llvm::hash_combine(id, index, 25));
}

std::optional<std::vector<Elements>> MatchedCollective::compute() {
  const comm::CollectiveTraits &traits = op.getCollectiveTraits();
  ArrayRef<int64_t> sizes = cast<ShapedType>(source.getType()).getShape();
  int64_t numMembers = sources.size(), dim = op.getSplitDim();
  int64_t root = op.getRootIndex().value_or(0);
  // Parts of what is the same everywhere are that, too.
  bool splits = !isUniform && (traits.shape == BRAID_RT_SHAPE_SPLIT ||
                               traits.shape == BRAID_RT_SHAPE_PARTS);
  if (!llvm::all_equal(llvm::map_range(
          sources, [](const Elements &elements) { return elements.size(); })) ||
      root < 0 || root >= numMembers ||
      (splits && (dim >= static_cast<int64_t>(sizes.size()) ||
                  sizes[dim] == 0 || sizes[dim] % numMembers != 0)))
    return std::nullopt;
  std::vector<Elements> results(numMembers);
  size_t count = sources.front().size();
  Elements moved;
  switch (traits.flow) {
  case BRAID_RT_FLOW_REDUCE:
    for (size_t i = 0; i != count; ++i)
      moved.push_back(reduce(i));
    break;
  case BRAID_RT_FLOW_GATHER: {
    std::vector<Elements> parts;
    for (int64_t member = 0; member != numMembers; ++member)
      parts.push_back(takeAll(member));
    if (!isUniform)
      moved = joinArrays<PathValue>(parts, sizes, dim);
    else if (areEqual(parts))
      moved = parts.front();
    else
      return std::nullopt;
    break;
  }
  case BRAID_RT_FLOW_FROM_ROOT:
    moved = takeAll(root);
    break;
  case BRAID_RT_FLOW_EXCHANGE:
    if (cast<comm::AllToAllOp>(op.getOperation()).hasSplits() || isUniform)
      return std::nullopt;
    for (int64_t from = 0; from != numMembers; ++from) {
      Elements whole = takeAll(from);
      for (int64_t to = 0; to != numMembers; ++to)
        llvm::append_range(results[to],
                           getArrayPart(whole, sizes, dim, numMembers, to));
    }
    return isKnown ? std::optional(std::move(results)) : std::nullopt;
  case BRAID_RT_FLOW_PAIRS:
    for (Elements &elements : results)
      elements = getZeros(count);
    for (auto pair : cast<comm::PermuteOp>(op.getOperation())
                         .getPairs()
                         .getAsRange<DenseI64ArrayAttr>()) {
      if (pair[0] >= numMembers || pair[1] >= numMembers)
        return std::nullopt;
      results[pair[1]] = takeAll(pair[0]);
    }
    return results;
  default:
    return std::nullopt;
  }
  bool goesToRoot = traits.hasRoot && traits.flow != BRAID_RT_FLOW_FROM_ROOT;
  for (int64_t member = 0; member != numMembers; ++member) {
    if (!goesToRoot || member == root)
      results[member] =
          splits ? getArrayPart(moved, sizes, dim, numMembers, member) : moved;
    else if (traits.flow == BRAID_RT_FLOW_GATHER)
      results[member] = getZeros(moved.size());
    else
      for (size_t i = 0; i != count; ++i) {
        TypedAttr own = getKnown(member, i);
        results[member].push_back(own ? makeConstant(own) : sources[member][i]);
      }
  }
  return isKnown ? std::optional(std::move(results)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// CollectiveValues
//===----------------------------------------------------------------------===//

const std::vector<PathValue> *CollectiveValues::get(int64_t rank,
                                                    unsigned operation,
                                                    unsigned index,
                                                    Operation *op) const {
  auto it = values.find({rank, operation, index});
  return it != values.end() && it->second.op == op ? &it->second.elements
                                                   : nullptr;
}

void CollectiveValues::close() {
  values.clear();
  closed = true;
}

void CollectiveValues::addValues(ArrayRef<const RankTrace *> traces,
                                 ArrayRef<Member> matched, unsigned position,
                                 Table &table) {
  auto get = [&](Member member) -> const StartedOperation & {
    return traces[member.rank]->operations[member.operation];
  };
  const StartedOperation &first = get(matched.front());
  auto start = cast<comm::AsyncStartOpInterface>(first.op.getOperation());
  for (size_t index = 0, e = first.inputs.size(); index != e; ++index) {
    Value source = start.getSources()[index];
    bool isUniform = first.inputs[index].uniform != nullptr;
    if (!hasKnownElements(source.getType()) && !isUniform)
      continue;
    std::vector<Elements> sources;
    for (Member member : matched) {
      const StartedOperation &operation = get(member);
      auto other =
          cast<comm::AsyncStartOpInterface>(operation.op.getOperation());
      if (operation.inputs.size() != e)
        break;
      const PathValue &input = operation.inputs[index];
      Value value = other.getSources()[index];
      if (isUniform && input.uniform)
        sources.push_back({*input.uniform});
      else if (!isUniform && hasKnownElements(value.getType()))
        sources.push_back(getElements(input, value));
      else
        break;
    }
    if (sources.size() != matched.size())
      continue;
    uint64_t id = llvm::hash_combine(first.op.getOperation(), position, index);
    std::optional<std::vector<Elements>> results =
        MatchedCollective(first.op, source, std::move(sources), isUniform, id)
            .compute();
    if (!results)
      continue;
    // Every rank has to be followed that gets something of its own.
    bool differ = !areEqual(*results);
    for (auto [member, elements] : llvm::zip_equal(matched, *results)) {
      if (differ)
        for (PathValue &element : elements) {
          auto scalar = std::make_shared<PathValue::Scalar>(*element.scalar);
          scalar->dependsOnRank = true;
          element.scalar = std::move(scalar);
        }
      table[{member.rank, member.operation, index}] = {
          get(member).op.getOperation(), std::move(elements)};
    }
  }
}

bool CollectiveValues::update(ArrayRef<const RankTrace *> traces) {
  // The operations of each member of a communicator, in their order.
  std::map<std::tuple<const void *, int64_t, const void *>,
           std::vector<std::vector<Member>>>
      communicators;
  for (unsigned rank = 0; rank != traces.size(); ++rank)
    for (auto [index, operation] : llvm::enumerate(traces[rank]->operations)) {
      SmallVector<int64_t> members =
          getMembers(operation.group, rank, traces.size());
      if (members.empty() || operation.op.isPointToPoint())
        continue;
      auto &lists =
          communicators[{operation.group.getAsOpaquePointer(), members.front(),
                         operation.lane.getAsOpaquePointer()}];
      lists.resize(members.size());
      lists[llvm::find(members, rank) - members.begin()].push_back(
          {rank, static_cast<unsigned>(index)});
    }
  Table table;
  for (auto &[key, lists] : communicators) {
    size_t count = lists.front().size();
    for (const std::vector<Member> &list : lists)
      count = std::min(count, list.size());
    for (size_t position = 0; position != count; ++position) {
      SmallVector<Member> matched;
      for (const std::vector<Member> &list : lists)
        matched.push_back(list[position]);
      // What comes after a difference never runs.
      if (!llvm::all_equal(llvm::map_range(matched, [&](Member member) {
            comm::CollectiveOpInterface op =
                traces[member.rank]->operations[member.operation].op;
            return op.getCollectiveKind();
          })))
        break;
      addValues(traces, matched, position, table);
    }
  }
  bool isSame = llvm::equal(table, values, [](const auto &a, const auto &b) {
    return a.first == b.first && a.second.op == b.second.op &&
           llvm::equal(a.second.elements, b.second.elements,
                       [](const PathValue &x, const PathValue &y) {
                         return x.id == y.id;
                       });
  });
  values = std::move(table);
  return !isSame;
}
