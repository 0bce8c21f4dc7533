//===- CollectiveValues.h - What collectives give each rank -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_VERIFICATION_VALUES_COLLECTIVEVALUES_H
#define BRAID_LIB_ANALYSIS_VERIFICATION_VALUES_COLLECTIVEVALUES_H

#include "RankTrace.h"

#include <map>

namespace braid {

/// The elements of the values of collectives on each rank, as far as the
/// operands of all members tell them. The ranks of a path are followed one
/// after the other, so the operands of one pass over the ranks give the values
/// of the next pass, until no more changes: operands depend on earlier values
/// alone.
class CollectiveValues {
public:
  /// The elements of value number `index` of operation number `operation` of
  /// `rank`, which is `op`; null if nothing is known of them.
  const std::vector<PathValue> *get(int64_t rank, unsigned operation,
                                    unsigned index, mlir::Operation *op) const;

  /// Takes the operands of `traces`, one for each rank. Returns false if all
  /// values stay as they are.
  bool update(llvm::ArrayRef<const RankTrace *> traces);

  /// Forgets all values, and that more could become known.
  void close();
  bool isClosed() const { return closed; }

private:
  struct Known {
    mlir::Operation *op;
    std::vector<PathValue> elements;
  };
  using Key = std::tuple<int64_t, unsigned, unsigned>;
  using Table = std::map<Key, Known>;
  /// An operation of a rank.
  struct Member {
    unsigned rank;
    unsigned operation;
  };
  static void addValues(llvm::ArrayRef<const RankTrace *> traces,
                        llvm::ArrayRef<Member> matched, unsigned position,
                        Table &table);

  Table values;
  bool closed = false;
};

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_VERIFICATION_VALUES_COLLECTIVEVALUES_H
