//===- TemporaryFolders.h - Folders that do not stay ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TOOLS_TEMPORARYFOLDERS_H
#define BRAID_TOOLS_BRAID_RUN_TOOLS_TEMPORARYFOLDERS_H

#include <string>

namespace braid::run {

/// A process that removes temporary folders which are still there when this
/// process ends, however that happens. Make one before there are threads and
/// libraries with memory of devices, because it begins with a fork.
class FolderKeeper {
public:
  FolderKeeper();
  /// Waits until the folders are gone.
  ~FolderKeeper();
  FolderKeeper(const FolderKeeper &) = delete;
  FolderKeeper &operator=(const FolderKeeper &) = delete;
};

/// Has the keeper, if there is one, remove all folders, and waits for that; for
/// signal handlers before they end this process.
void removeAllTemporaryFolders();

/// A new folder that only this user may read, removed with all its files at the
/// end of the scope or of the process. Throws a RunError.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  /// The path of the file `file` in the folder.
  std::string at(const std::string &file) const { return path + "/" + file; }

  std::string path;
};

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TOOLS_TEMPORARYFOLDERS_H
