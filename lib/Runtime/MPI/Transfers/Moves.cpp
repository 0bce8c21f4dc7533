//===- Moves.cpp - Operations that move data --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Transfers/Layout.h"
#include "MPI/Transfers/MPICommunicator.h"
#include "Reduce/Reduce.h"

#include <cstring>

using namespace braid::rt;

/// The sources of all operands, or copies of those that their destinations
/// would overwrite.
static std::vector<const char *> copyInPlace(const Transfer &transfer) {
  std::vector<const char *> sources;
  int64_t bytes = 0;
  for (const Operand &operand : transfer.operation.operands) {
    sources.push_back(operand.source);
    if (operand.source == operand.destination)
      bytes += operand.sourceBytes();
  }
  char *copy = transfer.queue.room.reserve(bytes);
  for (size_t i = 0; bytes && i < sources.size(); ++i) {
    const Operand &operand = transfer.operation.operands[i];
    if (operand.source != operand.destination)
      continue;
    copyBytes(copy, operand.source, operand.sourceBytes(), false);
    sources[i] = copy;
    copy += operand.sourceBytes();
  }
  return sources;
}

/// Adds one step that issues the call of each operand with elements, and then
/// `finish`.
template <typename Issue>
static void addCalls(Transfer &transfer, Issue issue,
                     std::function<void()> finish = nullptr) {
  transfer.add({[&transfer, issue](MPI_Comm comm, Requests &requests) {
                  for (const Operand &operand : transfer.operation.operands)
                    if (operand.sourceBytes() || operand.destinationBytes())
                      issue(operand, comm, requests);
                },
                std::move(finish)});
}

static void sendTo(MPI_Comm comm, int64_t member, const char *source,
                   const Operand &operand, Tag tag, Requests &requests) {
  CHECK_MPI(MPI_Isend(
      source, countOf(operand.sourceSizes), movedType(operand.elementBytes()),
      static_cast<int>(member), tag, comm, addRequest(requests)));
}

static void receiveFrom(MPI_Comm comm, int64_t member, char *destination,
                        int count, const Operand &operand, Tag tag,
                        Requests &requests) {
  CHECK_MPI(MPI_Irecv(destination, count, movedType(operand.elementBytes()),
                      static_cast<int>(member), tag, comm,
                      addRequest(requests)));
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

void braid::rt::planGather(Transfer &transfer) {
  const Operation &operation = transfer.operation;
  bool hasRoot = operation.traits().hasRoot;
  int64_t size = transfer.groupSize(), self = transfer.member();
  int64_t root = operation.root, dim = hasRoot ? 0 : operation.dim;
  bool isRoot = self == root;
  auto issue = [=](const Operand &operand, MPI_Comm comm, Requests &requests) {
    MPI_Datatype element = movedType(operand.elementBytes());
    int count = countOf(operand.sourceSizes);
    PartType part =
        makePartType(element, operand.sourceSizes, dim, size, requests);
    bool isSlice =
        operand.source == operand.destination + self * operand.sourceBytes();
    const void *source =
        isSlice && (isRoot || !hasRoot) ? MPI_IN_PLACE : operand.source;
    if (!hasRoot && size == 2 && part.type == element) {
      // Open MPI 4.1 takes up to five times longer between two members.
      int64_t bytes = operand.sourceBytes(), other = 1 - self;
      sendTo(comm, other, operand.source, operand, CollectiveData, requests);
      receiveFrom(comm, other, operand.destination + other * bytes, count,
                  operand, CollectiveData, requests);
      if (!isSlice)
        copyBytes(operand.destination + self * bytes, operand.source, bytes,
                  false);
    } else if (hasRoot)
      CHECK_MPI(MPI_Igather(source, count, element, operand.destination,
                            part.count, part.type, static_cast<int>(root), comm,
                            addRequest(requests)));
    else
      CHECK_MPI(MPI_Iallgather(source, count, element, operand.destination,
                               part.count, part.type, comm,
                               addRequest(requests)));
  };
  if (!hasRoot || isRoot)
    return addCalls(transfer, issue);
  // The source may be a part of the destination.
  addCalls(transfer, issue, [&operation]() {
    for (const Operand &operand : operation.operands)
      std::memset(operand.destination, 0,
                  static_cast<size_t>(operand.destinationBytes()));
  });
}

//===----------------------------------------------------------------------===//
// From the root
//===----------------------------------------------------------------------===//

static void issueBroadcast(const Operand &operand, int root, bool isRoot,
                           MPI_Comm comm, Requests &requests) {
  // The root's buffer is only read.
  char *buffer =
      isRoot ? const_cast<char *>(operand.source) : operand.destination;
  CHECK_MPI(MPI_Ibcast(buffer, countOf(operand.sourceSizes),
                       movedType(operand.elementBytes()), root, comm,
                       addRequest(requests)));
  if (isRoot && operand.destination != operand.source)
    copyBytes(operand.destination, operand.source, operand.sourceBytes(),
              false);
}

static void issueScatter(const Operand &operand, int root, int self,
                         MPI_Comm comm, Requests &requests) {
  int count = countOf(operand.destinationSizes);
  MPI_Datatype type = movedType(operand.elementBytes());
  bool inPlace =
      self == root &&
      operand.destination == operand.source + self * operand.destinationBytes();
  CHECK_MPI(MPI_Iscatter(operand.source, count, type,
                         inPlace ? MPI_IN_PLACE : operand.destination, count,
                         type, root, comm, addRequest(requests)));
}

void braid::rt::planFromRoot(Transfer &transfer) {
  auto root = static_cast<int>(transfer.operation.root);
  auto self = static_cast<int>(transfer.member());
  bool splits = transfer.operation.traits().shape == BRAID_RT_SHAPE_SPLIT;
  addCalls(transfer,
           [=](const Operand &operand, MPI_Comm comm, Requests &requests) {
             if (splits)
               issueScatter(operand, root, self, comm, requests);
             else
               issueBroadcast(operand, root, self == root, comm, requests);
           });
}

//===----------------------------------------------------------------------===//
// all_to_all
//===----------------------------------------------------------------------===//

static void issueAllToAll(const Transfer &transfer, const Operand &operand,
                          const char *source, MPI_Comm comm,
                          Requests &requests) {
  const Operation &operation = transfer.operation;
  int64_t size = transfer.groupSize(), self = transfer.member();
  MPI_Datatype type = movedType(operand.elementBytes());
  if (operation.splits == Splits::Equal) {
    int count = countOf(operand.sourceSizes) / static_cast<int>(size);
    CHECK_MPI(MPI_Ialltoall(source, count, type, operand.destination, count,
                            type, comm, addRequest(requests)));
    return;
  }
  // The source may have no rows.
  int64_t rowCount = 1;
  for (size_t d = 1; d < operand.sourceSizes.size(); ++d)
    rowCount *= operand.sourceSizes[d];
  auto sent = std::make_shared<Counts>(size),
       received = std::make_shared<Counts>(size);
  for (int64_t m = 0; m < size; ++m) {
    sent->add(operation.rowsTo(self, m, size, operand) * rowCount);
    received->add(operation.rowsFrom(self, m, size, operand) * rowCount);
  }
  CHECK_MPI(MPI_Ialltoallv(source, sent->counts.data(), sent->begins.data(),
                           type, operand.destination, received->counts.data(),
                           received->begins.data(), type, comm,
                           addRequest(requests)));
  requests.kept.insert(requests.kept.end(), {sent, received});
}

static void planParts(Transfer &transfer) {
  transfer.add({[&transfer](MPI_Comm comm, Requests &requests) {
                  std::vector<const char *> sources = copyInPlace(transfer);
                  for (size_t i = 0; i < sources.size(); ++i)
                    issueAllToAll(transfer, transfer.operation.operands[i],
                                  sources[i], comm, requests);
                },
                nullptr});
}

/// Compares the splits of all members. `all` has two lists of each member: the
/// sizes that it sends, and the sizes that it expects.
static void checkSplits(Transfer &transfer, const std::vector<int64_t> &all) {
  int64_t size = transfer.groupSize();
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j)
      if (all[i * 2 * size + j] != all[j * 2 * size + size + i])
        return planDisagreement(transfer);
  planParts(transfer);
}

