//===- CommunicationValidation.cpp - What a pass did to communication -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionComparison.h"

#include "braid/Analysis/Memory/InFlightAccesses.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

/// Checks that no op below `root`, whose communication is `after`, accesses a
/// buffer in flight that did not do so before `pass`.
static LogicalResult validateAccesses(const CommunicationSummary &before,
                                      const CommunicationSummary &after,
                                      Operation *root, StringRef pass) {
  size_t numBefore = before.getAccessesInFlight().size();
  if (after.getAccessesInFlight().size() <= numBefore)
    return success();
  SmallVector<comm::InFlightAccess> accesses = comm::findInFlightAccesses(root);
  const auto *access = llvm::find_if(accesses, [&](const auto &other) {
    return !llvm::is_contained(before.getAccessesInFlight(),
                               other.op->getLoc());
  });
  if (access == accesses.end())
    access = &accesses.back();
  InFlightDiagnostic diagnostic =
      access->op->emitOpError()
      << access->verb << " a buffer that an operation in flight "
      << (access->isWritten ? "writes" : "reads") << " after " << pass
      << ", expected its wait before";
  diagnostic.attachNote(access->started) << "the operation starts here";
  return diagnostic;
}

/// `function` without communication.
static FunctionCommunication getSilent(const FunctionCommunication &function) {
  FunctionCommunication silent = {function.name, function.location, nullptr};
  silent.numTokens = silent.numArguments = function.numArguments;
  return silent;
}

LogicalResult braid::validateCommunication(const CommunicationSummary &before,
                                           const CommunicationSummary &after,
                                           Operation *root,
                                           const CommunicationRules &rules,
                                           StringRef pass) {
  RankUniformity uniformity(root);
  // Nested modules may have functions of one name.
  llvm::MapVector<StringAttr, SmallVector<const FunctionCommunication *, 1>>
      functions;
  for (const FunctionCommunication &function :
       llvm::reverse(after.getFunctions()))
    functions[function.name].push_back(&function);
  llvm::DenseSet<StringAttr> communicating;
  for (const FunctionCommunication &function : after.getFunctions())
    communicating.insert(function.name);
  auto compare = [&](const FunctionCommunication &from,
                     const FunctionCommunication &to) {
    return FunctionComparison(from, to, rules, uniformity, pass)
        .compare(
            [&](StringAttr callee) { return communicating.contains(callee); });
  };
  for (const FunctionCommunication &function : before.getFunctions()) {
    auto &found = functions[function.name];
    FunctionCommunication none = getSilent(function);
    if (failed(compare(function, found.empty() ? none : *found.pop_back_val())))
      return failure();
  }
  for (auto &[name, others] : functions)
    for (const FunctionCommunication *function : others)
      if (failed(compare(getSilent(*function), *function)))
        return failure();
  return validateAccesses(before, after, root, pass);
}
