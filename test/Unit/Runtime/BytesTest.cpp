//===- BytesTest.cpp - Serialization of values ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Bytes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <functional>
#include <limits>

using namespace braid::rt;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Bytes, ValuesAreReadAsTheyWereWritten) {
  std::string bytes = Writer()
                          .put(int32_t(-7))
                          .put(std::string("four"))
                          .put(std::vector<int32_t>{1, 2, 3})
                          .put(std::map<uint64_t, int64_t>{{5, 6}})
                          .put(true)
                          .bytes;
  Reader reader(bytes);
  EXPECT_EQ(reader.get<int32_t>(), -7);
  EXPECT_EQ(reader.getText(), "four");
  EXPECT_THAT(reader.getList<int32_t>(), ElementsAre(1, 2, 3));
  EXPECT_EQ(reader.getCounters().at(5), 6);
  EXPECT_TRUE(reader.get<bool>());
  EXPECT_TRUE(reader.atEnd());
  reader.expectEnd();
}

/// The error of a read; "" without one.
static std::string errorOf(const std::string &bytes,
                           const std::function<void(Reader &reader)> &read) {
  Reader reader(bytes);
  try {
    read(reader);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Bytes, EveryPrefixOfAMessageIsRefused) {
  std::string bytes = Writer()
                          .put(int32_t(1))
                          .put(std::string("text"))
                          .put(std::vector<int64_t>{1, 2})
                          .put(std::map<uint64_t, int64_t>{{1, 2}})
                          .bytes;
  auto read = [](Reader &reader) {
    reader.get<int32_t>();
    reader.getText();
    reader.getList<int64_t>();
    reader.getCounters();
    reader.expectEnd();
  };
  EXPECT_EQ(errorOf(bytes, read), "");
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THAT(errorOf(bytes.substr(0, size), read), HasSubstr("is damaged"))
        << size;
  EXPECT_THAT(errorOf(bytes + "x", read),
              HasSubstr("1 bytes are left behind the last value"));
}

TEST(Bytes, CountsAreNotBelieved) {
  for (int64_t count : {int64_t(-1), int64_t(9), int64_t(1) << 40,
                        int64_t(1) << 62, std::numeric_limits<int64_t>::min(),
                        std::numeric_limits<int64_t>::max()}) {
    std::string bytes = Writer().put(count).bytes + "12345678";
    EXPECT_NE(errorOf(bytes, [](Reader &reader) { reader.getText(); }), "");
    EXPECT_NE(errorOf(bytes, [](Reader &reader) { reader.getList<char>(); }),
              "");
    EXPECT_NE(errorOf(bytes, [](Reader &reader) { reader.getCounters(); }), "");
  }
}

TEST(Bytes, TruthValuesAreZeroOrOne) {
  auto read = [](Reader &reader) { reader.get<bool>(); };
  EXPECT_EQ(errorOf(std::string(1, '\0'), read), "");
  EXPECT_EQ(errorOf("\1", read), "");
  EXPECT_THAT(errorOf("\2", read), HasSubstr("a truth value is 2"));
}
