//===- Sha256.h - Digests and message authentication ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104). The runtime links no
// library that has them: a library of cryptography would be its largest
// dependency, for one function whose test vectors are public.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_BASE_SHA256_H
#define BRAID_RUNTIME_BASE_SHA256_H

#include "braid-rt/Host.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace braid::rt {

/// The 32 bytes of a digest.
using Digest = std::array<unsigned char, 32>;

/// The state of a digest, which takes its bytes piece by piece.
class BRAID_RT_API Sha256 {
public:
  Sha256 &add(const void *bytes, size_t size);
  Sha256 &add(std::string_view bytes) {
    return add(bytes.data(), bytes.size());
  }
  /// The digest of all bytes; the last call of an object.
  Digest finish();

private:
  void addBlock(const unsigned char *block);

  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                   0xa54ff53a, 0x510e527f, 0x9b05688c,
                                   0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block = {};
  uint64_t length = 0; ///< In bytes.
};

BRAID_RT_API Digest sha256(std::string_view bytes);

/// A key of HMAC-SHA-256, ready for any number of messages.
class BRAID_RT_API HmacKey {
public:
  explicit HmacKey(std::string_view key);
  /// The beginning of the authentication of one message.
  Sha256 begin() const { return inner; }
  /// The end of what `begin` has begun.
  Digest finish(Sha256 message) const;

private:
  Sha256 inner, outer; ///< After the padded key.
};

/// Compares without telling by its time where the digests differ.
BRAID_RT_API bool areEqual(const Digest &a, const Digest &b);

/// The digest as 64 digits.
BRAID_RT_API std::string toHex(const Digest &digest);

/// The bytes of a digest.
inline std::string_view bytesOf(const Digest &digest) {
  return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

} // namespace braid::rt

#endif // BRAID_RUNTIME_BASE_SHA256_H
