//===- JsonObjectReader.h - Fields of JSON objects --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SUPPORT_JSONOBJECTREADER_H
#define BRAID_LIB_SUPPORT_JSONOBJECTREADER_H

#include "Support/JsonFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

#include <limits>

namespace braid {

/// The error for a missing required field.
enum class JsonMissing : uint8_t {
  /// What was read before stays.
  Kept,
  Error,
  /// An error that says that a field "base" could give it.
  ErrorWithoutBase
};

/// Reads the fields of one object of a file. The first error counts, as later
/// ones may follow from it; it names the field, what was found and what was
/// expected. A result stays as it is if its field is absent or wrong.
class JsonObjectReader {
public:
  using ReadObject = llvm::function_ref<void(JsonObjectReader &)>;

  /// Reads the object that is the JSON `text`. An error at a field that `read`
  /// does not ask for. Messages describe the object as `expected`.
  static llvm::Error readText(llvm::StringRef text, llvm::StringRef expected,
                              ReadObject read);

  const llvm::json::Object &getObject() const { return object; }
  void setMissing(JsonMissing value) { missing = value; }

  /// An error at the object.
  void fail(const llvm::Twine &message) const { failAt(path, message); }
  /// An error at the value of the field `name`, if there is one.
  void failField(llvm::StringRef name, const llvm::Twine &expected) const;
  /// An error at element `index` of the list `name`.
  void failElement(llvm::StringRef name, size_t index,
                   const llvm::Twine &message) const {
    failAt(appendToJsonPath(appendToJsonPath(path, name), index), message);
  }

  /// A number of at least 0 (`mayBeZero`) or above.
  void readReal(llvm::StringRef name, double &result, bool mayBeZero,
                bool isOptional = false);
  /// A number from `min` to `max`.
  void readRealInRange(llvm::StringRef name, double &result, double min,
                       double max, bool isOptional = false);
  void readInteger(llvm::StringRef name, int64_t &result, int64_t min,
                   int64_t max = std::numeric_limits<int64_t>::max(),
                   bool isOptional = false);
  /// An optional flag.
  void readBool(llvm::StringRef name, bool &result);
  void readString(llvm::StringRef name, std::string &result,
                  bool isOptional = true);
  /// One of `names`; `result` is its index.
  template <typename EnumT>
  void readEnum(llvm::StringRef name, llvm::ArrayRef<llvm::StringLiteral> names,
                EnumT &result, bool isOptional = false) {
    auto index = static_cast<size_t>(result);
    readIndex(name, names, index, isOptional);
    result = static_cast<EnumT>(index);
  }
  /// Calls `read` for an object or for each object of a list. An error at what
  /// is none, or has a field that `read` does not ask for. False if the field
  /// is absent or wrong.
  bool readObject(llvm::StringRef name, bool isOptional, ReadObject read,
                  JsonMissing missingInside = JsonMissing::Error);
  bool readObjects(llvm::StringRef name, bool isOptional, ReadObject read);
  /// A list; null if it is absent or wrong.
  const llvm::json::Array *readArray(llvm::StringRef name, bool isOptional);

  /// The value of the field `name`; null if it is absent.
  const llvm::json::Value *find(llvm::StringRef name,
                                const llvm::Twine &expected, bool isOptional);
  /// An error if the object has a field that was not read.
  void finish() const;

private:
  JsonObjectReader(llvm::Error &error, const llvm::json::Object &object,
                   llvm::StringRef path, JsonMissing missing)
      : error(error), object(object), path(path), missing(missing) {}

  void failAt(llvm::StringRef path, const llvm::Twine &message) const;
  void readIndex(llvm::StringRef name,
                 llvm::ArrayRef<llvm::StringLiteral> names, size_t &result,
                 bool isOptional);
  /// The name of a field as messages show it.
  std::string quote(llvm::StringRef name) const;

  llvm::Error &error;
  const llvm::json::Object &object;
  std::string path;
  JsonMissing missing;
  llvm::StringSet<> known;
};

} // namespace braid

#endif // BRAID_LIB_SUPPORT_JSONOBJECTREADER_H
