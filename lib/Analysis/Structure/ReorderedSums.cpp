//===- ReorderedSums.cpp - Sums in another order --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Structure/ReorderedSums.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/IR/ReorderedSums.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace braid;
using comm::CollectiveOpInterface;
using comm::CommDialect;

/// Whether another order of the members' operands may give other bits.
static bool dependsOnOrderOfMembers(CollectiveOpInterface collective) {
  std::optional<comm::ReductionKind> kind = collective.getReductionKind();
  if (!kind || *kind == comm::ReductionKind::min ||
      *kind == comm::ReductionKind::max)
    return false;
  auto start = cast<comm::AsyncStartOpInterface>(collective.getOperation());
  return llvm::any_of(start.getSources(), [](Value source) {
    return isa<FloatType, ComplexType>(getElementTypeOrSelf(source.getType()));
  });
}

/// The members of the largest list of the group of `collective`; 0 for a group
/// of all ranks, or one that is not known here.
static int64_t countMembers(CollectiveOpInterface collective) {
  comm::GroupOp group =
      comm::lookupGroup(collective, collective.getGroupAttr());
  size_t members = 0;
  if (group && !group.isAll())
    for (ArrayRef<int64_t> ranks : group.getRankLists())
      members = std::max(members, ranks.size());
  return static_cast<int64_t>(members);
}

/// The elements of the results of `op`.
static auto getElementTypes(linalg::LinalgOp op) {
  return llvm::map_range(op.getDpsInits(), [](Value init) {
    return getElementTypeOrSelf(init.getType());
  });
}

bool braid::dependsOnOrderOfTerms(Operation *op) {
  if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    int64_t members = countMembers(collective);
    // a + b = b + a, rounded or not.
    return dependsOnOrderOfMembers(collective) && (members == 0 || members > 2);
  }
  auto compute = dyn_cast<linalg::LinalgOp>(op);
  return compute && compute.getNumReductionLoops() > 0 &&
         llvm::any_of(getElementTypes(compute), [](Type type) {
           return isa<FloatType, ComplexType>(type);
         });
}

/// Adds `reason` to what `op` has under `name`.
static void addReason(Operation *op, StringRef name, const Twine &reason) {
  NamedAttrList reasons(
      op->getAttrOfType<DictionaryAttr>(comm::kReorderedSumsAttrName));
  std::string text = reason.str();
  if (auto known = dyn_cast_if_present<StringAttr>(reasons.get(name)))
    text = (known.getValue() + "; " + text).str();
  reasons.set(name, StringAttr::get(op->getContext(), text));
  op->setAttr(comm::kReorderedSumsAttrName,
              reasons.getDictionary(op->getContext()));
}

void braid::recordDivision(Operation *op, const Twine &reason) {
  if (dependsOnOrderOfTerms(op))
    addReason(op, comm::kDividedName, reason);
}

void braid::recordReassociation(Operation *op, const Twine &reason) {
  addReason(op, comm::kDividedName, reason);
}

void braid::recordPlan(Operation *op, ArrayRef<NamedAttribute> resources) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      resources, stream,
      [&](NamedAttribute resource) {
        StringRef name = resource.getName();
        if (auto count = dyn_cast<IntegerAttr>(resource.getValue())) {
          stream << count.getInt() << ' '
                 << (name == CommDialect::kCtasAttrName
                         ? "CTAs"
                         : name.substr(name.find('.') + 1));
          return;
        }
        stream << name.substr(name.find('.') + 1) << ' ';
        if (auto word = dyn_cast<StringAttr>(resource.getValue()))
          stream << word.getValue();
        else
          stream << resource.getValue();
      },
      ", ");
  if (!text.empty() && dependsOnOrderOfTerms(op))
    addReason(op, comm::kPlannedName, text);
}

SmallVector<ReorderedSum> braid::findReorderedSums(ModuleOp module) {
  SmallVector<ReorderedSum> sums;
  llvm::StringSet<> known;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto reasons =
        op->getAttrOfType<DictionaryAttr>(comm::kReorderedSumsAttrName);
    if (!reasons)
      return;
    auto getReason = [&](StringRef name) {
      auto reason = reasons.getAs<StringAttr>(name);
      return reason ? reason.str() : std::string();
    };
    ReorderedSum sum{SumKind::Matmul,
                     op->getLoc(),
                     op->getName().getStringRef().str(),
                     getReason(comm::kDividedName),
                     getReason(comm::kPlannedName),
                     Type()};
    if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
      sum.kind = SumKind::Collective;
      sum.operation =
          stringifyCollectiveKind(collective.getCollectiveKind()).str();
      if (std::optional<comm::ReductionKind> kind =
              collective.getReductionKind())
        sum.operation += (" " + stringifyReductionKind(*kind)).str();
      sum.members = countMembers(collective);
    } else if (auto compute = dyn_cast<linalg::LinalgOp>(op)) {
      sum.element = *getElementTypes(compute).begin();
    }
    std::string key;
    llvm::raw_string_ostream(key) << sum.operation << '\n'
                                  << reasons << '\n'
                                  << sum.members << '\n'
                                  << sum.element << '\n'
                                  << sum.loc.getAsOpaquePointer();
    if (known.insert(key).second)
      sums.push_back(std::move(sum));
  });
  return sums;
}
