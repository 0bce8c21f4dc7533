//===- RenamedArguments.h - Former options of tools -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options of command lines that had other names or units in the last release.
// The old spelling works for one release, with a warning that says the new one.
// braid-run shares this file, so it needs the standard library only.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_RENAMEDARGUMENTS_H
#define BRAID_SUPPORT_RENAMEDARGUMENTS_H

#include <optional>
#include <string>
#include <vector>

namespace braid {

/// An option of a tool that had another spelling.
struct RenamedArgument {
  /// Names with their dashes; the same if only values have changed.
  const char *oldName, *newName;
  /// True for an option with a value, which may be the next argument.
  bool takesValue = false;
  /// Converts the text behind the old name: nothing, or `=` and a value. No
  /// result if that is no old spelling. Null if the text stays as it is. An
  /// argument that stays as it is is no old spelling, either.
  std::optional<std::string> (*convert)(const std::string &text) = nullptr;
};

/// The present spelling of a command line.
struct PresentArguments {
  std::vector<std::string> arguments;
  /// One line for each old spelling, without the name of the tool.
  std::vector<std::string> warnings;
};

/// Replaces the old spellings of `renamed` in `arguments`, which the tool's
/// name does not begin.
PresentArguments renameArguments(const std::vector<std::string> &arguments,
                                 const std::vector<RenamedArgument> &renamed);

/// Appends `unit` to `text`, `=` and a number; returns any other text as it is.
std::string appendUnit(const std::string &text, const char *unit);

/// `=each` for the text behind `--verify-program-each`, a flag, if the flag is
/// set; no result otherwise.
std::optional<std::string> convertVerifyEach(const std::string &text);

/// A command line as `main` takes it, in its present spelling.
class ArgumentList {
public:
  /// Prints one warning of `tool` for each old spelling of `renamed`.
  ArgumentList(const char *tool, int argc, char **argv,
               const std::vector<RenamedArgument> &renamed);

  int size() const { return static_cast<int>(texts.size()); }
  char **get() { return pointers.data(); }

private:
  std::vector<std::string> texts;
  std::vector<char *> pointers;
};

} // namespace braid

#endif // BRAID_SUPPORT_RENAMEDARGUMENTS_H
