//===- StructuralPass.cpp - Base of passes that replace ops ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Structure/StructuralPass.h"

#include "braid/Analysis/Structure/CommunicationSummary.h"

using namespace braid;
using namespace mlir;

static bool &getSetting() {
  static bool areValidated = true;
  return areValidated;
}

bool braid::arePassesValidated() { return getSetting(); }

void braid::setPassesValidated(bool areValidated) {
  getSetting() = areValidated;
}

LogicalResult braid::runValidated(Operation *root,
                                  const CommunicationRules &rules,
                                  StringRef pass, KnownCommunication &known,
                                  function_ref<LogicalResult()> transform) {
  if (!arePassesValidated())
    return transform();
  std::shared_ptr<const CommunicationSummary> before = std::move(known.summary);
  known.summary = nullptr;
  if (!before)
    before = std::make_shared<CommunicationSummary>(root);
  if (failed(transform()))
    return failure();
  auto after = std::make_shared<CommunicationSummary>(root);
  if (failed(validateCommunication(*before, *after, root, rules, pass)))
    return failure();
  known.summary = std::move(after);
  return success();
}
