//===- JsonObjectReader.h - Fields of JSON objects --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SUPPORT_JSONOBJECTREADER_H
#define BRAID_LIB_SUPPORT_JSONOBJECTREADER_H

#include "Support/StrictJson.h"
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

/// Reads the fields of one object of a file. All errors name the field, what
/// was found and what was expected.
class JsonObjectReader {
public:
  /// `path` leads to `object`.
  JsonObjectReader(const StrictJson &file, const llvm::json::Object &object,
                   JsonPath path, JsonMissing missing = JsonMissing::Error)
      : file(file), object(object), path(path), missing(missing) {}

  const StrictJson &getFile() const { return file; }
  JsonPath getPath() const { return path; }
  llvm::SmallVector<JsonStep> getPath(llvm::StringRef name) const;

  /// An error at the value of the field `name`, which has to be there.
  llvm::Error makeFieldError(llvm::StringRef name,
                             const llvm::Twine &expected) const;

  /// The value of the field `name`; null if it is absent and may be.
  llvm::Expected<const llvm::json::Value *>
  find(llvm::StringRef name, const llvm::Twine &expected, bool isOptional);

  /// A number of at least 0 (`mayBeZero`) or above. `result` stays as it is if
  /// the field is absent, as with all of these.
  llvm::Error readReal(llvm::StringRef name, double &result, bool mayBeZero,
                       bool isOptional = false);
  /// A number from `min` to `max`.
  llvm::Error readRealInRange(llvm::StringRef name, double &result, double min,
                              double max, bool isOptional = false);
  llvm::Error readInteger(llvm::StringRef name, int64_t &result, int64_t min,
                          int64_t max = std::numeric_limits<int64_t>::max(),
                          bool isOptional = false);
  /// An optional flag.
  llvm::Error readBool(llvm::StringRef name, bool &result);
  llvm::Error readString(llvm::StringRef name, std::string &result,
                         bool isOptional = true);
  /// One of `names`; `result` is its index.
  template <typename EnumT>
  llvm::Error readEnum(llvm::StringRef name,
                       llvm::ArrayRef<llvm::StringLiteral> names, EnumT &result,
                       bool isOptional = false) {
    auto index = static_cast<size_t>(result);
    llvm::Error error = readIndex(name, names, index, isOptional);
    result = static_cast<EnumT>(index);
    return error;
  }
  /// An object or a list; null if it is absent and may be.
  llvm::Expected<const llvm::json::Object *> readObject(llvm::StringRef name,
                                                        bool isOptional);
  llvm::Expected<const llvm::json::Array *> readArray(llvm::StringRef name,
                                                      bool isOptional);

  /// Calls `read` for each object of `list`, the value of the field `name`. An
  /// error at what is no object, or has a field that `read` does not ask for.
  llvm::Error
  readObjects(const llvm::json::Array &list, llvm::StringRef name,
              llvm::function_ref<llvm::Error(JsonObjectReader &)> read) const;

  /// An error if the object has a field that was not read.
  llvm::Error finish() const;

private:
  llvm::Error readIndex(llvm::StringRef name,
                        llvm::ArrayRef<llvm::StringLiteral> names,
                        size_t &result, bool isOptional);
  /// The name of a field as messages show it.
  std::string quote(llvm::StringRef name) const;

  const StrictJson &file;
  const llvm::json::Object &object;
  llvm::SmallVector<JsonStep> path;
  JsonMissing missing;
  llvm::StringSet<> known;
};

} // namespace braid

#endif // BRAID_LIB_SUPPORT_JSONOBJECTREADER_H
