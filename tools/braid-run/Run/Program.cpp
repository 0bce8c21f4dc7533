//===- Program.cpp - The programs of a world --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Program.h"
#include "Base/Sha256.h"
#include "Common/Bytes.h"
#include "Operations/Messages.h"
#include "Options/Options.h"
#include "Tools/Tools.h"
#include "braid/Support/OutputFile.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace braid::run;
using braid::rt::listRanks;
using braid::rt::sha256;
using braid::rt::toHex;

static std::optional<std::string> readFile(const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

static std::string digestOf(const std::string &bytes) {
  return toHex(sha256(bytes));
}

namespace {
/// The program of one process: its digest, or why there is none.
struct OwnFile {
  std::string name, digest, error;

  explicit OwnFile(const std::string &file) : name(file) {
    errno = 0;
    if (std::optional<std::string> bytes = readFile(file))
      digest = digestOf(*bytes);
    else
      error = std::strerror(errno);
  }
  explicit OwnFile(ByteReader &&reader)
      : name(reader.text()), digest(reader.text()), error(reader.text()) {}

  std::string encode() const {
    ByteWriter writer;
    for (const std::string *text : {&name, &digest, &error})
      writer.text(*text);
    return writer.bytes;
  }
  /// What follows the names of `count` ranks.
  std::string describe(size_t count) const {
    if (digest.empty())
      return " cannot read " + name + ": " + error;
    return (count == 1 ? " has " : " have ") + name + " (SHA-256 " +
           digest.substr(0, 16) + "...)";
  }
};
} // namespace

/// Throws on all processes unless all have the same file as the first one, or
/// none: then what opens the file says why.
static void compareFiles(const std::string &file, const Processes &processes) {
  std::vector<OwnFile> files;
  for (const std::string &bytes : processes.exchange(OwnFile(file).encode()))
    files.emplace_back(ByteReader(bytes));
  // Ranks by what they have; the first process has rank 0.
  std::map<std::string, std::vector<int32_t>> ranks;
  bool differs = false;
  for (size_t rank = 0; rank < files.size(); ++rank) {
    differs |= files[rank].digest != files.front().digest;
    ranks[files[rank].describe(1)].push_back(static_cast<int32_t>(rank));
  }
  if (!differs)
    return;
  auto say = [&](const std::vector<int32_t> &those) {
    return listRanks(those) + files[those.front()].describe(those.size());
  };
  const std::vector<int32_t> &first = ranks.at(files.front().describe(1));
  std::string text = "the ranks have different programs: " + say(first);
  for (const auto &[what, those] : ranks)
    if (those.front() != 0)
      text += ", " + say(those);
  throw Failure(1,
                text + "; give all ranks the same file, or have rank 0 send "
                       "its program to the others: --send-program",
                /*everywhere=*/true);
}

void Program::load(const std::string &object) {
  char error[1024] = "";
  library.reset(braid_rt_load(object.c_str(), error, sizeof(error)),
                braid_rt_unload);
  if (!library)
    throw RunError(error);
}

std::optional<int32_t> braid::run::targetOf(const std::string &file,
                                            std::string &why) {
  char error[1024] = "";
  std::unique_ptr<braid_rt_library, void (*)(braid_rt_library *)> library(
      braid_rt_load(file.c_str(), error, sizeof(error)), braid_rt_unload);
  why = error;
  if (!library)
    return std::nullopt;
  return braid_rt_library_program(library.get())->target;
}

Program::Program(const std::string &file, const CompileRequest &compile,
                 const Processes &processes)
    : file(file) {
  bool isSent = processes.areMany() && compile.isSent;
  if (processes.areMany() && !isSent)
    compareFiles(file, processes);
  if (isSent)
    loadSent(compile, processes);
  else if (isCompiled(file))
    processes.together([&]() { load(file); });
  else
    loadOwn(compile, processes);
}

/// True if this user alone may write the file, which lies in a folder that
/// nobody else may enter. Processes of other users cannot have made the file.
static bool isOwnTemporaryFile(const std::string &file) {
  struct stat status = {};
  if (lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != geteuid() || (status.st_mode & 022))
    return false;
  std::string folder = file.substr(0, file.rfind('/'));
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == geteuid() && !(status.st_mode & 077);
}

/// Loads the object that the first process has compiled, if that is a file of
/// this user on this host. False if this process has to compile for itself.
bool Program::loadFromFirst(const std::string &object,
                            const std::string &digest) {
  if (!isOwnTemporaryFile(object))
    return false;
  std::optional<std::string> bytes = readFile(object);
  if (!bytes || digestOf(*bytes) != digest)
    return false;
  load(object);
  return true;
}

/// Each process has the same MLIR file. The first one compiles for all on its
/// host.
void Program::loadOwn(const CompileRequest &compile,
                      const Processes &processes) {
  std::optional<RunFolder> folder;
  std::string object;
  auto compileHere = [&]() {
    object = folder.emplace().at("program.so");
    compileProgram(file, compile, object);
  };
  ByteWriter made;
  processes.together([&]() {
    if (!processes.isFirst())
      return;
    compileHere();
    made.text(object);
    made.text(digestOf(readFile(object).value_or("")));
  });
  std::string first = processes.receiveFromFirst(made.bytes);
  processes.together([&]() {
    if (processes.isFirst())
      return load(object);
    ByteReader reader(first);
    std::string name = reader.text();
    if (loadFromFirst(name, reader.text()))
      return;
    compileHere();
    load(object);
  });
}

/// The first process reads or compiles, and sends to those with another file.
void Program::loadSent(const CompileRequest &compile,
                       const Processes &processes) {
  std::optional<RunFolder> made;
  std::string object = file;
  ByteWriter writer;
  processes.together([&]() {
    if (!processes.isFirst())
      return;
    if (!isCompiled(file)) {
      object = made.emplace().at("program.so");
      compileProgram(file, compile, object);
    }
    std::optional<std::string> bytes = readFile(object);
    if (!bytes)
      throw RunError("rank 0 cannot read " + object);
    writer.text(digestOf(*bytes));
    writer.text(*bytes);
  });
  std::string sent = processes.receiveFromFirst(writer.bytes);
  processes.together([&]() {
    if (processes.isFirst())
      return load(object);
    ByteReader reader(sent);
    std::string expected = reader.text();
    std::string bytes = reader.text();
    if (digestOf(bytes) != expected)
      throw RunError(file + " has been damaged on its way from rank 0");
    RunFolder folder;
    std::string copy = folder.at("program.so");
    if (std::string error = writeWholeFile(copy, bytes); !error.empty())
      throw RunError(error);
    load(copy);
  });
}

const braid_rt_entry &Program::entry(const std::string &name) const {
  char error[1024];
  const braid_rt_entry *entry = braid_rt_find_entry(
      &table(), name.empty() ? nullptr : name.c_str(), error, sizeof(error));
  if (!entry)
    throw UsageError(file + ": " + error + "; --entry=NAME chooses one");
  return *entry;
}
