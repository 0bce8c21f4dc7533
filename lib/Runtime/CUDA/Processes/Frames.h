//===- Frames.h - The messages of a store, as bytes -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A connection begins with an introduction (Introduction.h), whose frames are
// short and of a fixed length. Every later frame is sealed: a code behind its
// body authenticates the frame and its place among the frames of its direction.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_PROCESSES_FRAMES_H
#define BRAID_RUNTIME_CUDA_PROCESSES_FRAMES_H

#include "Base/Sha256.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braid::rt::cuda {

enum FrameKind : uint32_t {
  // The introduction.
  Challenge, ///< From rank 0: a number that is used once.
  Handshake, ///< To rank 0: the rank, its world, its job, another such number.
  Proof,     ///< To rank 0: shows that the sender has the job's key.
  Welcome,   ///< From rank 0: shows the same.
  WrongKey,  ///< From rank 0: the proof is wrong.
  // Sealed.
  Accepted, ///< From rank 0: the rank belongs to the world.
  Refused,  ///< From rank 0: the reason why the rank does not.
  Part,     ///< To rank 0: one process's bytes of an exchange.
  Parts,    ///< From rank 0: a list of the bytes of all processes.
  Failed,   ///< From rank 0: the reason why exchanges fail.
  Post,     ///< To all others.
  Lost,     ///< From rank 0: `process` has died.
  Goodbye   ///< The sender ends as it should.
};

/// A message of the store: a header of fixed size, then `body`.
struct Frame {
  uint32_t kind = 0;
  /// From rank 0: the process that has sent the frame, or that the frame is
  /// about. Rank 0 ignores what other ranks write here.
  int32_t process = 0;
  int64_t number = 0; ///< Of an exchange.
  std::string body;
};

/// Authenticates the frames of one direction, one after the other.
class Seal {
public:
  explicit Seal(const Digest &key) : key(bytesOf(key)) {}
  /// The code of the next frame.
  Digest next(std::string_view header, std::string_view body);

private:
  HmacKey key;
  uint64_t frames = 0; ///< So far.
};

/// The longest body of a Part, of all Parts together and of a Post.
constexpr uint64_t longestPart = uint64_t(1) << 30,
                   longestParts = uint64_t(4) << 30,
                   longestPost = uint64_t(64) << 20;

/// The bytes of a frame; sealed if there is a seal.
std::string encodeFrame(const Frame &frame, Seal *seal);

/// Which frames a connection may receive.
enum class Side { RankZero, OtherRank };

/// Takes the bytes that arrive and gives the frames. The bytes may be anyone's:
/// the parser keeps at most what the longest permitted frame needs, and finds
/// the first byte after which no permitted frame can follow.
class FrameParser {
public:
  explicit FrameParser(Side side) : side(side) {}

  /// How many bytes the parser takes at once: few before the introduction.
  size_t room() const;
  void add(const char *bytes, size_t size) { pending.append(bytes, size); }

  /// The next frame; nothing if more bytes are needed or after a problem.
  std::optional<Frame> next();

  /// Every later frame is sealed.
  void expectSeal(const Seal &expected) { seal = expected; }

  /// What is wrong with the bytes; empty: nothing.
  const std::string &problem() const { return wrong; }
  /// True if the first bytes are not those of a frame.
  bool isForeign() const { return foreign; }
  /// True between two frames.
  bool isEmpty() const { return pending.size() == position; }
  /// The bytes in memory.
  size_t size() const { return pending.size(); }

private:
  std::optional<Frame> refuse(const std::string &text);

  const Side side;
  std::string pending;
  size_t position = 0; ///< Of the first byte that is in no frame yet.
  std::optional<Seal> seal;
  std::string wrong;
  bool foreign = false;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_PROCESSES_FRAMES_H
