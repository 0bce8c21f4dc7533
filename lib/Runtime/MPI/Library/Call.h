//===- Call.h - Calls of the MPI library ------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_LIBRARY_CALL_H
#define BRAID_RUNTIME_MPI_LIBRARY_CALL_H

#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <utility>
#include <vector>

namespace braid::rt {

/// Throws an Error with the library's text for `code`, which the function
/// `call` has returned.
[[noreturn]] void failMPI(int code, const char *call);

/// Throws an Error unless the function `call` has returned MPI_SUCCESS.
inline void checkMPI(int code, const char *call) {
  if (code != MPI_SUCCESS)
    failMPI(code, call);
}

/// The native type of an element type in a reduction, or MPI_DATATYPE_NULL.
MPI_Datatype nativeType(int32_t dtype, int32_t reduction);

/// The native operator of a reduction of an element type, MPI_OP_NULL if no
/// operator keeps the contract: MPI does not define min and max of NaNs, sums
/// of small integers may not wrap around, and MPI has no 16- and 8-bit floats.
/// premul_sum and avg are sums of scaled operands and divided sums.
MPI_Op nativeOperator(int32_t dtype, int32_t reduction);

/// The most bytes of one message: counts are ints.
constexpr int64_t mostMessageBytes = int64_t(1) << 30;

/// The most bytes that one collective moves: displacements are ints.
constexpr int64_t mostCallBytes = (int64_t(1) << 31) - 1;

/// Tags on the data communicators.
enum Tag {
  HandshakeOfMember, ///< The handshake of a collective.
  HandshakeOfSender,
  HandshakeOfReceiver,
  TextOfSender,
  TextOfReceiver,
  MessageData,   ///< The data of send and recv.
  CollectiveData ///< The first tag of collectives that consist of messages.
};

/// The handles of calls under way. Receives of messages come first.
struct Requests : std::vector<MPI_Request> {
  std::size_t receives = 0;
  int tag = CollectiveData; ///< The default tag of messages.

  /// Makes room for the handle that is added next.
  void makeRoom() {
    if (empty())
      reserve(16);
  }
  void clear() {
    std::vector<MPI_Request>::clear();
    receives = 0;
  }
};

/// Whether all calls are complete.
bool testAll(Requests &requests);

/// Cancels the receives. Returns true if the library will not write to their
/// buffers. The library cannot cancel a receive whose data are in transit.
bool cancelReceives(Requests &requests);

/// Adds one message to or from a member.
void sendMessage(MPI_Comm comm, int64_t member, const char *source,
                 int64_t bytes, Requests &requests, int tag);
void receiveMessage(MPI_Comm comm, int64_t member, char *destination,
                    int64_t mostBytes, Requests &requests, int tag);

/// Adds the messages that carry `bytes` to or from a member. Messages between
/// two members match in the order of these calls. A receive may fetch the data
/// at once, so callers send first.
void sendTo(MPI_Comm comm, int64_t member, const char *source, int64_t bytes,
            Requests &requests, int tag);
void receiveFrom(MPI_Comm comm, int64_t member, char *destination,
                 int64_t bytes, Requests &requests, int tag);
inline void sendTo(MPI_Comm comm, int64_t member, const char *source,
                   int64_t bytes, Requests &requests) {
  sendTo(comm, member, source, bytes, requests, requests.tag);
}
inline void receiveFrom(MPI_Comm comm, int64_t member, char *destination,
                        int64_t bytes, Requests &requests) {
  receiveFrom(comm, member, destination, bytes, requests, requests.tag);
}

/// Sends the memory `sent(m)` to each member m of `size` but `self`, and
/// receives into `received(m)`: pairs of an address and bytes, 0 for nothing.
template <typename SentT, typename ReceivedT>
void exchange(MPI_Comm comm, int64_t size, int64_t self, SentT sent,
              ReceivedT received, Requests &requests) {
  for (int64_t m = 0; m < size; ++m) {
    if (m == self)
      continue;
    auto [source, sentBytes] = sent(m);
    sendTo(comm, m, source, sentBytes, requests);
    auto [destination, receivedBytes] = received(m);
    receiveFrom(comm, m, destination, receivedBytes, requests);
  }
}

/// Adds a handle, which the caller passes to a call.
inline MPI_Request *addRequest(Requests &requests) {
  requests.makeRoom();
  requests.push_back(MPI_REQUEST_NULL);
  return &requests.back();
}

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_LIBRARY_CALL_H
