//===- SmallData.h - Data that travel with a hello --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_SMALLDATA_H
#define BRAID_RUNTIME_MPI_SMALLDATA_H

#include <cstdint>
#include <optional>
#include <vector>

namespace braid::rt {

class Transfer;

/// What travels with a hello at most: MPI libraries send the message at once.
constexpr int64_t mostSmallBytes = 3832;

/// What one member sends another one at most, nothing where the operation has
/// to be done in another way: equal on all members that agree.
std::optional<int64_t> smallDataBytes(const Transfer &transfer);

/// Copies what the member gets; gives its size.
int64_t packSmallData(const Transfer &transfer, int64_t member, char *to);

/// Finishes the operation with what each member has sent; `from` has nothing
/// for this one.
void deliverSmallData(const Transfer &transfer,
                      const std::vector<const char *> &from);

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_SMALLDATA_H
