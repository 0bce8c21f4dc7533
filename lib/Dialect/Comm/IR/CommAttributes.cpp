//===- CommAttributes.cpp - Discardable attributes ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommVerifiers.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/IR/CommCostInterface.h"
#include "braid/Dialect/Comm/IR/ReorderedSums.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

static bool isTransport(Attribute value) {
  auto transport = dyn_cast_or_null<StringAttr>(value);
  return transport && (transport == "symmetric" || transport == "copy" ||
                       transport == "default");
}

static bool isPositiveI64(Attribute value) {
  auto integer = dyn_cast_or_null<IntegerAttr>(value);
  return integer && integer.getType().isSignlessInteger(64) &&
         integer.getInt() > 0;
}

static bool isPositiveI32(Attribute value) {
  return isPositiveI64(value) && cast<IntegerAttr>(value).getInt() <=
                                     std::numeric_limits<int32_t>::max();
}

static bool isName(Attribute value) {
  auto name = dyn_cast_or_null<StringAttr>(value);
  return name && !name.empty();
}

/// True for a dictionary with `name`, and with `ctas`, `transport` and
/// `staging` or not.
static bool isLane(Attribute value) {
  auto lane = dyn_cast<DictionaryAttr>(value);
  return lane && isName(lane.get("name")) &&
         llvm::all_of(lane, [](NamedAttribute field) {
           StringRef name = field.getName();
           return name == "name" ||
                  (name == "ctas" && isPositiveI32(field.getValue())) ||
                  (name == "transport" && isTransport(field.getValue())) ||
                  (name == "staging" && isPositiveI64(field.getValue()));
         });
}

LogicalResult braid::comm::verifyLaneAttribute(Operation *op,
                                               NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  if (name == CommDialect::kLanesAttrName) {
    if (!isa<GroupOp>(op))
      return emitWrongPlace(op, attribute, "groups");
    auto lanes = dyn_cast<ArrayAttr>(value);
    if (!lanes || !llvm::all_of(lanes, isLane))
      return emitWrongValue(
          op, attribute,
          "an array of dictionaries of a 'name', and 'ctas' (an i64 that is "
          "positive) and 'transport' (\"symmetric\", \"copy\" or "
          "\"default\") or not");
    llvm::StringSet<> names;
    for (auto lane : lanes.getAsRange<DictionaryAttr>())
      if (!names.insert(lane.getAs<StringAttr>("name").getValue()).second)
        return emitWrongValue(op, attribute, "each lane once");
    return success();
  }
  if (!isa<CollectiveOpInterface>(op))
    return emitWrongPlace(op, attribute, "starts of collectives");
  if (name == CommDialect::kLaneAttrName && !isName(value))
    return emitWrongValue(op, attribute, "a string that is not empty");
  if ((name == CommDialect::kCtasAttrName ||
       name == CommDialect::kChunksAttrName) &&
      !isPositiveI32(value))
    return emitWrongValue(op, attribute, "an i64 from 1 to 2147483647");
  if (name == CommDialect::kTransportAttrName && !isTransport(value))
    return emitWrongValue(op, attribute,
                          "\"symmetric\", \"copy\" or \"default\"");
  return success();
}

std::string braid::comm::getLaneName(Operation *start) {
  if (auto lane = start->getAttrOfType<StringAttr>(CommDialect::kLaneAttrName))
    return lane.str();
  auto transport =
      start->getAttrOfType<StringAttr>(CommDialect::kTransportAttrName);
  auto ctas = start->getAttrOfType<IntegerAttr>(CommDialect::kCtasAttrName);
  if (!transport && !ctas)
    return {};
  std::string name = transport ? transport.str() : "default";
  if (ctas)
    name += "-" + std::to_string(ctas.getInt());
  return name;
}

