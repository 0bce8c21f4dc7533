//===- Sha256.cpp - Digests and message authentication --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Sha256.h"

#include <algorithm>
#include <cstring>

using namespace braid::rt;

/// The fractions of the cube roots of the first 64 primes.
static constexpr uint32_t roundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t value, int bits) {
  return (value >> bits) | (value << (32 - bits));
}

static uint32_t readWord(const unsigned char *bytes) {
  return uint32_t(bytes[0]) << 24 | uint32_t(bytes[1]) << 16 |
         uint32_t(bytes[2]) << 8 | uint32_t(bytes[3]);
}

/// The 64 words of a block (FIPS 180-4, 6.2.2, step 1).
static void expandBlock(const unsigned char *block, uint32_t (&words)[64]) {
  for (int i = 0; i < 16; ++i)
    words[i] = readWord(block + 4 * i);
  for (int i = 16; i < 64; ++i) {
    uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ (a >> 3)) +
               words[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ (b >> 10));
  }
}

void Sha256::addBlock(const unsigned char *block) {
  uint32_t words[64];
  expandBlock(block, words);
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    uint32_t first = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                     ((e & f) ^ (~e & g)) + roundConstants[i] + words[i];
    uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                      ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first;
    d = c, c = b, b = a, a = first + second;
  }
  const uint32_t added[8] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i)
    state[i] += added[i];
}

Sha256 &Sha256::add(const void *bytes, size_t size) {
  const auto *next = static_cast<const unsigned char *>(bytes);
  size_t filled = length % block.size();
  length += size;
  if (filled) {
    size_t count = std::min(size, block.size() - filled);
    std::memcpy(block.data() + filled, next, count);
    if (filled + count < block.size())
      return *this;
    addBlock(block.data());
    next += count, size -= count;
  }
  for (; size >= block.size(); next += block.size(), size -= block.size())
    addBlock(next);
  if (size)
    std::memcpy(block.data(), next, size);
  return *this;
}

Digest Sha256::finish() {
  // One bit, zeros up to the last 8 bytes of a block, and the length in bits.
  uint64_t bits = length * 8;
  unsigned char padding[64 + 8] = {0x80};
  size_t zeros = (block.size() + 56 - 1 - length % block.size()) % block.size();
  for (int i = 0; i < 8; ++i)
    padding[1 + zeros + i] = static_cast<unsigned char>(bits >> (56 - 8 * i));
  add(padding, 1 + zeros + 8);
  Digest digest;
  for (size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<unsigned char>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

Digest braid::rt::sha256(std::string_view bytes) {
  return Sha256().add(bytes).finish();
}

HmacKey::HmacKey(std::string_view key) {
  std::array<unsigned char, 64> padded = {};
  if (key.size() > padded.size()) {
    Digest digest = sha256(key);
    std::copy(digest.begin(), digest.end(), padded.begin());
  } else {
    std::copy(key.begin(), key.end(), padded.begin());
  }
  for (unsigned char &byte : padded)
    byte ^= 0x36;
  inner.add(padded.data(), padded.size());
  for (unsigned char &byte : padded)
    byte ^= 0x36 ^ 0x5c;
  outer.add(padded.data(), padded.size());
}

Digest HmacKey::finish(Sha256 message) const {
  Sha256 result = outer;
  return result.add(bytesOf(message.finish())).finish();
}

bool braid::rt::areEqual(const Digest &a, const Digest &b) {
  // `volatile` keeps the compiler from ending the loop early.
  volatile unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i)
    difference = difference | (a[i] ^ b[i]);
  return difference == 0;
}

std::string braid::rt::toHex(const Digest &digest) {
  std::string text;
  for (unsigned char byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}
