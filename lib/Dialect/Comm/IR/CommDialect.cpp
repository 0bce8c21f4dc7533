//===- CommDialect.cpp - The comm dialect, its types and interfaces -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommVerifiers.h"

#include "braid/Dialect/Comm/IR/ReorderedSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace braid::comm;

#include "braid/Dialect/Comm/IR/CommDialect.cpp.inc"
#include "braid/Dialect/Comm/IR/CommEnums.cpp.inc"
#include "braid/Dialect/Comm/IR/CommInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "braid/Dialect/Comm/IR/CommTypes.cpp.inc"

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

namespace {
/// Every comm op may be inlined: tokens are values, and the inlined starts keep
/// their order.
struct CommInlinerInterface : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *op, Region *region, bool,
                       IRMapping &) const final {
    // Inlining must not move a start or a wait into a parallel loop.
    return (!getAsyncStart(op) && !isa<WaitOp>(op)) ||
           !getParallelOrKernelOp(region);
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void CommDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "braid/Dialect/Comm/IR/CommTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "braid/Dialect/Comm/IR/CommOps.cpp.inc"
      >();
  addInterfaces<CommInlinerInterface>();
  addBytecodeInterface();
}

LogicalResult braid::comm::emitWrongValue(Operation *op,
                                          NamedAttribute attribute,
                                          const Twine &expected) {
  return op->emitOpError() << "attribute '" << attribute.getName().getValue()
                           << "' is " << attribute.getValue() << ", expected "
                           << expected;
}

LogicalResult braid::comm::emitWrongPlace(Operation *op,
                                          NamedAttribute attribute,
                                          const Twine &expected) {
  return op->emitOpError() << "has attribute '"
                           << attribute.getName().getValue() << "', which only "
                           << expected << " may have";
}

static bool isNonNegativeI64(Attribute attribute) {
  auto integer = dyn_cast<IntegerAttr>(attribute);
  return integer && integer.getType().isSignlessInteger(64) &&
         integer.getInt() >= 0;
}

LogicalResult CommDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  if (name == kCostAttrName) {
    if (!isNonNegativeI64(value))
      return emitWrongValue(op, attribute,
                            "a cost in ns of type i64, not negative");
    return success();
  }
  if (name == kLabelAttrName) {
    if (auto label = dyn_cast<StringAttr>(value); !label || label.empty())
      return emitWrongValue(op, attribute, "a string that is not empty");
    return success();
  }
  if (name == kOrderAttrName || name == kReportNumberAttrName) {
    if (!getAsyncStart(op))
      return emitWrongPlace(op, attribute, "starts");
    if (!isNonNegativeI64(value))
      return emitWrongValue(op, attribute, "an i64 that is not negative");
    return success();
  }
  if (name == kLastingSourcesAttrName || name == kAnyOrderAttrName) {
    if (!getAsyncStart(op))
      return emitWrongPlace(op, attribute, "starts");
    if (!isa<UnitAttr>(value))
      return emitWrongValue(op, attribute, "no value");
    return success();
  }
  if (name == kLaneAttrName || name == kCtasAttrName ||
      name == kTransportAttrName || name == kLanesAttrName ||
      name == kChunksAttrName)
    return verifyLaneAttribute(op, attribute);
  if (name == kMultiprocessorsAttrName)
    return verifyMultiprocessorsAttribute(op, attribute);
  if (name == kReorderedSumsAttrName)
    return verifyReorderedSumsAttribute(op, attribute);
  if (name == kMachineAttrName) {
    if (!isa<ModuleOp>(op))
      return emitWrongPlace(op, attribute, "modules");
    if (auto machine = dyn_cast<StringAttr>(value); !machine || machine.empty())
      return emitWrongValue(op, attribute, "the name of a machine");
    return success();
  }
  if (name == kOptionDefaultsAttrName) {
    if (!isa<ModuleOp>(op))
      return emitWrongPlace(op, attribute, "modules");
    auto defaults = dyn_cast<DictionaryAttr>(value);
    if (!defaults || !llvm::all_of(defaults, [](NamedAttribute option) {
          return isa<StringAttr>(option.getValue()) ||
                 isNonNegativeI64(option.getValue());
        }))
      return emitWrongValue(op, attribute,
                            "a dictionary of strings and of i64 that are not "
                            "negative");
    return success();
  }
  if (name == kMpmdAttrName) {
    if (!isa<ModuleOp>(op))
      return emitWrongPlace(op, attribute, "modules");
    if (!isa<UnitAttr>(value))
      return emitWrongValue(op, attribute, "no value");
    return success();
  }
  if (name == kEffectsAttrName) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function || !function.isDeclaration())
      return emitWrongPlace(op, attribute, "function declarations");
    auto effects = dyn_cast<StringAttr>(value);
    if (!effects || (effects != "none" && effects != "args"))
      return emitWrongValue(op, attribute, "\"none\" or \"args\"");
    return success();
  }
  return op->emitOpError() << "has unknown attribute '" << name
                           << "', expected one of '" << kCostAttrName << "', '"
                           << kLabelAttrName << "', '" << kOrderAttrName
                           << "', '" << kLastingSourcesAttrName << "', '"
                           << kLaneAttrName << "', '" << kCtasAttrName << "', '"
                           << kTransportAttrName << "', '" << kLanesAttrName
                           << "', '" << kMultiprocessorsAttrName << "', '"
                           << kChunksAttrName << "', '"
                           << kReorderedSumsAttrName << "', '"
                           << kAnyOrderAttrName << "', '" << kMachineAttrName
                           << "', '" << kMpmdAttrName << "', '"
                           << kOptionDefaultsAttrName << "', '"
                           << kReportNumberAttrName << "', '"
                           << kEffectsAttrName << "'";
}

