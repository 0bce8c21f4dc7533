//===- OutputFile.cpp - Files that are whole or not there -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/OutputFile.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace braid;

namespace {
/// A temporary name that a signal handler can read at any moment.
struct Place {
  enum State { Free, Changing, InUse };
  std::atomic<int> state{Free};
  char name[PATH_MAX];
};
} // namespace

/// More files at a time than any tool writes. A further one stays after a
/// signal.
static Place places[16];

/// Notes a name before its file exists. Returns its place, or -1.
static int noteName(const std::string &name) {
  for (Place &place : places) {
    int expected = Place::Free;
    if (name.size() >= sizeof(place.name) ||
        !place.state.compare_exchange_strong(expected, Place::Changing))
      continue;
    std::strcpy(place.name, name.c_str());
    place.state = Place::InUse;
    return static_cast<int>(&place - places);
  }
  return -1;
}

void OutputFile::removeUnfinished() {
  for (Place &place : places) {
    // The owner, which may go on meanwhile, leaves the place alone.
    int expected = Place::InUse;
    if (place.state.compare_exchange_strong(expected, Place::Changing))
      unlink(place.name);
  }
}

/// The temporary name no longer exists.
void OutputFile::forgetName() {
  int expected = Place::InUse;
  if (place >= 0)
    places[place].state.compare_exchange_strong(expected, Place::Free);
  place = -1;
  temporary.clear();
}

static bool startsWith(const std::string &text, const char *start) {
  return text.rfind(start, 0) == 0;
}

/// Sets `target` to where the links of `path` lead. Returns whether one of the
/// names is in /dev or /proc, such as /dev/stdout: such names stand for
/// something that is open already.
static bool followLinks(const std::string &path, std::string &target) {
  target = path;
  constexpr int mostLinks = 40;
  for (int i = 0; i < mostLinks; ++i) {
    if (startsWith(target, "/dev/") || startsWith(target, "/proc/"))
      return true;
    char link[PATH_MAX];
    ssize_t length = readlink(target.c_str(), link, sizeof(link));
    if (length < 0 || length == static_cast<ssize_t>(sizeof(link)))
      return false;
    std::string next(link, static_cast<size_t>(length));
    size_t slash = target.rfind('/');
    if (!startsWith(next, "/") && slash != std::string::npos)
      next = target.substr(0, slash + 1) + next;
    target = next;
  }
  return false;
}

OutputFile::OutputFile(std::string path, unsigned mode)
    : path(std::move(path)) {
  open(mode);
}

OutputFile::~OutputFile() { discard(); }

std::string OutputFile::folder() const {
  size_t slash = target.rfind('/');
  return slash == std::string::npos ? "./" : target.substr(0, slash + 1);
}

void OutputFile::open(unsigned mode) {
  inPlace = followLinks(path, target);
  struct stat older = {};
  bool isThere = stat(target.c_str(), &older) == 0;
  if (!isThere && errno != ENOENT) {
    error = errno;
    return;
  }
  inPlace |= isThere && !S_ISREG(older.st_mode);
  if (isThere && !inPlace &&
      faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) {
    error = errno;
    return;
  }
  if (!inPlace) {
    openUnnamed(mode);
    bool takesNoFile = error == EACCES || error == EPERM || error == EROFS;
    inPlace = isThere && descriptor < 0 && takesNoFile;
  }
  if (inPlace) {
    descriptor =
        ::open(target.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY, mode);
    error = descriptor < 0 ? errno : 0;
  } else if (isThere && descriptor >= 0) {
    // What only the owner or root may change stays as it is for a new file.
    [[maybe_unused]] int ignored =
        fchown(descriptor, older.st_uid, older.st_gid);
    if (fchmod(descriptor, older.st_mode & 0777) != 0)
      error = errno;
  }
}

/// Opens a file in the folder: one without a name, else one with a temporary
/// name.
void OutputFile::openUnnamed(unsigned mode) {
  descriptor = ::open(folder().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  error = descriptor < 0 ? errno : 0;
  bool isUnknown = error == EOPNOTSUPP || error == EISDIR || error == EINVAL;
  if (!isUnknown)
    return;
  error = 0;
  makeName(
      [](OutputFile &file, const char *name, unsigned mode) {
        file.descriptor =
            ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        return file.descriptor < 0 ? -1 : 0;
      },
      mode);
}

/// Tries temporary names until `make` succeeds with an unused one.
bool OutputFile::makeName(int (*make)(OutputFile &file, const char *name,
                                      unsigned mode),
                          unsigned mode) {
  std::random_device random;
  constexpr int most = 100;
  for (int i = 0; i < most; ++i) {
    temporary = folder() + ".braid-" + std::to_string(random());
    place = noteName(temporary);
    if (make(*this, temporary.c_str(), mode) == 0)
      return true;
    error = errno;
    forgetName();
    if (error != EEXIST)
      return false;
    error = 0;
  }
  error = EEXIST;
  return false;
}

void OutputFile::write(std::string_view bytes) {
  // Linux writes at most 2 GiB at a time.
  constexpr size_t most = 1 << 30;
  while (error == 0 && !bytes.empty()) {
    ssize_t written =
        ::write(descriptor, bytes.data(), std::min(bytes.size(), most));
    if (written < 0) {
      error = errno == EINTR ? 0 : errno;
      continue;
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

/// Gives a file without a name a temporary one, and renames the file.
void OutputFile::putInPlace() {
  bool hasName = !temporary.empty();
  if (!hasName)
    hasName = makeName(
        [](OutputFile &file, const char *name, unsigned) {
          std::string own = "/proc/self/fd/" + std::to_string(file.descriptor);
          return linkat(AT_FDCWD, own.c_str(), AT_FDCWD, name,
                        AT_SYMLINK_FOLLOW);
        },
        0);
  if (!hasName)
    return;
  // Some file systems report a full disk only now.
  int closed = close(descriptor);
  descriptor = -1;
  if (closed != 0 || rename(temporary.c_str(), target.c_str()) != 0) {
    error = errno;
    return;
  }
  forgetName();
}

std::string OutputFile::finish() {
  if (error == 0 && !inPlace)
    putInPlace();
  if (inPlace && descriptor >= 0) {
    if (close(descriptor) != 0 && error == 0)
      error = errno;
    descriptor = -1;
  }
  discard();
  return error == 0 ? "" : "cannot write " + path + ": " + std::strerror(error);
}

void OutputFile::discard() {
  if (descriptor >= 0)
    close(descriptor);
  descriptor = -1;
  if (temporary.empty())
    return;
  unlink(temporary.c_str());
  forgetName();
}

std::string braid::writeWholeFile(const std::string &path,
                                  std::string_view bytes, unsigned mode) {
  OutputFile file(path, mode);
  file.write(bytes);
  return file.finish();
}