LaneSettings braid::comm::getLaneSettings(Operation *start,
                                          SymbolTableCollection &symbolTables) {
  LaneSettings result;
  auto set = [&](Attribute ctas, Attribute transport) {
    if (auto limit = dyn_cast_if_present<IntegerAttr>(ctas))
      result.ctas = limit.getInt();
    if (auto name = dyn_cast_if_present<StringAttr>(transport))
      result.transport = name.str();
  };
  auto collective = dyn_cast<CollectiveOpInterface>(start);
  std::string name = getLaneName(start);
  if (!collective || name.empty())
    return result;
  if (GroupOp group =
          lookupGroup(start, collective.getGroupAttr(), symbolTables))
    if (auto lanes =
            group->getAttrOfType<ArrayAttr>(CommDialect::kLanesAttrName))
      for (auto lane : lanes.getAsRange<DictionaryAttr>())
        if (lane.getAs<StringAttr>("name").getValue() == name)
          set(lane.get("ctas"), lane.get("transport"));
  set(start->getAttr(CommDialect::kCtasAttrName),
      start->getAttr(CommDialect::kTransportAttrName));
  return result;
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

/// True for an op that multiplies matrices. Its own verifier has not run yet.
static bool isMatmul(Operation *op) {
  if (!isa<linalg::GenericOp>(op))
    return isa<linalg::ContractionOpInterface>(op);
  // With a bias there is one more operand before the result.
  auto attribute = op->getAttrOfType<ArrayAttr>("indexing_maps");
  if (!attribute || !llvm::all_of(attribute, llvm::IsaPred<AffineMapAttr>) ||
      (attribute.size() != 3 && attribute.size() != 4))
    return false;
  auto maps = llvm::to_vector(attribute.getAsValueRange<AffineMapAttr>());
  if (!llvm::all_equal(llvm::map_range(
          maps, [](AffineMap map) { return map.getNumDims(); })))
    return false;
  FailureOr<linalg::ContractionDimensions> loops =
      linalg::inferContractionDims({maps[0], maps[1], maps.back()});
  return succeeded(loops) && !loops->k.empty();
}

LogicalResult
braid::comm::verifyMultiprocessorsAttribute(Operation *op,
                                            NamedAttribute attribute) {
  auto cost = dyn_cast<CostOpInterface>(op);
  if (!isMatmul(op) && !(cost && cost.canLimitMultiprocessors()))
    return emitWrongPlace(op, attribute,
                          "matmuls and ops with "
                          "CostOpInterface::canLimitMultiprocessors");
  if (!isPositiveI32(attribute.getValue()))
    return emitWrongValue(op, attribute, "an i64 from 1 to 2147483647");
  return success();
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

LogicalResult
braid::comm::verifyReorderedSumsAttribute(Operation *op,
                                          NamedAttribute attribute) {
  auto reasons = dyn_cast<DictionaryAttr>(attribute.getValue());
  if (!reasons || reasons.empty() ||
      !llvm::all_of(reasons, [](NamedAttribute reason) {
        return (reason.getName() == kDividedName ||
                reason.getName() == kPlannedName) &&
               isName(reason.getValue());
      }))
    return emitWrongValue(op, attribute,
                          "a dictionary of 'divided', 'planned' or both, "
                          "strings that are not empty");
  return success();
}

/// Gives `fused` the reasons of both ops for another order of sums.
static void mergeReorderedSums(Operation *producer, Operation *consumer,
                               Operation *fused) {
  NamedAttrList reasons;
  for (Operation *op : {producer, consumer})
    if (auto own = op->getAttrOfType<DictionaryAttr>(kReorderedSumsAttrName))
      for (NamedAttribute reason : own) {
        auto text = cast<StringAttr>(reason.getValue());
        auto other =
            dyn_cast_if_present<StringAttr>(reasons.get(reason.getName()));
        if (other && other != text)
          text = StringAttr::get(op->getContext(),
                                 other.getValue() + "; " + text.getValue());
        reasons.set(reason.getName(), text);
      }
  if (!reasons.empty())
    fused->setAttr(kReorderedSumsAttrName,
                   reasons.getDictionary(fused->getContext()));
}

//===----------------------------------------------------------------------===//
// Attributes of fused ops
//===----------------------------------------------------------------------===//

void braid::comm::copyAttributes(Operation *from, Operation *to) {
  for (NamedAttribute attribute : from->getDiscardableAttrs())
    if (isa_and_nonnull<CommDialect>(attribute.getNameDialect()))
      to->setAttr(attribute.getName(), attribute.getValue());
}

void braid::comm::mergeAttributes(Operation *producer, Operation *consumer,
                                  Operation *fused) {
  copyAttributes(consumer, fused);
  mergeReorderedSums(producer, consumer, fused);
  Builder builder(fused->getContext());
  auto getLabel = [](Operation *op) {
    return op->getAttrOfType<StringAttr>(CommDialect::kLabelAttrName);
  };
  StringAttr first = getLabel(producer), second = getLabel(consumer);
  if (first && second)
    fused->setAttr(
        CommDialect::kLabelAttrName,
        builder.getStringAttr(first.getValue() + "+" + second.getValue()));
  else if (first)
    fused->setAttr(CommDialect::kLabelAttrName, first);
  auto getCost = [](Operation *op) {
    return op->getAttrOfType<IntegerAttr>(CommDialect::kCostAttrName);
  };
  IntegerAttr firstCost = getCost(producer), secondCost = getCost(consumer);
  if (firstCost && secondCost)
    fused->setAttr(
        CommDialect::kCostAttrName,
        builder.getI64IntegerAttr(firstCost.getInt() + secondCost.getInt()));
  else
    fused->removeAttr(CommDialect::kCostAttrName);
}
