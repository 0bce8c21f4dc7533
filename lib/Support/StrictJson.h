//===- StrictJson.h - JSON files that users write ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's JSON parser for files that users write. Nesting is limited, because
// the parser recurses. Duplicate keys in an object are errors. Errors in values
// have a line and a column.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SUPPORT_STRICTJSON_H
#define BRAID_LIB_SUPPORT_STRICTJSON_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <optional>
#include <string>
#include <vector>

namespace braid {

/// A mistake in a JSON text. Lines and columns count from 1, columns in bytes.
class JsonError : public llvm::ErrorInfo<JsonError> {
public:
  JsonError(unsigned line, unsigned column, std::string message)
      : line(line), column(column), text(std::move(message)) {}

  // The name that llvm::ErrorInfo requires.
  static char ID; // NOLINT(readability-identifier-naming)
  /// Prints `LINE:COLUMN: MESSAGE`.
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

  unsigned getLine() const { return line; }
  unsigned getColumn() const { return column; }
  llvm::StringRef getText() const { return text; }

private:
  unsigned line;
  unsigned column;
  std::string text;
};

/// The path of a member of the object, or of an element of the array, at `path`
/// of a JSON text, such as `links[2].bandwidth`. The path of the root is empty.
std::string appendToJsonPath(llvm::StringRef path, llvm::StringRef key);
std::string appendToJsonPath(llvm::StringRef path, size_t index);

/// A JSON text and its value.
class StrictJson {
public:
  /// Parses `text`, which must outlive the result. Fails with a `JsonError`.
  static llvm::Expected<StrictJson> parse(llvm::StringRef text);

  const llvm::json::Value &getRoot() const { return root; }

  /// An error at the value at `path`, which must exist.
  llvm::Error makeError(llvm::StringRef path, const llvm::Twine &message) const;

  /// Records an error at the value at `path`, unless there is one already.
  void fail(llvm::StringRef path, const llvm::Twine &message) const;
  /// The same at the key of that value.
  void failAtKey(llvm::StringRef path, const llvm::Twine &message) const;
  /// The recorded error.
  llvm::Error takeError() const;

private:
  StrictJson(llvm::StringRef text, llvm::json::Value root)
      : text(text), root(std::move(root)) {}

  llvm::StringRef text;
  llvm::json::Value root;
  /// Readers see a file that stays the same.
  mutable std::optional<JsonError> error;
};

/// The contents of the regular file `path`. Fails for other files, which may
/// have no end. The message does not name the file.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readRegularFile(llvm::StringRef path);

/// Describes `value` for messages: numbers and short strings by their text,
/// other values by their kind.
std::string describeJson(const llvm::json::Value &value);

} // namespace braid

#endif // BRAID_LIB_SUPPORT_STRICTJSON_H