void braid::rt::planAllToAll(Transfer &transfer) {
  const Operation &operation = transfer.operation;
  if (operation.splits != Splits::Lists)
    return planParts(transfer);
  auto own = std::make_shared<std::vector<int64_t>>(operation.sourceSplits);
  own->insert(own->end(), operation.destinationSplits.begin(),
              operation.destinationSplits.end());
  auto all = std::make_shared<std::vector<int64_t>>(
      own->size() * static_cast<size_t>(transfer.groupSize()));
  transfer.add({[=](MPI_Comm comm, Requests &requests) {
                  auto count = static_cast<int>(own->size());
                  CHECK_MPI(MPI_Iallgather(own->data(), count, MPI_INT64_T,
                                           all->data(), count, MPI_INT64_T,
                                           comm, addRequest(requests)));
                },
                [&transfer, all]() { checkSplits(transfer, *all); }});
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void braid::rt::planPairs(Transfer &transfer) {
  const Operation &operation = transfer.operation;
  int64_t self = transfer.member(), source = -1, target = -1;
  for (size_t i = 0; i < operation.pairs.size(); i += 2) {
    if (operation.pairs[i] == self)
      target = operation.pairs[i + 1];
    if (operation.pairs[i + 1] == self)
      source = operation.pairs[i];
  }
  auto issue = [=, &transfer](MPI_Comm comm, Requests &requests) {
    std::vector<const char *> sources = copyInPlace(transfer);
    for (size_t i = 0; i < sources.size(); ++i) {
      const Operand &operand = transfer.operation.operands[i];
      if (target >= 0 && target != self)
        sendTo(comm, target, sources[i], operand, CollectiveData, requests);
      if (source >= 0 && source != self)
        receiveFrom(comm, source, operand.destination,
                    countOf(operand.destinationSizes), operand, CollectiveData,
                    requests);
      else if (source == self)
        copyBytes(operand.destination, sources[i], operand.sourceBytes(),
                  false);
      else if (operand.sourceBytes())
        std::memset(operand.destination, 0,
                    static_cast<size_t>(operand.sourceBytes()));
    }
  };
  transfer.add({issue, nullptr});
}

void braid::rt::planMessage(Transfer &transfer) {
  int64_t peer = transfer.queue.peer;
  bool sends = transfer.queue.sends;
  addCalls(
      transfer, [=](const Operand &operand, MPI_Comm comm, Requests &requests) {
        if (sends)
          sendTo(comm, peer, operand.source, operand, MessageData, requests);
        else
          receiveFrom(comm, peer, operand.destination,
                      countOf(operand.destinationSizes), operand, MessageData,
                      requests);
      });
}
