//===- Frames.cpp - The messages of a store, as bytes ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Processes/Frames.h"
#include "CUDA/Processes/Introduction.h"

#include <algorithm>
#include <cstring>

using namespace braid::rt;
using namespace braid::rt::cuda;

namespace {
/// The header of every message.
struct Header {
  char magic[8];
  uint32_t kind;
  int32_t process;
  int64_t number;
  uint64_t size; ///< Of the body.
};

/// What a kind of frame permits.
struct Rule {
  const char *name;
  Side receiver;
  bool isSealed;
  uint64_t least, most; ///< Bytes of the body.
};
} // namespace

static constexpr char magic[8] = {'B', 'R', 'A', 'I', 'D', 'S', 'T', '2'};

static constexpr uint64_t kibibyte = 1 << 10, mebibyte = 1 << 20;

/// The kinds that both sides may receive have two rules.
static constexpr struct {
  uint32_t kind;
  Rule rule;
} rules[] = {
    {Challenge, {"Challenge", Side::OtherRank, false, 32, 32}},
    {Handshake,
     {"Handshake", Side::RankZero, false, handshakeBytes, handshakeBytes}},
    {Proof, {"Proof", Side::RankZero, false, 32, 32}},
    {Welcome, {"Welcome", Side::OtherRank, false, 32, 32}},
    {WrongKey, {"WrongKey", Side::OtherRank, false, 0, 0}},
    {Accepted, {"Accepted", Side::OtherRank, true, 0, 0}},
    {Refused, {"Refused", Side::OtherRank, true, 0, 4 * kibibyte}},
    {Part, {"Part", Side::RankZero, true, 0, longestPart}},
    {Parts, {"Parts", Side::OtherRank, true, 0, longestParts}},
    {Failed, {"Failed", Side::OtherRank, true, 0, 16 * mebibyte}},
    {Post, {"Post", Side::RankZero, true, 0, longestPost}},
    {Post, {"Post", Side::OtherRank, true, 0, longestPost}},
    {Lost, {"Lost", Side::OtherRank, true, 0, 0}},
    {Goodbye, {"Goodbye", Side::RankZero, true, 0, 0}},
    {Goodbye, {"Goodbye", Side::OtherRank, true, 0, 0}},
};

static const Rule *findRule(uint32_t kind, Side receiver, bool isSealed) {
  for (const auto &entry : rules)
    if (entry.kind == kind && entry.rule.receiver == receiver &&
        entry.rule.isSealed == isSealed)
      return &entry.rule;
  return nullptr;
}

static std::string_view bytesOfHeader(const Header &header) {
  return {reinterpret_cast<const char *>(&header), sizeof(header)};
}

Digest Seal::next(std::string_view header, std::string_view body) {
  uint64_t number = frames++;
  return key.finish(
      key.begin().add(&number, sizeof(number)).add(header).add(body));
}

std::string braid::rt::cuda::encodeFrame(const Frame &frame, Seal *seal) {
  Header header = {};
  std::memcpy(header.magic, magic, sizeof(magic));
  header.kind = frame.kind;
  header.process = frame.process;
  header.number = frame.number;
  header.size = frame.body.size();
  std::string bytes(bytesOfHeader(header));
  bytes += frame.body;
  if (seal)
    bytes += bytesOf(seal->next(bytesOfHeader(header), frame.body));
  return bytes;
}

size_t FrameParser::room() const { return seal ? 64 * kibibyte : kibibyte; }

std::optional<Frame> FrameParser::refuse(const std::string &text) {
  wrong = text;
  pending.clear();
  position = 0;
  return std::nullopt;
}

std::optional<Frame> FrameParser::next() {
  if (!wrong.empty())
    return std::nullopt;
  size_t available = pending.size() - position;
  const char *begin = pending.data() + position;
  // Refuse at the first wrong byte, before a whole header has arrived.
  if (std::memcmp(begin, magic, std::min(available, sizeof(magic))) != 0) {
    foreign = true;
    return refuse("the bytes are no message of Braid's");
  }
  Header header;
  if (available < sizeof(header)) {
    pending.erase(0, position);
    position = 0;
    return std::nullopt;
  }
  std::memcpy(&header, begin, sizeof(header));
  const Rule *rule = findRule(header.kind, side, seal.has_value());
  if (!rule)
    return refuse("a message of kind " + std::to_string(header.kind) +
                  (seal ? "" : " comes before the introduction"));
  if (header.size < rule->least || header.size > rule->most)
    return refuse(std::string("a message ") + rule->name + " has " +
                  std::to_string(header.size) + " bytes");
  size_t code = seal ? sizeof(Digest) : 0;
  if (available - sizeof(header) < header.size + code) {
    pending.erase(0, position);
    position = 0;
    return std::nullopt;
  }
  const char *body = begin + sizeof(header);
  if (seal) {
    Digest found;
    std::memcpy(found.data(), body + header.size, found.size());
    if (!areEqual(found, seal->next({begin, sizeof(header)},
                                    {body, size_t(header.size)})))
      return refuse(std::string("a message ") + rule->name +
                    " does not come from the sender, or not in its turn");
  }
  Frame frame = {header.kind, header.process, header.number,
                 std::string(body, header.size)};
  position += sizeof(header) + header.size + code;
  return frame;
}
