//===- BytesTest.cpp - What processes send to one another -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/Bytes.h"

#include <gmock/gmock.h>

#include <cstdint>

using namespace braid::run;

namespace {

TEST(BytesTest, NumbersAndTextsComeOutAsTheyWentIn) {
  ByteWriter writer;
  writer.number(INT64_MIN);
  writer.text(std::string("a\0b", 3));
  writer.text("");
  writer.number(7);
  ByteReader reader(writer.bytes);
  EXPECT_EQ(reader.number(), INT64_MIN);
  EXPECT_EQ(reader.text(), std::string("a\0b", 3));
  EXPECT_EQ(reader.text(), "");
  EXPECT_EQ(reader.number(), 7);
}

TEST(BytesTest, TooFewBytesAreAnError) {
  ByteWriter writer;
  writer.text("twelve bytes");
  writer.bytes.pop_back();
  ByteReader reader(writer.bytes);
  EXPECT_THROW(reader.text(), RunError);
}

TEST(BytesTest, NothingIsAnError) {
  std::string nothing;
  ByteReader reader(nothing);
  EXPECT_THROW(reader.number(), RunError);
}

} // namespace
