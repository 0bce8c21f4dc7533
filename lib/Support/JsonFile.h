//===- JsonFile.h - JSON files that users write -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SUPPORT_JSONFILE_H
#define BRAID_LIB_SUPPORT_JSONFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <string>

namespace braid {

/// The contents of the regular file `path`. Fails for other files, which may
/// have no end. The message does not name the file.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readRegularFile(llvm::StringRef path);

/// The value of a JSON text. Fails, with a line and a column, at what is no
/// JSON; fails where nesting would exceed the stack of LLVM's parser.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// The path of a member of the object, or of an element of the array, at `path`
/// of a JSON text, such as `links[2].bandwidth`. The path of the root is empty.
std::string appendToJsonPath(llvm::StringRef path, llvm::StringRef key);
std::string appendToJsonPath(llvm::StringRef path, size_t index);

/// An error at the value at `path`: `PATH: MESSAGE`.
llvm::Error makeJsonError(llvm::StringRef path, const llvm::Twine &message);

/// Describes `value` for messages: numbers and short strings by their text,
/// other values by their kind.
std::string describeJson(const llvm::json::Value &value);

} // namespace braid

#endif // BRAID_LIB_SUPPORT_JSONFILE_H
