//===- JobKey.cpp - The secret of a job -----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Processes/JobKey.h"
#include "Base/Error.h"
#include "CUDA/Processes/Introduction.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace braid::rt;
using namespace braid::rt::cuda;

/// A key has at least this many characters, so that it cannot be guessed, and
/// at most so many.
static constexpr size_t shortestKey = 16, longestKey = 4096;

static constexpr char keyAdvice[] =
    "give all ranks the same random text in BRAID_JOB_KEY (`openssl rand -hex "
    "32`), or in a file of mode 600 that BRAID_JOB_KEY_FILE names";

namespace {
/// Closes a descriptor at the end of the scope.
class File {
public:
  explicit File(int descriptor) : descriptor(descriptor) {}
  ~File() {
    if (descriptor >= 0)
      close(descriptor);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  explicit operator bool() const { return descriptor >= 0; }

  const int descriptor;
};
} // namespace

static std::string reason() { return std::strerror(errno); }

/// Throws an Error unless the user alone may read what is open here.
static void checkOwner(const File &file, mode_t type, const std::string &name) {
  struct stat status = {};
  if (fstat(file.descriptor, &status) != 0)
    throw Error(name + ": " + reason());
  if ((status.st_mode & S_IFMT) != type)
    throw Error(name + " is no " + (type == S_IFDIR ? "folder" : "file"));
  char mode[8];
  std::snprintf(mode, sizeof(mode), "%03o",
                static_cast<unsigned>(status.st_mode & 0777));
  if (status.st_uid != geteuid() && (type == S_IFDIR || status.st_uid != 0))
    throw Error(name + " belongs to the user " + std::to_string(status.st_uid) +
                ", expected " + std::to_string(geteuid()) +
                ", who runs this rank");
  if (status.st_mode & 077)
    throw Error(name + " is open to other users: found mode " + mode +
                ", expected " + (type == S_IFDIR ? "700" : "600"));
}

static std::string readKey(const File &file, const std::string &name) {
  char buffer[longestKey + 1];
  size_t size = 0;
  while (size < sizeof(buffer)) {
    ssize_t got = read(file.descriptor, buffer + size, sizeof(buffer) - size);
    if (got < 0 && errno != EINTR)
      throw Error(name + ": " + reason());
    if (got == 0)
      break;
    size += got > 0 ? static_cast<size_t>(got) : 0;
  }
  std::string key(buffer, size);
  while (!key.empty() && (key.back() == '\n' || key.back() == '\r'))
    key.pop_back();
  return key;
}

static JobKey checkLength(std::string key, const std::string &source) {
  if (key.size() < shortestKey || key.size() > longestKey)
    throw Error(source + " has a key of " + std::to_string(key.size()) +
                " characters, expected " + std::to_string(shortestKey) +
                " to " + std::to_string(longestKey) + ": " + keyAdvice);
  return {std::move(key), source};
}

//===----------------------------------------------------------------------===//
// The key of a user on a host
//===----------------------------------------------------------------------===//

/// The folder of the sockets and keys of the user's session, if there is one.
static std::string findSessionFolder(const Variables &variables) {
  const char *folder = variables("XDG_RUNTIME_DIR");
  struct stat status = {};
  if (!folder || folder[0] != '/' || stat(folder, &status) != 0 ||
      !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
      (status.st_mode & 077))
    return "";
  return folder;
}

/// Writes a new key into the folder unless another rank is faster. A key is
/// there whole or not at all.
static void makeKey(const File &folder, const std::string &name) {
  std::string draft = "key-" + toHex(drawNonce());
  std::string key = toHex(drawNonce()) + "\n";
  File file(openat(folder.descriptor, draft.c_str(),
                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  bool isWritten = file && write(file.descriptor, key.data(), key.size()) ==
                               static_cast<ssize_t>(key.size());
  int error = errno;
  if (isWritten && linkat(folder.descriptor, draft.c_str(), folder.descriptor,
                          "key", 0) != 0) {
    error = errno;
    isWritten = error == EEXIST;
  }
  if (file)
    unlinkat(folder.descriptor, draft.c_str(), 0);
  if (!isWritten)
    throw Error("cannot write " + name + ": " + std::strerror(error));
}

static JobKey keyOfHost(const Variables &variables) {
  std::string session = findSessionFolder(variables);
  std::string path = session.empty() ? "/tmp/braid-" + std::to_string(geteuid())
                                     : session + "/braid";
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    throw Error("cannot make the folder " + path + ": " + reason());
  File folder(
      open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder)
    throw Error("cannot open the folder " + path + ": " + reason());
  checkOwner(folder, S_IFDIR, path);
  std::string name = path + "/key";
  auto openKey = [&]() {
    return openat(folder.descriptor, "key",
                  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  };
  int found = openKey();
  if (found < 0 && errno == ENOENT) {
    makeKey(folder, name);
    found = openKey();
  }
  File file(found);
  if (!file)
    throw Error("cannot open " + name + ": " + reason());
  checkOwner(file, S_IFREG, name);
  std::string key = readKey(file, name);
  if (key.size() != 2 * sizeof(Digest))
    throw Error(name + " is damaged: remove it");
  // What cleans /tmp leaves files alone that are in use.
  futimens(file.descriptor, nullptr);
  return {std::move(key), name};
}

JobKey braid::rt::cuda::findJobKey(const Launch &launch,
                                   const Variables &variables) {
  if (!launch.key.empty())
    return checkLength(launch.key, "the option 'job-key'");
  const char *key = variables("BRAID_JOB_KEY");
  const char *name = variables("BRAID_JOB_KEY_FILE");
  bool hasKey = key && *key, hasFile = name && *name;
  if (hasKey && hasFile)
    throw Error("BRAID_JOB_KEY and BRAID_JOB_KEY_FILE are both set, expected "
                "one of them");
  if (hasKey)
    return checkLength(key, "BRAID_JOB_KEY");
  if (hasFile) {
    std::string source = std::string("BRAID_JOB_KEY_FILE, ") + name + ",";
    File file(open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!file)
      throw Error(source + " cannot be opened: " + reason());
    checkOwner(file, S_IFREG, source);
    return checkLength(readKey(file, source), source);
  }
  if (launch.hasOtherHosts)
    throw Error("the ranks are on several hosts" +
                (launch.localSize
                     ? " (" + std::to_string(launch.localSize) + " of " +
                           std::to_string(launch.size) + " on this one)"
                     : "") +
                " and have no key by which they know each other: " + keyAdvice);
  try {
    return keyOfHost(variables);
  } catch (const Error &error) {
    throw Error(std::string("the ranks of this host have no key by which they "
                            "know each other: ") +
                error.what() + "; or " + keyAdvice);
  }
}
