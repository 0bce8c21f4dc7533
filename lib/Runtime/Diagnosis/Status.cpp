//===- Status.cpp - The status of ranks -----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnosis/Status.h"
#include "Base/Bytes.h"

using namespace braid::rt;

static std::string encode(const OpenOperation &operation) {
  Writer writer;
  writer.put(operation.match).put(operation.ownQueue);
  writer.put(operation.otherQueue).put(operation.lane).put(operation.group);
  writer.put(operation.isMessage).put(operation.awaited);
  writer.put(operation.members);
  writer.put(operation.sequence).put(operation.invocation);
  writer.put(operation.issue).put(operation.fingerprint).put(operation.text);
  return writer.put(operation.sent).put(operation.expected).bytes;
}

static OpenOperation decodeOperation(const std::string &bytes) {
  Reader reader(bytes);
  OpenOperation operation;
  operation.match = reader.get<uint64_t>();
  operation.ownQueue = reader.get<uint64_t>();
  operation.otherQueue = reader.get<uint64_t>();
  operation.lane = reader.get<uint64_t>();
  operation.group = reader.getText();
  operation.isMessage = reader.get<bool>();
  operation.awaited = reader.get<bool>();
  operation.members = reader.getList<int32_t>();
  operation.sequence = reader.get<int64_t>();
  operation.invocation = reader.get<int64_t>();
  operation.issue = reader.get<int64_t>();
  operation.fingerprint = reader.get<uint64_t>();
  operation.text = reader.getText();
  operation.sent = reader.getList<int64_t>();
  operation.expected = reader.getList<int64_t>();
  reader.expectEnd();
  return operation;
}

std::string braid::rt::encode(const RankStatus &status) {
  Writer writer;
  writer.put(status.rank).put(status.begun).put(status.ended);
  writer.put(status.exchanges)
      .put(status.failed)
      .put(status.wait)
      .put(status.started);
  writer.put(static_cast<int64_t>(status.open.size()));
  for (const OpenOperation &operation : status.open)
    writer.put(::encode(operation));
  return writer.bytes;
}

RankStatus braid::rt::decodeRankStatus(const std::string &bytes) {
  Reader reader(bytes);
  RankStatus status;
  status.rank = reader.get<int32_t>();
  status.begun = reader.get<int64_t>();
  status.ended = reader.get<int64_t>();
  status.exchanges = reader.get<int64_t>();
  status.failed = reader.get<bool>();
  status.wait = reader.get<int64_t>();
  status.started = reader.getCounters();
  for (size_t left = reader.getCount(sizeof(int64_t)); left > 0; --left)
    status.open.push_back(decodeOperation(reader.getText()));
  reader.expectEnd();
  return status;
}
