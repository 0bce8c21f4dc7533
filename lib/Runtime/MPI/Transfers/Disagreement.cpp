//===- Disagreement.cpp - Members that start different operations ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "MPI/Transfers/MPICommunicator.h"

#include <algorithm>

using namespace braid::rt;

/// The most bytes of each text of a status.
static constexpr int64_t textBytes = 8 * 1024;

/// The status of a member that has started only this operation.
static std::string describeMember(const Transfer &transfer) {
  RankStatus status;
  status.rank = transfer.communicator.spec.ranks[transfer.member()];
  status.ended = transfer.invocation - 1;
  OpenOperation &operation = status.open.emplace_back(transfer.describe());
  for (std::string *text : {&operation.group, &operation.text})
    text->resize(std::min(text->size(), static_cast<size_t>(textBytes)));
  operation.sent = transfer.operation.sourceSplits;
  operation.expected = transfer.operation.destinationSplits;
  return toBytes(status);
}

/// Throws the error; `all` has the statuses, each of `length` bytes.
[[noreturn]] static void refuse(Transfer &transfer, const std::string &all,
                                size_t length) {
  Statuses statuses;
  for (size_t begin = 0; begin < all.size(); begin += length) {
    std::string bytes = all.substr(begin, length);
    auto status = Reader(bytes).get<RankStatus>();
    statuses[status.rank] = std::move(status);
  }
  transfer.state.store(Transfer::Refused);
  throw Error(findProblem(statuses).value().text);
}

void braid::rt::planDisagreement(Transfer &transfer) {
  bool isMessage = transfer.queue.isMessages(), sends = transfer.queue.sends;
  std::string own = describeMember(transfer);
  // Equal on all members, and enough for the numbers and lists of a status.
  auto length =
      static_cast<size_t>(2 * textBytes + 1024 + 32 * transfer.groupSize());
  auto self = static_cast<size_t>(isMessage ? !sends : transfer.member());
  auto all =
      std::make_shared<std::string>(length * transfer.members().size(), '\0');
  all->replace(self * length, own.size(), own);
  int64_t peer = transfer.queue.peer;
  auto issue = [=](MPI_Comm comm, Requests &requests) {
    if (isMessage)
      return exchangeWith(comm, peer, all->data() + self * length,
                          sends ? TextOfSender : TextOfReceiver,
                          all->data() + (1 - self) * length,
                          sends ? TextOfReceiver : TextOfSender,
                          static_cast<int64_t>(length), requests);
    CHECK_MPI(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all->data(),
                             static_cast<int>(length), MPI_BYTE, comm,
                             addRequest(requests)));
  };
  transfer.add({issue, [=, &transfer]() { refuse(transfer, *all, length); }});
}
