//===- CleanUp.h - What does not outlive this process -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without LLVM, because braid-run uses these classes as well.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_CLEANUP_H
#define BRAID_SUPPORT_CLEANUP_H

#include <string>

namespace braid {

/// A second process that cleans up when this one ends, however that happens:
/// after a crash, a signal or SIGKILL, the second process first ends all
/// programs that this process has started, and those that they have started,
/// and then removes the temporary folders that are left. At a normal end the
/// second process removes folders only.
///
/// The programs are known by a variable that this class adds to the
/// environment. A program that makes a session of its own, a daemon, goes on.
/// Make the object before there are threads and libraries with memory of
/// devices, because the second process begins with a fork. Where there is an
/// object already, or no second process can start, another one does nothing.
class CleanUp {
public:
  CleanUp();
  /// Waits until the folders are gone.
  ~CleanUp();
  CleanUp(const CleanUp &) = delete;
  CleanUp &operator=(const CleanUp &) = delete;

private:
  bool isOwner = false;
};

/// Does at once what is done at the end of this process, unfinished output
/// files included, and waits for that. For signal handlers before they end this
/// process.
void cleanUpNow();

/// Has SIGINT, SIGTERM and SIGHUP call `cleanUpNow` and then do what they did
/// before. Signals that are ignored stay so.
void cleanUpOnSignals();

/// A new folder in $TMPDIR, or else /tmp, that only this user may read. The end
/// of the scope or of the process removes the folder with all its files.
class TemporaryFolder {
public:
  /// The name of the folder begins with `prefix`.
  explicit TemporaryFolder(const std::string &prefix);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  /// Why there is no folder; empty if there is one.
  const std::string &getError() const { return error; }

  const std::string &getPath() const { return path; }

  /// The path of the file `file` in the folder.
  std::string at(const std::string &file) const { return path + "/" + file; }

private:
  std::string path;
  std::string error;
};

} // namespace braid

#endif // BRAID_SUPPORT_CLEANUP_H
