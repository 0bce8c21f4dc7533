//===- Call.h - Calls of the MPI library ------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_LIBRARY_CALL_H
#define BRAID_RUNTIME_MPI_LIBRARY_CALL_H

#include <cstdint>
#include <memory>
#include <mpi.h>
#include <string>
#include <vector>

namespace braid::rt {

/// Throws an Error with the library's text for `code`, which the call has
/// returned whose source text is `call`.
[[noreturn]] void failMPI(int code, const std::string &call);

/// Throws an Error with the name of the function unless CALL, a call of the MPI
/// library, returns MPI_SUCCESS.
#define CHECK_MPI(CALL)                                                        \
  do {                                                                         \
    if (int code = (CALL); code != MPI_SUCCESS)                                \
      failMPI(code, #CALL);                                                    \
  } while (false)

/// The native type of an element type in a reduction, or MPI_DATATYPE_NULL.
MPI_Datatype nativeType(int32_t dtype, int32_t reduction);

/// The native operator of a reduction of an element type, MPI_OP_NULL if no
/// operator keeps the contract: MPI does not define min and max of NaNs, sums
/// of small integers may not wrap around, and MPI has no 16- and 8-bit floats.
/// premul_sum and avg are sums of scaled operands and divided sums.
MPI_Op nativeOperator(int32_t dtype, int32_t reduction);

/// Tags of messages.
enum Tag {
  HashOfSender,
  HashOfReceiver,
  TextOfSender,
  TextOfReceiver,
  MessageData,   ///< The data of send and recv.
  CollectiveData ///< Of collectives that consist of messages.
};

/// The handles of calls under way.
struct Requests : std::vector<MPI_Request> {
  /// What the calls refer to until they are complete: types, lists of counts.
  std::vector<std::shared_ptr<const void>> kept;
};

/// Adds a handle, which the caller passes to a call.
inline MPI_Request *addRequest(Requests &requests) {
  requests.push_back(MPI_REQUEST_NULL);
  return &requests.back();
}

/// Whether all calls are complete. If so, `requests` is empty.
bool testAll(Requests &requests);

/// Sends `bytes` of `own` to a member, and receives as many from it.
void exchangeWith(MPI_Comm comm, int64_t member, const void *own, Tag ownTag,
                  void *other, Tag otherTag, int64_t bytes, Requests &requests);

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_LIBRARY_CALL_H
