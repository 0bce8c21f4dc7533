//===- TokenUse.h - The waits of each token on one path ------- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_VERIFICATION_TOKENUSE_H
#define BRAID_LIB_ANALYSIS_VERIFICATION_TOKENUSE_H

#include "Findings.h"

#include "mlir/IR/Value.h"

#include <optional>
#include <vector>

namespace braid {

/// Follows the tokens of one rank on one path: each has one wait.
class TokenUse {
public:
  struct Token {
    /// The result of a start, or where the token comes into the program.
    mlir::Value value;
    /// The started operation and its token; none for a token that comes from
    /// elsewhere.
    std::optional<unsigned> operation;
    unsigned index = 0;
    mlir::Operation *wait = nullptr;
    /// Something outside of the program has to await the token.
    bool isHandedOut = false;
    /// Something may or may not await the token: nothing is found about it.
    bool isForgotten = false;
  };

  explicit TokenUse(Findings &findings) : findings(findings) {}

  /// Adds a token and returns its number.
  unsigned add(mlir::Value value, std::optional<unsigned> operation,
               unsigned index);
  /// `wait` awaits `token`. Returns false and adds a finding if that is wrong.
  bool await(unsigned token, mlir::Operation *wait);
  /// `user` hands `token` to something outside of the program.
  void handOut(unsigned token, mlir::Operation *user);
  /// From now on nothing is found about `token`.
  void forget(unsigned token) { tokens[token].isForgotten = true; }
  /// Finds the tokens that are lost at the end of the path, which `notes`
  /// describe.
  void finish(llvm::ArrayRef<Finding::Note> notes);

  const Token &get(unsigned token) const { return tokens[token]; }

private:
  Findings &findings;
  std::vector<Token> tokens;
};

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_VERIFICATION_TOKENUSE_H
