//===- SmallData.h - Data in a hello ----------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_TRANSFERS_SMALLDATA_H
#define BRAID_RUNTIME_MPI_TRANSFERS_SMALLDATA_H

#include <cstdint>
#include <optional>
#include <vector>

namespace braid::rt {

class Transfer;

/// The most data in a hello. MPI libraries send a message of this size without
/// a handshake.
constexpr int64_t mostSmallBytes = 3832;

/// The most bytes that one member sends another one; nothing if the operation
/// is too large for hellos. Equal on all members that agree.
std::optional<int64_t> smallDataBytes(const Transfer &transfer);

/// Copies the data for a member. Returns their size.
int64_t packSmallData(const Transfer &transfer, int64_t member, char *to);

/// Finishes the operation with the data from each member. The entry of `from`
/// for this member is null.
void deliverSmallData(const Transfer &transfer,
                      const std::vector<const char *> &from);

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_TRANSFERS_SMALLDATA_H
