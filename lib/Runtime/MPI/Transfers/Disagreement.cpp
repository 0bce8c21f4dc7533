//===- Disagreement.cpp - Members that start different operations ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Error.h"
#include "MPI/Transfers/MPICommunicator.h"
#include "Operations/Messages.h"

#include <algorithm>

using namespace braid::rt;

namespace {
/// What each member sends. A longer text of the operation is cut.
struct Statement {
  uint64_t hash;
  int64_t invocation;
  char operation[16 * 1024];
};
using Statements = std::vector<Statement>;
} // namespace

/// Throws the error.
[[noreturn]] static void refuse(Transfer &transfer,
                                const Statements &statements,
                                const std::optional<Difference> &found) {
  std::vector<int32_t> ranks = transfer.members();
  Match match = transfer.describe().describeMatch();
  transfer.state.store(Transfer::Refused);
  // A rank in an older invocation waits for ranks that have ended it.
  auto [oldest, newest] =
      std::minmax_element(statements.begin(), statements.end(),
                          [](const Statement &a, const Statement &b) {
                            return a.invocation < b.invocation;
                          });
  if (!found && oldest->invocation != newest->invocation)
    throw Error(describeDeparted(ranks[newest - statements.begin()], match) +
                "; " +
                describeWaiting({ranks[oldest - statements.begin()]},
                                oldest->operation));
  int64_t first = 0, second = 0;
  if (found)
    first = found->first, second = found->second;
  else
    while (statements[second].hash == statements[first].hash)
      ++second;
  throw Error(describeDisagreement(match, ranks[first],
                                   statements[first].operation, ranks[second],
                                   statements[second].operation) +
              (found ? found->text : ""));
}

void braid::rt::planDisagreement(Transfer &transfer,
                                 const std::optional<Difference> &found) {
  auto all = std::make_shared<Statements>(transfer.members().size());
  bool isMessage = transfer.queue.isMessages(), sends = transfer.queue.sends;
  int64_t self = isMessage ? !sends : transfer.member();
  Statement &own = (*all)[self];
  own.hash = transfer.hash;
  own.invocation = transfer.invocation;
  std::string text = describeOperation(transfer.operation);
  text.copy(own.operation, sizeof(own.operation) - 1);
  int64_t peer = transfer.queue.peer;
  auto issue = [=](MPI_Comm comm, Requests &requests) {
    if (isMessage)
      return exchangeWith(comm, peer, &(*all)[self],
                          sends ? TextOfSender : TextOfReceiver, &(*all)[!self],
                          sends ? TextOfReceiver : TextOfSender,
                          sizeof(Statement), requests);
    checkMPI(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all->data(),
                            sizeof(Statement), MPI_BYTE, comm,
                            addRequest(requests)),
             "MPI_Iallgather");
  };
  transfer.add({issue, [=, &transfer]() { refuse(transfer, *all, found); }});
}
