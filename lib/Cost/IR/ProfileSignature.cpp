//===- ProfileSignature.cpp - Signatures of ops in profiles ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProfileSignature.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/xxhash.h"

using namespace braid;
using namespace mlir;

//===----------------------------------------------------------------------===//
// The computation of an op
//===----------------------------------------------------------------------===//

/// True if the name and the attributes of `op` determine its region.
static bool hasImpliedRegion(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getRegionBuilder();
}

/// The inherent attributes of `op` that distinguish its computation: attributes
/// that neither have their default value nor follow from the types.
static SmallVector<NamedAttribute> getTellingAttributes(Operation *op) {
  SmallVector<NamedAttribute> telling;
  std::optional<RegisteredOperationName> info = op->getRegisteredInfo();
  if (!info)
    return telling;
  // The attributes of a new op.
  OperationState state(op->getLoc(), op->getName());
  Operation *fresh = Operation::create(state);
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    StringRef name = attribute.getName();
    std::optional<Attribute> inherent = op->getInherentAttr(name);
    if (!inherent || !*inherent)
      continue;
    if (name.ends_with("SegmentSizes") ||
        fresh->getInherentAttr(name) == inherent)
      continue;
    if (name == "indexing_maps" && linalgOp && hasImpliedRegion(op) &&
        !linalgOp.hasUserDefinedMaps())
      continue;
    telling.push_back(attribute);
  }
  fresh->destroy();
  return telling;
}

namespace {
/// Prints the computation of regions, independent of the names of values and of
/// locations.
class RegionPrinter {
public:
  explicit RegionPrinter(raw_ostream &os) : os(os) {}

  void print(Region &region) {
    os << "{";
    for (Block &block : region) {
      numbers.try_emplace(&block, numbers.size());
      os << "^" << numbers.lookup(&block) << "(";
      for (BlockArgument argument : block.getArguments()) {
        print(argument);
        os << ":" << argument.getType() << ",";
      }
      os << ")";
      for (Operation &op : block)
        print(op);
    }
    os << "}";
  }

private:
  void print(Value value) {
    os << "%"
       << numbers.try_emplace(value.getAsOpaquePointer(), numbers.size())
              .first->second;
  }

  void print(Operation &op) {
    for (Value result : op.getResults()) {
      print(result);
      os << ":" << result.getType() << ",";
    }
    os << "=" << op.getName() << "(";
    for (Value operand : op.getOperands()) {
      print(operand);
      os << ",";
    }
    os << ")";
    for (Block *successor : op.getSuccessors())
      os << "^" << numbers.try_emplace(successor, numbers.size()).first->second;
    for (NamedAttribute attribute : getTellingAttributes(&op))
      os << attribute.getName().strref() << "=" << attribute.getValue() << ";";
    for (Region &region : op.getRegions())
      print(region);
  }

  raw_ostream &os;
  /// Numbers of values and blocks, in the order of their first visit.
  DenseMap<void *, unsigned> numbers;
};
} // namespace

/// Prints the name of `op`, its symbols or kernel, and a hash of all other
/// properties of its computation.
static void printHead(Operation *op, raw_ostream &os) {
  os << op->getName();
  auto compute = dyn_cast<comm::ComputeOp>(op);
  if (compute)
    os << " " << compute.getKernelAttr();

  std::string rest;
  llvm::raw_string_ostream restStream(rest);
  for (NamedAttribute attribute : getTellingAttributes(op)) {
    if (auto symbol = dyn_cast<SymbolRefAttr>(attribute.getValue())) {
      os << " " << symbol;
      continue;
    }
    // The stream of a kernel is not part of its computation.
    if (compute && (attribute.getValue() == compute.getKernelAttr() ||
                    isa<UnitAttr>(attribute.getValue())))
      continue;
    restStream << attribute.getName().strref() << "=" << attribute.getValue()
               << ";";
  }
  if (!hasImpliedRegion(op)) {
    RegionPrinter printer(restStream);
    for (Region &region : op->getRegions())
      if (!region.empty())
        printer.print(region);
  }
  if (!rest.empty())
    os << "#"
       << llvm::format_hex_no_prefix(
              static_cast<uint32_t>(llvm::xxh3_64bits(rest)), 8);
}