LogicalResult CommDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned argIndex,
                                                    NamedAttribute attribute) {
  if (attribute.getName() != kDonatedAttrName)
    return op->emitOpError()
           << "argument #" << argIndex << " has unknown attribute '"
           << attribute.getName().getValue() << "', expected '"
           << kDonatedAttrName << "'";
  if (!isa<UnitAttr>(attribute.getValue()))
    return op->emitOpError()
           << "argument #" << argIndex << " has attribute '" << kDonatedAttrName
           << "' of value " << attribute.getValue() << ", expected no value";
  return success();
}

LogicalResult CommDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned resultIndex, NamedAttribute attribute) {
  return op->emitOpError() << "result #" << resultIndex << " has attribute '"
                           << attribute.getName().getValue()
                           << "', expected none of the comm dialect";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult TokenType::verify(function_ref<InFlightDiagnostic()> emitError,
                                Type valueType) {
  if (valueType && !isa<RankedTensorType>(valueType))
    return emitError() << "found token of " << valueType
                       << ", expected a ranked tensor";
  return success();
}

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

AsyncStartOpInterface braid::comm::getAsyncStart(Operation *op) {
  auto start = dyn_cast<AsyncStartOpInterface>(op);
  return start && !start.getTokens().empty() ? start : AsyncStartOpInterface();
}

bool AsyncStartOpInterface::isBufferForm() {
  auto isBuffer = [](OpOperand &operand) {
    return isa<BaseMemRefType>(operand.get().getType());
  };
  return llvm::any_of(getSourceOperands(), isBuffer) ||
         llvm::any_of(getDestinationOperands(), isBuffer);
}

Type AsyncStartOpInterface::getInFlightType(unsigned index) {
  return cast<TokenType>(getTokens()[index].getType()).getValueType();
}

/// The tensors and buffers among `operands`.
static SmallVector<Value> getData(MutableArrayRef<OpOperand> operands) {
  SmallVector<Value> data;
  for (OpOperand &operand : operands)
    if (isa<TensorType, BaseMemRefType>(operand.get().getType()))
      data.push_back(operand.get());
  return data;
}

SmallVector<Value> AsyncStartOpInterface::getSources() {
  return getData(getSourceOperands());
}

SmallVector<Value> AsyncStartOpInterface::getDestinations() {
  return getData(getDestinationOperands());
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

GroupOp braid::comm::lookupGroup(Operation *from, FlatSymbolRefAttr group) {
  return SymbolTable::lookupNearestSymbolFrom<GroupOp>(from, group);
}

GroupOp braid::comm::lookupGroup(Operation *from, FlatSymbolRefAttr group,
                                 SymbolTableCollection &symbolTables) {
  return symbolTables.lookupNearestSymbolFrom<GroupOp>(from, group);
}

/// The first name in `loc`; empty if there is none.
static StringRef getLocationName(Location loc) {
  if (auto named = dyn_cast<NameLoc>(loc))
    return named.getName();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringRef name = getLocationName(part); !name.empty())
        return name;
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return getLocationName(call.getCallee());
  return {};
}

StringRef braid::comm::getLabel(Operation *op) {
  if (auto label = op->getAttrOfType<StringAttr>(CommDialect::kLabelAttrName))
    return label;
  return getLocationName(op->getLoc());
}
