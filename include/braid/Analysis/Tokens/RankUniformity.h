//===- RankUniformity.h - What all ranks do alike ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_ANALYSIS_TOKENS_RANKUNIFORMITY_H
#define BRAID_ANALYSIS_TOKENS_RANKUNIFORMITY_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"

namespace braid {

/// True if `value` is known to be the same on all ranks: constants, the size of
/// a group whose lists have one length, the induction variables of loops that
/// all ranks run equally often, what gathers, broadcasts and reductions of
/// integers give all ranks, and what is computed from these alone without
/// effects: by ops, by the bodies of linalg ops, in conditions that are uniform
/// and from one iteration of a loop to the next one. Arguments and the contents
/// of memory may differ.
bool isUniform(mlir::Value value);

/// Tells where the order of collectives may be chosen freely: in blocks that
/// all ranks of a group reach with the same text around them, so that one order
/// is the same on all of them. Where ranks may take different paths, a rank on
/// one meets a rank on the other in the same collective, and both texts have to
/// keep the order that they were written in.
///
/// The callers of functions are collected when the first question needs them;
/// they must not change afterwards.
class RankUniformity {
public:
  /// `root`: what a pass may look into. The callers of a private function are
  /// known if it is a module.
  explicit RankUniformity(mlir::Operation *root);

  /// From now on `copy`, which nothing calls, is entered as `function` is.
  void addCopy(mlir::Operation *copy, mlir::Operation *function);

  /// True if all ranks that run `block` reach it in the same program: no module
  /// around it is `comm.mpmd`, all conditions and loop bounds up to the
  /// function are uniform, and so are those around all known calls of the
  /// function. Public functions are taken to be called by all ranks together; a
  /// private function whose callers are not known is not.
  bool areReachedTogether(mlir::Block &block);

private:
  /// The same up to the function around `block`, whoever enters that one;
  /// `function` is null if there is none.
  static bool areReachedTogetherWithin(mlir::Block &block,
                                       mlir::Operation *&function);
  bool areEnteredTogether(mlir::Operation *function);
  /// Finds the functions that ranks may enter differently.
  void collectUsers();

  mlir::Operation *root;
  bool knowsCallers;
  bool hasUsers = false;
  llvm::DenseSet<mlir::Operation *> enteredApart;
};

} // namespace braid

#endif // BRAID_ANALYSIS_TOKENS_RANKUNIFORMITY_H
