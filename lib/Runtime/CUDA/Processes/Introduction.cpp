//===- Introduction.cpp - Ranks prove that they are of a job --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Processes/Introduction.h"
#include "Base/Error.h"

#include <cerrno>
#include <cstring>
#include <sys/random.h>

using namespace braid::rt;
using namespace braid::rt::cuda;

Digest braid::rt::cuda::drawNonce() {
  Digest nonce;
  for (size_t done = 0; done < nonce.size();) {
    ssize_t got = getrandom(nonce.data() + done, nonce.size() - done, 0);
    if (got < 0 && errno != EINTR)
      throw Error(std::string("the system has no random numbers: ") +
                  std::strerror(errno));
    done += got > 0 ? static_cast<size_t>(got) : 0;
  }
  return nonce;
}

Introduction::Introduction(const HmacKey &jobKey, const std::string &handshake,
                           const std::string &challenge) {
  // Each use has a name, so that no message can stand for another one.
  auto derive = [&](std::string_view use) {
    return jobKey.finish(jobKey.begin()
                             .add("Braid store 2: ")
                             .add(use)
                             .add(handshake)
                             .add(challenge));
  };
  ofRank = derive("proof of a rank:");
  ofRankZero = derive("proof of rank 0:");
  toRankZero = derive("seal to rank 0::");
  fromRankZero = derive("seal from rank 0");
}

bool braid::rt::cuda::isProof(const std::string &body, const Digest &expected) {
  Digest found;
  if (body.size() != found.size())
    return false;
  std::memcpy(found.data(), body.data(), found.size());
  return areEqual(found, expected);
}
