//===- RecordNumerics.cpp - Sums in another order than as written ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecordNumerics.h"

#include "../Support/ProgramAttributes.h"
#include "braid-rt/Numerics.h"
#include "braid/Analysis/Structure/ReorderedSums.h"
#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

namespace braid {
#define GEN_PASS_DEF_HASHSCHEDULEPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

static DictionaryAttr describeSum(Builder &builder, const ReorderedSum &sum) {
  bool isCollective = sum.kind == SumKind::Collective;
  NamedAttrList fields;
  fields.set("kind",
             builder.getI32IntegerAttr(isCollective ? BRAID_RT_SUM_OF_MEMBERS
                                                    : BRAID_RT_SUM_IN_MATMUL));
  fields.set("loc", LocationAttr(sum.loc));
  fields.set("operation", builder.getStringAttr(sum.operation));
  fields.set("members",
             builder.getI32IntegerAttr(static_cast<int32_t>(sum.members)));
  if (!sum.divided.empty())
    fields.set("divided", builder.getStringAttr(sum.divided));
  if (!sum.planned.empty())
    fields.set("planned", builder.getStringAttr(sum.planned));
  if (sum.element)
    fields.set("element", TypeAttr::get(sum.element));
  return fields.getDictionary(builder.getContext());
}

/// Records the sums of `module` that may have another order than in the program
/// as written, as `braid_rt.numerics` of the module. Runs after scheduling,
/// before the lowering.
static void recordNumerics(ModuleOp module) {
  Builder builder(module.getContext());
  SmallVector<Attribute> sums;
  for (const ReorderedSum &sum : findReorderedSums(module))
    sums.push_back(describeSum(builder, sum));
  module->setAttr(kNumericsAttrName, builder.getArrayAttr(sums));
}

/// True for elements whose matmuls OpenBLAS computes; loops of the compiler
/// compute others, in one order.
static bool isInHostLibrary(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  return element.isF32() || element.isF64();
}

RecordedSum braid::readNumerics(DictionaryAttr sum, bool isOnHost) {
  auto getText = [&](StringRef name) {
    auto text = sum.getAs<StringAttr>(name);
    return text ? text.getValue() : StringRef();
  };
  auto getNumber = [&](StringRef name) {
    return static_cast<int32_t>(sum.getAs<IntegerAttr>(name).getInt());
  };
  RecordedSum read{getText("operation"), getText("divided").str(),
                   sum.getAs<LocationAttr>("loc"), getNumber("kind"),
                   getNumber("members")};
  auto element = sum.getAs<TypeAttr>("element");
  if (isOnHost) {
    if (element && !isInHostLibrary(element.getValue()))
      read.reason.clear();
    return read;
  }
  if (StringRef planned = getText("planned"); !planned.empty())
    read.reason += ((read.reason.empty() ? "" : "; ") + planned).str();
  return read;
}

namespace {

struct HashSchedulePass
    : public braid::impl::HashSchedulePassBase<HashSchedulePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    markAllAnalysesPreserved();
    if (!module->hasAttr(comm::CommDialect::kMpmdAttrName))
      recordHash(module);
    recordNumerics(module);
  }

  void recordHash(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    // The generic form does not depend on how ops name their results.
    module->print(stream,
                  OpPrintingFlags().useLocalScope().printGenericOpForm());
    uint64_t hash = llvm::xxh3_64bits(text);
    module->setAttr(
        kScheduleAttrName,
        StringAttr::get(&getContext(), llvm::formatv("{0:x-16}", hash).str()));
  }
};

} // namespace
