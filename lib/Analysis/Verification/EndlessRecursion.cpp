//===- EndlessRecursion.cpp - Functions that never return -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramChecks.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace braid;
using namespace mlir;

namespace {

/// The functions of a module that never return because every path calls such a
/// function again.
class EndlessFunctions {
public:
  EndlessFunctions(ModuleOp module, SymbolTableCollection &symbolTables)
      : symbolTables(symbolTables) {
    module->walk([&](FunctionOpInterface function) {
      if (!function.isExternal())
        endless.insert(function);
    });
    // The largest set whose functions all call functions of the set. When a
    // function leaves the set, its callers are checked again.
    SmallVector<FunctionOpInterface> next(endless.begin(), endless.end());
    DenseMap<Operation *, SmallVector<FunctionOpInterface>> kept;
    while (!next.empty()) {
      FunctionOpInterface function = next.pop_back_val();
      if (CallOpInterface call = getNextCall(function)) {
        kept[getCallee(call)].push_back(function);
        continue;
      }
      endless.remove(function);
      next.append(kept[function]);
    }
  }

  ArrayRef<FunctionOpInterface> get() const { return endless.getArrayRef(); }

  /// The first call of an endless function in `function`, which is endless.
  CallOpInterface getNextCall(FunctionOpInterface function) {
    return findSureCall(function.getFunctionBody());
  }

  FunctionOpInterface getCallee(CallOpInterface call) {
    return dyn_cast_if_present<FunctionOpInterface>(
        call.resolveCallableInTable(&symbolTables));
  }

private:
  /// A call of an endless function that `op` always runs, whatever its operands
  /// are; null if there is none.
  CallOpInterface findSureCall(Operation *op) {
    if (auto call = dyn_cast<CallOpInterface>(op)) {
      FunctionOpInterface callee = getCallee(call);
      return callee && endless.contains(callee) ? call : CallOpInterface();
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (branch.getElseRegion().empty() ||
          !findSureCall(branch.getElseRegion()))
        return {};
      return findSureCall(branch.getThenRegion());
    }
    if (auto body = dyn_cast<scf::ExecuteRegionOp>(op))
      return findSureCall(body.getRegion());
    return {};
  }

  /// The same for the ops of `block`.
  CallOpInterface findSureCall(Block &block) {
    for (Operation &op : block)
      if (CallOpInterface call = findSureCall(&op))
        return call;
    return {};
  }

  /// The same for all paths from the entry of `region`. Null if a path leaves
  /// the region, or loops, without such a call.
  CallOpInterface findSureCall(Region &region) {
    if (region.empty())
      return {};
    llvm::MapVector<Block *, unsigned> numWays;
    CallOpInterface first;
    return allPathsCall(&region.front(), numWays, first) ? first
                                                         : CallOpInterface();
  }

  /// True if every path from `block` reaches such a call. `states` marks the
  /// blocks of the current path, and those from which every path does.
  bool allPathsCall(Block *block, llvm::MapVector<Block *, unsigned> &states,
                    CallOpInterface &first) {
    enum : unsigned { OnPath = 1, Calls = 2 };
    if (CallOpInterface call = findSureCall(*block)) {
      if (!first)
        first = call;
      return true;
    }
    auto [it, isNew] = states.insert({block, OnPath});
    if (!isNew)
      return it->second == Calls;
    if (block->getNumSuccessors() == 0)
      return false;
    for (Block *next : block->getSuccessors())
      if (!allPathsCall(next, states, first))
        return false;
    states[block] = Calls;
    return true;
  }

  SymbolTableCollection &symbolTables;
  llvm::SetVector<FunctionOpInterface> endless;
};

} // namespace

void braid::findEndlessRecursion(ModuleOp module,
                                 SymbolTableCollection &symbolTables,
                                 Findings &findings) {
  EndlessFunctions functions(module, symbolTables);
  llvm::DenseSet<Operation *> seen;
  for (FunctionOpInterface function : functions.get()) {
    // Every walk along the calls ends in a cycle, maybe in a known one.
    llvm::MapVector<Operation *, CallOpInterface> walk;
    while (!walk.contains(function) && !seen.contains(function)) {
      CallOpInterface call = functions.getNextCall(function);
      walk.insert({function, call});
      function = functions.getCallee(call);
    }
    if (walk.contains(function)) {
      Finding finding = {walk.lookup(function), "", {}};
      std::string names;
      bool isInCycle = false;
      for (auto &[caller, call] : walk) {
        isInCycle |= caller == function.getOperation();
        if (!isInCycle)
          continue;
        names += (names.empty() ? "@" : " calls @") +
                 cast<FunctionOpInterface>(caller).getName().str();
        if (call != finding.op)
          finding.notes.push_back(
              {call->getLoc(), "the next call of the cycle"});
      }
      finding.text = "is recursion without an end: on every path " + names +
                     " calls @" + function.getName().str() +
                     ", expected a path that returns";
      findings.add(std::move(finding));
    }
    for (auto &[caller, call] : walk)
      seen.insert(caller);
  }
}
