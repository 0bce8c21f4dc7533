//===- RuntimeDialects.cpp - Attributes of the lowering -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Conversion/RuntimeDialects.h"

#include "ProgramAttributes.h"
#include "braid/Support/MatmulAttributes.h"
#include "braid/Support/ReadAttributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace braid;
using namespace mlir;

#include "braid/Conversion/BraidDialect.cpp.inc"
#include "braid/Conversion/BraidRTDialect.cpp.inc"

void BraidDialect::initialize() {}

void BraidRTDialect::initialize() {}

static LogicalResult emitWrongPlace(Operation *op, NamedAttribute attribute,
                                    StringRef expected) {
  return op->emitOpError() << "has attribute '"
                           << attribute.getName().getValue() << "', which only "
                           << expected << " may have";
}

/// Emits an error for a value of the wrong form, unless `isRight`.
static LogicalResult verifyValue(Operation *op, NamedAttribute attribute,
                                 bool isRight, StringRef expected) {
  if (isRight)
    return success();
  return op->emitOpError() << "attribute '" << attribute.getName().getValue()
                           << "' is " << attribute.getValue() << ", expected "
                           << expected;
}

static LogicalResult emitUnknown(Operation *op, NamedAttribute attribute,
                                 ArrayRef<StringRef> names) {
  InFlightDiagnostic diagnostic = op->emitOpError()
                                  << "has unknown attribute '"
                                  << attribute.getName().getValue()
                                  << "', expected one of ";
  llvm::interleaveComma(names, diagnostic, [&](StringRef name) {
    diagnostic << "'" << name << "'";
  });
  return diagnostic;
}

LogicalResult BraidDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  if (name == kEntryAttrName) {
    if (!isa<FunctionOpInterface>(op))
      return emitWrongPlace(op, attribute, "functions");
    auto list = dyn_cast<ArrayAttr>(value);
    return verifyValue(op, attribute,
                       list &&
                           llvm::all_of(list, llvm::IsaPred<DictionaryAttr>),
                       "an array of dictionaries");
  }
  if (name == kPartSizeAttrName) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function || function.getNumArguments() < 2)
      return emitWrongPlace(op, attribute, "functions of two bounds");
    auto size = dyn_cast<IntegerAttr>(value);
    return verifyValue(op, attribute,
                       size && size.getType().isSignlessInteger(64) &&
                           size.getInt() > 0,
                       "a positive i64");
  }
  if (name == kEpilogueAttrName) {
    auto function = dyn_cast<StringAttr>(value);
    return verifyValue(op, attribute,
                       function && (function == "relu" || function == "gelu"),
                       "\"relu\" or \"gelu\"");
  }
  if (name == kPrecisionAttrName) {
    auto precision = dyn_cast<StringAttr>(value);
    return verifyValue(op, attribute, precision && precision == "tf32",
                       "\"tf32\"");
  }
  if (name == kArenaAttrName || name == kOverwritesAttrName ||
      name == kBiasAttrName || name == kReadsOnceAttrName)
    return verifyValue(op, attribute, isa<UnitAttr>(value), "no value");
  return emitUnknown(op, attribute,
                     {kEntryAttrName, kArenaAttrName, kOverwritesAttrName,
                      kBiasAttrName, kEpilogueAttrName, kPrecisionAttrName,
                      kReadsOnceAttrName, kPartSizeAttrName});
}

static bool isReorderedSum(Attribute value) {
  auto sum = dyn_cast<DictionaryAttr>(value);
  auto isNumber = [&](StringRef name) {
    auto number = sum.getAs<IntegerAttr>(name);
    return number && number.getType().isSignlessInteger(32);
  };
  return sum && isNumber("kind") && isNumber("members") &&
         sum.getAs<LocationAttr>("loc") && sum.getAs<StringAttr>("operation");
}

LogicalResult
BraidRTDialect::verifyOperationAttribute(Operation *op,
                                         NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  if (!isa<ModuleOp>(op))
    return emitWrongPlace(op, attribute, "modules");
  if (name == kTargetAttrName || name == kScheduleAttrName) {
    auto text = dyn_cast<StringAttr>(value);
    return verifyValue(op, attribute, text && !text.empty(),
                       "a string that is not empty");
  }
  if (name == kArenaBytesAttrName || name == kHostReadsAttrName ||
      name == kBufferAllocsAttrName || name == kConstantsAttrName) {
    auto number = dyn_cast<IntegerAttr>(value);
    return verifyValue(op, attribute,
                       number && number.getType().isSignlessInteger(64) &&
                           number.getInt() >= 0,
                       "an i64 that is not negative");
  }
  if (name == kNumericsAttrName) {
    auto sums = dyn_cast<ArrayAttr>(value);
    return verifyValue(op, attribute,
                       sums && llvm::all_of(sums, isReorderedSum),
                       "an array of dictionaries of 'kind' and 'members' "
                       "(i32), 'loc' and 'operation'");
  }
  return emitUnknown(op, attribute,
                     {kTargetAttrName, kScheduleAttrName, kArenaBytesAttrName,
                      kHostReadsAttrName, kBufferAllocsAttrName,
                      kNumericsAttrName, kConstantsAttrName});
}
