//===- Disagreement.cpp - Members that start different operations ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Error.h"
#include "MPI/Transfers/MPICommunicator.h"
#include "MPI/Transfers/Transfer.h"
#include "Operations/Messages.h"

#include <algorithm>
#include <cstring>

using namespace braid::rt;

namespace {
/// The header before the text of a member's operation.
struct Header {
  uint64_t hash;
  int64_t invocation;
};
using Text = std::shared_ptr<std::string>;

/// The size of the texts of send and recv. Collectives agree on a size first.
constexpr size_t messageTextBytes = 16 * 1024;
} // namespace

static Text makeText(const Transfer &transfer) {
  Header header = {transfer.signatureHash(), transfer.invocation};
  auto text = std::make_shared<std::string>(
      reinterpret_cast<const char *>(&header), sizeof(header));
  *text += describeOperation(transfer.operation);
  return text;
}

static Header headerOf(const char *text) {
  Header header;
  std::memcpy(&header, text, sizeof(header));
  return header;
}

/// Throws the error; `texts` are of equal length, padded with zeros.
[[noreturn]] static void refuse(Transfer &transfer, const std::string &texts,
                                const std::function<std::string()> &explain,
                                int64_t first, int64_t second) {
  std::vector<int32_t> ranks = transfer.members();
  size_t length = texts.size() / ranks.size();
  auto textOf = [&](int64_t i) {
    const char *text = texts.data() + static_cast<size_t>(i) * length;
    size_t most = length - sizeof(Header);
    return std::string(text + sizeof(Header),
                       strnlen(text + sizeof(Header), most));
  };
  Match match = {transfer.communicator.spec.name, transfer.queue.isMessages(),
                 transfer.number};
  if (first < 0) {
    // A rank in an older invocation waits for ranks that have ended it.
    std::vector<int64_t> invocations;
    for (size_t i = 0; i < ranks.size(); ++i)
      invocations.push_back(headerOf(texts.data() + i * length).invocation);
    auto newest = std::max_element(invocations.begin(), invocations.end());
    auto oldest = std::min_element(invocations.begin(), invocations.end());
    transfer.state.store(Transfer::Refused);
    if (*oldest != *newest)
      throw Error(describeDeparted(ranks[newest - invocations.begin()], match) +
                  "; " +
                  describeWaiting({ranks[oldest - invocations.begin()]},
                                  textOf(oldest - invocations.begin())));
    first = 0;
    for (size_t i = 1; i < ranks.size(); ++i)
      if (headerOf(texts.data() + i * length).hash !=
          headerOf(texts.data()).hash) {
        second = static_cast<int64_t>(i);
        break;
      }
  }
  transfer.state.store(Transfer::Refused);
  throw Error(describeDisagreement(match, ranks[first], textOf(first),
                                   ranks[second], textOf(second)) +
              (explain ? explain() : ""));
}

static void exchangeTexts(Transfer &transfer) {
  Text own = makeText(transfer);
  own->resize(messageTextBytes);
  auto texts = std::make_shared<std::string>(2 * messageTextBytes, '\0');
  bool sends = transfer.queue.sends;
  auto peer = static_cast<int>(transfer.queue.peer);
  auto issue = [=](MPI_Comm comm, Requests &requests) {
    char *ownPlace = texts->data() + (sends ? 0 : messageTextBytes);
    char *otherPlace = texts->data() + (sends ? messageTextBytes : 0);
    std::memcpy(ownPlace, own->data(), messageTextBytes);
    checkMPI(MPI_Irecv(otherPlace, messageTextBytes, MPI_BYTE, peer,
                       sends ? TextOfReceiver : TextOfSender, comm,
                       addRequest(requests)),
             "MPI_Irecv");
    checkMPI(MPI_Isend(own->data(), messageTextBytes, MPI_BYTE, peer,
                       sends ? TextOfSender : TextOfReceiver, comm,
                       addRequest(requests)),
             "MPI_Isend");
  };
  transfer.add({FirstLane, issue, [&transfer, texts]() {
                  refuse(transfer, *texts, nullptr, -1, -1);
                }});
}

void braid::rt::planDisagreement(Transfer &transfer,
                                 const std::function<std::string()> &explain,
                                 int64_t first, int64_t second) {
  if (transfer.queue.isMessages())
    return exchangeTexts(transfer);
  Text own = makeText(transfer);
  auto ownLength = std::make_shared<int>(static_cast<int>(own->size()));
  auto length = std::make_shared<int>(0);
  transfer.add({FirstLane,
                [=](MPI_Comm comm, Requests &requests) {
                  checkMPI(MPI_Iallreduce(ownLength.get(), length.get(), 1,
                                          MPI_INT, MPI_MAX, comm,
                                          addRequest(requests)),
                           "MPI_Iallreduce");
                },
                nullptr});
  transfer.setNextPhase([=, &transfer]() {
    own->resize(static_cast<size_t>(*length));
    auto texts = std::make_shared<std::string>(
        static_cast<size_t>(*length * transfer.groupSize()), '\0');
    transfer.add({FirstLane,
                  [=](MPI_Comm comm, Requests &requests) {
                    checkMPI(MPI_Iallgather(own->data(), *length, MPI_BYTE,
                                            texts->data(), *length, MPI_BYTE,
                                            comm, addRequest(requests)),
                             "MPI_Iallgather");
                  },
                  [=, &transfer]() {
                    refuse(transfer, *texts, explain, first, second);
                  }});
  });
}

void braid::rt::planDisagreement(Transfer &transfer) {
  planDisagreement(transfer, nullptr, -1, -1);
}
