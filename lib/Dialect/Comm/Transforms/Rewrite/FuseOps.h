//===- FuseOps.h - Fusions of linalg ops ------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_FUSEOPS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_FUSEOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Operation.h"

#include <utility>
#include <vector>

namespace braid::comm {

/// Numbers the sets of waits that values depend on. Equal sets have equal
/// numbers: a set is a binary tree over the numbers of the waits, whose equal
/// subtrees are one, and unions are cached. A chain that adds wait after wait
/// needs a few subtrees for each.
class WaitSets {
public:
  explicit WaitSets(mlir::Operation *root);

  unsigned lookup(mlir::Operation *op) const { return setOf.lookup(op); }
  void assign(mlir::Operation *op, unsigned set) { setOf[op] = set; }

private:
  /// The set of an op: the union over its operands and captured values, and the
  /// op itself if it is a wait.
  unsigned compute(mlir::Operation *op);
  unsigned getSingleton(mlir::Operation *wait);
  unsigned unite(unsigned a, unsigned b);
  /// The tree of two halves, the lower and the higher numbers.
  unsigned getSet(unsigned low, unsigned high);

  /// The empty tree of each level, and the tree of one wait on the last level.
  static constexpr unsigned kEmpty = 0, kWait = 1;

  llvm::DenseMap<mlir::Operation *, unsigned> setOf, singletons;
  /// The halves of each tree, and the trees by their halves.
  std::vector<std::pair<unsigned, unsigned>> halves = {{}, {}};
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> numbers, unions;
  unsigned depth = 0, nextWait = 0;
};

/// What siblings are merged.
enum class Siblings {
  /// Reductions, which then read a tensor once.
  Reductions,
  /// Elementwise ops with results so small that the launches of their kernels
  /// take most of their time.
  SmallElementwise
};

/// Merges ops under `root` that run over the same elements of a tensor into one
/// op with all their results. Neither depends on the other, and both wait for
/// the same waits in `sets`, which learns of the new ops. If `mayReduceParts`,
/// a reduction of more dimensions than another one combines parts from the
/// results of the merged op. Returns the number of merged pairs.
int64_t fuseSiblings(mlir::RewriterBase &rewriter, WaitSets &sets,
                     mlir::Operation *root, Siblings siblings,
                     bool mayReduceParts);

/// Fuses elementwise producers under `root` into their consumers, also such
/// that the fused op has the results of both if `mayKeep`. Returns the number
/// of fused producers.
int64_t fuseProducers(mlir::RewriterBase &rewriter, WaitSets &sets,
                      mlir::Operation *root, int64_t opsPerByte, bool mayKeep);

/// Computes each value of the body of `op` once.
void computeOnce(mlir::RewriterBase &rewriter, mlir::Operation *op);

/// Merges the inputs of `op` that read the same elements of the same tensor.
/// Each input that a producer is fused into gets a copy of its body, so a chain
/// of ops that read a tensor twice would double its body at each link.
void mergeEqualInputs(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_FUSEOPS_H