//===----------------------------------------------------------------------===//
// The types of an op
//===----------------------------------------------------------------------===//

/// Prints `type`. Tensors and buffers have sizes and an element type, but no
/// layout.
static void printType(Type type, int64_t dynamicSize, raw_ostream &os) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || isa<VectorType>(type)) {
    os << type;
    return;
  }
  if (!shaped.hasRank()) {
    os << "*x" << shaped.getElementType();
    return;
  }
  for (int64_t size : shaped.getShape())
    os << (ShapedType::isDynamic(size) ? dynamicSize : size) << "x";
  os << shaped.getElementType();
}

static void printTypes(TypeRange types, int64_t dynamicSize, raw_ostream &os) {
  os << "(";
  llvm::interleaveComma(types, os,
                        [&](Type type) { printType(type, dynamicSize, os); });
  os << ")";
}

/// The types of the values or buffers that the operation of `start` writes.
static SmallVector<Type> getWrittenTypes(comm::AsyncStartOpInterface start) {
  SmallVector<Type> types;
  if (start.isBufferForm()) {
    llvm::append_range(types, TypeRange(ValueRange(start.getDestinations())));
    return types;
  }
  for (unsigned index = 0, e = start.getTokens().size(); index < e; ++index)
    if (Type type = start.getInFlightType(index))
      types.push_back(type);
  return types;
}

/// Prints `comm.all_reduce sum bf16, 8 ranks, 1024 bytes`.
static void printCollective(comm::CollectiveOpInterface op, OpCostModel &model,
                            raw_ostream &os) {
  auto start = cast<comm::AsyncStartOpInterface>(op.getOperation());
  CollectiveCall call = model.describe(op);
  os << op->getName();
  if (std::optional<comm::ReductionKind> reduction = op.getReductionKind())
    os << " " << comm::stringifyReductionKind(*reduction);
  llvm::SetVector<Type> elementTypes;
  for (Value source : start.getSources())
    elementTypes.insert(getElementTypeOrSelf(source.getType()));
  for (Type type : getWrittenTypes(start))
    elementTypes.insert(getElementTypeOrSelf(type));
  if (!elementTypes.empty())
    os << " ";
  llvm::interleave(elementTypes, os, "+");
  os << ", " << call.groupSize << " ranks";
  if (call.numNodes > 1)
    os << " on " << call.numNodes << " nodes";
  // A barrier moves no data.
  if (!elementTypes.empty())
    os << ", " << call.getWholeBytes() << " bytes";
}

std::string braid::getProfileSignature(Operation *op, OpCostModel &model) {
  std::string text;
  if (isa<comm::WaitOp>(op))
    return text;
  llvm::raw_string_ostream os(text);
  if (auto collective = dyn_cast<comm::CollectiveOpInterface>(op)) {
    printCollective(collective, model, os);
    return text;
  }

  SmallVector<Type> read, written;
  if (auto destinationStyle = dyn_cast<DestinationStyleOpInterface>(op)) {
    for (OpOperand *input : destinationStyle.getDpsInputOperands())
      read.push_back(input->get().getType());
    llvm::append_range(written, destinationStyle.getDpsInits().getTypes());
  } else {
    llvm::append_range(read, op->getOperandTypes());
    if (comm::AsyncStartOpInterface start = comm::getAsyncStart(op))
      written = getWrittenTypes(start);
    else
      llvm::append_range(written, op->getResultTypes());
  }
  int64_t dynamicSize = model.getOptions().sizes.dynamicSize;
  printHead(op, os);
  printTypes(read, dynamicSize, os);
  os << " -> ";
  printTypes(written, dynamicSize, os);
  return text;
}

std::optional<ProfiledTime> braid::lookupProfile(const Profile &profile,
                                                 Operation *op,
                                                 OpCostModel &model) {
  // A wait may have the label of its start.
  if (isa<comm::WaitOp>(op))
    return std::nullopt;
  if (StringRef label = comm::getLabel(op); !label.empty())
    if (std::optional<ProfiledTime> time = profile.lookupLabel(label))
      return time;
  if (!profile.hasSignatureOf(op->getName().getStringRef()))
    return std::nullopt;
  return profile.lookupSignature(getProfileSignature(op, model));
}
