//===- Introduction.h - Ranks prove that they are of a job ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rank 0 sends a challenge as soon as it has accepted a connection; at the same
// time the rank says handshake. Then the rank proves that it has the job's key,
// and rank 0 proves the same. The key itself is never sent: a proof is an HMAC
// over both messages, each with a number that is used once. Two other HMACs
// over them are the keys of the seals of this connection.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_PROCESSES_INTRODUCTION_H
#define BRAID_RUNTIME_CUDA_PROCESSES_INTRODUCTION_H

#include "Base/Sha256.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace braid::rt::cuda {

/// What a rank says of itself.
struct Greeting {
  int32_t rank = 0;
  int32_t size = 0; ///< Of the world in which the launcher has started it.
  Digest job = {};  ///< Of the name of the job.
  Digest nonce = {};
};

/// A Greeting is sent as it is.
constexpr size_t handshakeBytes = sizeof(Greeting);
static_assert(handshakeBytes == 2 * sizeof(int32_t) + 2 * sizeof(Digest));

/// A number that is used once, from the random numbers of the system. Throws an
/// Error if there are none.
Digest drawNonce();

/// What both sides compute from the job's key and the first two messages.
struct Introduction {
  Introduction(const HmacKey &jobKey, const std::string &handshake,
               const std::string &challenge);

  Digest ofRank, ofRankZero;       ///< The proofs.
  Digest toRankZero, fromRankZero; ///< The keys of the seals.
};

/// Compares the proof in a frame with the expected one, in constant time.
bool isProof(const std::string &body, const Digest &expected);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_PROCESSES_INTRODUCTION_H
