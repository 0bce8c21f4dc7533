//===- HashSchedule.cpp - The hash and numerics of a schedule -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/ProgramAttributes.h"
#include "RecordNumerics.h"
#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

namespace braid {
#define GEN_PASS_DEF_HASHSCHEDULEPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

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
