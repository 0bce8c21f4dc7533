//===- RankMessagesFuzzer.cpp - Messages of other ranks -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first byte of an input chooses the kind of the message. What can be read
// can also be written and read again, with the same bytes.
//
//===----------------------------------------------------------------------===//

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "CUDA/Communication/LaneAgreement.h"
#include "Diagnosis/Failure.h"
#include "Diagnosis/Status.h"

#include <cstdlib>

using namespace braid::rt;
using namespace braid::rt::cuda;

static void expect(bool condition) {
  if (!condition)
    std::abort();
}

/// Ranks that ask each other, where one has sent this status.
static void investigate(const RankStatus &status) {
  Statuses statuses = {{0, status}, {1, status}, {2, RankStatus()}};
  findProblem(statuses);
  findDeadlock(statuses, /*worldSize=*/3);
  for (const OpenOperation &operation : status.open)
    describeTimedOut(statuses, operation, /*timeoutNs=*/1);
}

static void read(uint8_t kind, const std::string &bytes) {
  if (kind % 3 == 0) {
    auto failure = fromBytes<Failure>(bytes);
    expect(toBytes(failure) == bytes);
    failure.textFor(0);
  } else if (kind % 3 == 1) {
    auto status = fromBytes<RankStatus>(bytes);
    std::string text = toBytes(status);
    expect(toBytes(fromBytes<RankStatus>(text)) == text);
    investigate(status);
  } else {
    LaneAgreement agreement;
    int32_t rank = 0;
    for (Reader reader(bytes); !reader.atEnd();)
      agreement.add(rank++, reader.get<LaneOutcome>());
    if (agreement.size() == 0)
      return;
    describeResources(agreement.common());
    agreement.needsOthers();
    agreement.describeRefusals();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  try {
    read(data[0],
         std::string(reinterpret_cast<const char *>(data) + 1, size - 1));
  } catch (const Error &) {
    // The answer to a damaged message.
  }
  return 0;
}
