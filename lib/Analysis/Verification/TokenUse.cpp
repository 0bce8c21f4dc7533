//===- TokenUse.cpp - The waits of each token on one path -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TokenUse.h"

#include "mlir/IR/Block.h"

using namespace braid;
using namespace mlir;

unsigned TokenUse::add(Value value, std::optional<unsigned> operation,
                       unsigned index) {
  tokens.push_back({value, operation, index});
  return tokens.size() - 1;
}

bool TokenUse::await(unsigned number, Operation *wait) {
  Token &token = tokens[number];
  if (token.isForgotten)
    return false;
  if (!token.wait && !token.isHandedOut) {
    token.wait = wait;
    return true;
  }
  Finding finding = {wait, token.wait
                               ? "awaits an operation a second time, expected "
                                 "one wait of each token on every path"
                               : "awaits an operation whose token was handed "
                                 "out, expected one wait of each token on "
                                 "every path"};
  finding.notes.push_back(
      {token.value.getLoc(), token.operation ? "the operation starts here"
                                             : "the token comes from here"});
  if (token.wait)
    finding.notes.push_back({token.wait->getLoc(), "the first wait is here"});
  findings.add(std::move(finding));
  return false;
}

void TokenUse::handOut(unsigned number, Operation *user) {
  Token &token = tokens[number];
  if (token.isForgotten)
    return;
  if (!token.wait && !token.isHandedOut) {
    token.isHandedOut = true;
    return;
  }
  Finding finding = {user,
                     "hands out a token that has been " +
                         std::string(token.wait ? "awaited" : "handed out") +
                         ", expected one wait of each token on every path"};
  finding.notes.push_back({token.value.getLoc(), "the token comes from here"});
  if (token.wait)
    finding.notes.push_back({token.wait->getLoc(), "the first wait is here"});
  findings.add(std::move(finding));
}

void TokenUse::finish(ArrayRef<Finding::Note> notes) {
  for (Token &token : tokens) {
    if (token.wait || token.isHandedOut || token.isForgotten)
      continue;
    Operation *op = token.value.getDefiningOp();
    bool isArgument = !op;
    if (isArgument)
      op = token.value.getParentBlock()->getParentOp();
    std::string name = "token";
    if (isArgument)
      name += " argument #" +
              std::to_string(cast<BlockArgument>(token.value).getArgNumber());
    else if (op->getNumResults() > 1)
      name +=
          " #" + std::to_string(cast<OpResult>(token.value).getResultNumber());
    Finding finding = {op, "has a " + name + " without a wait" +
                               (notes.empty() ? "" : " on a path") +
                               ", expected one wait of each token on every "
                               "path"};
    finding.notes.append(notes.begin(), notes.end());
    findings.add(std::move(finding));
  }
}
