//===- SeparateEntries.cpp - Entry points that the program calls ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"

namespace braid {
#define GEN_PASS_DEF_SEPARATEENTRIESPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

/// Moves the body of the public function `function`, which the program also
/// calls, to a private function, so that the entry point can get a signature of
/// its own.
static void separateBody(func::FuncOp function, SymbolTable &symbols) {
  auto body = cast<func::FuncOp>(function->clone());
  body.setPrivate();
  body.setName((function.getName() + "_body").str());
  symbols.insert(body, std::next(function->getIterator()));
  (void)SymbolTable::replaceAllSymbolUses(
      function.getNameAttr(), body.getNameAttr(), function->getParentOp());
  for (unsigned index = 0; index < body.getNumArguments(); ++index)
    body.removeArgAttr(index, comm::CommDialect::kDonatedAttrName);
  // The entry point calls the private function, too.
  Region old;
  old.takeBody(function.getBody());
  Block *entry = function.addEntryBlock();
  auto builder = OpBuilder::atBlockEnd(entry);
  auto call = func::CallOp::create(builder, function.getLoc(), body,
                                   entry->getArguments());
  func::ReturnOp::create(builder, function.getLoc(), call.getResults());
}

namespace {
// Not a structural pass: communication moves to another function as a whole.
struct SeparateEntriesPass
    : public braid::impl::SeparateEntriesPassBase<SeparateEntriesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    llvm::DenseSet<StringAttr> called;
    module.walk([&](CallOpInterface call) {
      if (auto callee = dyn_cast<SymbolRefAttr>(call.getCallableForCallee()))
        called.insert(callee.getRootReference());
    });
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function.isPublic() && !function.isExternal() &&
          called.contains(function.getSymNameAttr()))
        separateBody(function, symbols);
  }
};
} // namespace
