//===- CollectiveKind.h - Kinds of collectives ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of braid-rt/Collectives.def, as the compiler names them.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_COLLECTIVEKIND_H
#define BRAID_DIALECT_COMM_IR_COLLECTIVEKIND_H

#include "braid-rt/CollectiveTraits.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace braid::comm {

/// What a collective does. Its values are the numbers of the runtime's ABI.
enum class CollectiveKind : int32_t {
#define BRAID_RT_COLLECTIVE(NAME, name, shape, flow, ring, root, dim, inPlace) \
  name = BRAID_RT_##NAME,
#include "braid-rt/Collectives.def"
};

using CollectiveTraits = braid_rt_collective_traits;

/// The row of `kind` in the table of collectives.
inline const CollectiveTraits &getTraits(CollectiveKind kind) {
  return *braid_rt_get_traits(static_cast<int32_t>(kind));
}

/// The name of `kind` as the dialect spells it: `all_reduce`.
inline llvm::StringRef stringifyCollectiveKind(CollectiveKind kind) {
  return getTraits(kind).name;
}

constexpr uint32_t getMaxEnumValForCollectiveKind() {
  return BRAID_RT_KIND_COUNT - 1;
}

/// The kind that the dialect spells `name`, if there is one.
inline std::optional<CollectiveKind>
symbolizeCollectiveKind(llvm::StringRef name) {
  for (uint32_t i = 0; i <= getMaxEnumValForCollectiveKind(); ++i)
    if (auto kind = static_cast<CollectiveKind>(i);
        stringifyCollectiveKind(kind) == name)
      return kind;
  return std::nullopt;
}

} // namespace braid::comm

#endif // BRAID_DIALECT_COMM_IR_COLLECTIVEKIND_H
