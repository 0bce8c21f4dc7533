//===- OutputFile.h - Files that are whole or not there ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without LLVM, because the runtime and braid-run use this class as well.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_OUTPUTFILE_H
#define BRAID_SUPPORT_OUTPUTFILE_H

#include <string>
#include <string_view>

namespace braid {

/// Writes a file whole: its name appears, or takes the place of an older file,
/// when all bytes are written. Until then the bytes are in a file without a
/// name in the same folder, or where the file system has no such files, in one
/// with a temporary name.
///
/// A symbolic link stays, and the file that it leads to is written. Devices and
/// pipes, what is in /dev and /proc, and a file in a folder that takes no new
/// files are written in place.
class OutputFile {
public:
  /// Opens the file. A new file has the permissions `mode`, less the umask; an
  /// older one keeps those it has.
  explicit OutputFile(std::string path, unsigned mode = 0666);
  /// Leaves no trace of a file that is not finished.
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  /// Writes bytes. After an error this function does nothing.
  void write(std::string_view bytes);

  /// Whether there has been an error, which `finish` returns.
  bool hasFailed() const { return error != 0; }

  /// Puts the file in its place. Returns an error that names the file, or the
  /// empty string.
  std::string finish();

  /// Removes the temporary files of all objects of this process, for signal
  /// handlers before they end the process. Files without a name need no
  /// removal.
  static void removeUnfinished();

private:
  void open(unsigned mode);
  void openUnnamed(unsigned mode);
  bool makeName(int (*make)(OutputFile &file, const char *name, unsigned mode),
                unsigned mode);
  void putInPlace();
  void discard();
  void forgetName();
  std::string folder() const;

  std::string path;
  std::string target;    ///< Where the links of `path` lead.
  std::string temporary; ///< The temporary name, if there is one.
  int place = -1;        ///< Where signal handlers find that name.
  int descriptor = -1;
  int error = 0; ///< The first one, as errno has it.
  bool inPlace = false;
};

/// Writes `bytes` to the file `path` whole. Returns an error that names the
/// file, or the empty string.
std::string writeWholeFile(const std::string &path, std::string_view bytes,
                           unsigned mode = 0666);

} // namespace braid

#endif // BRAID_SUPPORT_OUTPUTFILE_H
