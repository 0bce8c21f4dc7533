//===- WaitSets.h - Which collectives ops depend on -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_WAITSETS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_WAITSETS_H

#include "mlir/IR/Operation.h"

#include <map>
#include <vector>

namespace braid::comm {

/// Numbers the sets of waits that values depend on. Equal sets have equal
/// numbers, and unions are cached.
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
  unsigned intern(std::vector<unsigned> members);

  llvm::DenseMap<mlir::Operation *, unsigned> setOf, singletons;
  std::vector<std::vector<unsigned>> sets;
  std::map<std::vector<unsigned>, unsigned> numbers;
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> unions;
  unsigned nextWait = 0;
};

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_WAITSETS_H
