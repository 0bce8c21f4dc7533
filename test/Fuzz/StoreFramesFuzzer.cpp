//===- StoreFramesFuzzer.cpp - What comes through the port of rank 0 ------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first byte of an input chooses the side and whether the rest comes before
// the introduction, behind it with a good seal, or is the body of a message.
//
//===----------------------------------------------------------------------===//

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "CUDA/Processes/Frames.h"
#include "CUDA/Processes/Introduction.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace braid::rt;
using namespace braid::rt::cuda;

static void expect(bool condition) {
  if (!condition)
    std::abort();
}

/// Gives the bytes to the parser in pieces, whose lengths vary.
static std::vector<Frame> parse(FrameParser &parser, const std::string &bytes,
                                size_t mostBytes) {
  std::vector<Frame> frames;
  size_t piece = 1;
  for (size_t at = 0; at < bytes.size(); piece = piece * 7 % 61 + 1) {
    size_t size = std::min({piece, bytes.size() - at, parser.room()});
    parser.add(bytes.data() + at, size);
    at += size;
    while (std::optional<Frame> frame = parser.next())
      frames.push_back(std::move(*frame));
    expect(parser.size() <= mostBytes);
  }
  return frames;
}

/// Puts the code of the seal behind each frame, as only the sender can.
static std::string sealAll(const std::string &bytes, const Digest &key) {
  Seal seal(key);
  std::string sealed;
  for (size_t at = 0; at + 32 <= bytes.size();) {
    uint64_t size = 0;
    std::memcpy(&size, bytes.data() + at + 24, sizeof(size));
    size = std::min<uint64_t>(size, bytes.size() - at - 32);
    std::string_view header(bytes.data() + at, 32);
    std::string_view body(bytes.data() + at + 32, size);
    sealed.append(header).append(body).append(bytesOf(seal.next(header, body)));
    at += 32 + size;
  }
  return sealed;
}

static void readBodies(const std::string &bytes) {
  try {
    expect(toBytes(fromBytes<std::vector<std::string>>(bytes)) == bytes);
  } catch (const Error &) {
    // The answer to a damaged message.
  }
  try {
    expect(toBytes(fromBytes<Greeting>(bytes)) == bytes);
  } catch (const Error &) {
    // The same.
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  std::string bytes(reinterpret_cast<const char *>(data) + 1, size - 1);
  FrameParser parser(data[0] & 1 ? Side::RankZero : Side::OtherRank);
  if (data[0] & 4) {
    readBodies(bytes);
  } else if (data[0] & 2) {
    const Digest key = sha256("key");
    parser.expectSeal(Seal(key));
    parse(parser, sealAll(bytes, key), bytes.size() + 4096);
    // Without the seal nothing passes.
    FrameParser other(data[0] & 1 ? Side::RankZero : Side::OtherRank);
    other.expectSeal(Seal(sha256("another key")));
    expect(parse(other, sealAll(bytes, key), bytes.size() + 4096).empty());
  } else {
    for (const Frame &frame : parse(parser, bytes, 4096))
      expect(frame.kind <= WrongKey && frame.body.size() <= handshakeBytes);
  }
  return 0;
}
