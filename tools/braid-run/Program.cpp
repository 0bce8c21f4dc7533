//===- Program.cpp - The programs of a world --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "Bytes.h"
#include "Options.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

using namespace braid::run;

/// FNV-1a with 64 bits, which detects accidental differences of files.
static uint64_t hashBytes(const std::string &bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char byte : bytes)
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

static std::optional<std::string> readFile(const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

void Program::load(const std::string &object) {
  char error[1024] = "";
  library.reset(braid_rt_load(object.c_str(), error, sizeof(error)),
                braid_rt_unload);
  if (!library)
    throw RunError(error);
}

std::optional<int32_t> braid::run::targetOf(const std::string &file) {
  char error[1024];
  std::unique_ptr<braid_rt_library, void (*)(braid_rt_library *)> library(
      braid_rt_load(file.c_str(), error, sizeof(error)), braid_rt_unload);
  if (!library)
    return std::nullopt;
  return braid_rt_library_program(library.get())->target;
}

Program::Program(const std::string &file, const CompileRequest &compile,
                 const Processes &processes)
    : file(file) {
  if (isCompiled(file)) {
    loadCompiled(processes);
    return;
  }
  TemporaryFile object("");
  processes.together([&]() {
    if (processes.isFirst())
      object.name = compileProgram(file, compile);
  });
  receive(object.name, processes, /*isNeeded=*/!processes.isFirst());
}

void Program::loadCompiled(const Processes &processes) {
  if (!processes.areMany())
    return load(file);
  // Each process sends the hash of its file, if any.
  ByteWriter own;
  std::optional<std::string> bytes = readFile(file);
  own.number(bytes.has_value());
  own.number(bytes ? static_cast<int64_t>(hashBytes(*bytes)) : 0);
  std::vector<std::string> all = processes.exchange(own.bytes);
  bool anyNeedsIt = false;
  for (const std::string &other : all)
    anyNeedsIt |= other != all.front();
  if (!anyNeedsIt)
    return processes.together([&]() { load(file); });
  processes.together([&]() {
    if (processes.isFirst() && !bytes)
      throw RunError("rank 0 cannot read " + file);
  });
  receive(file, processes, own.bytes != all.front());
}

/// Loads `object`, or if `isNeeded` the object that the first process sends.
void Program::receive(const std::string &object, const Processes &processes,
                      bool isNeeded) {
  std::string sent;
  if (processes.areMany()) {
    ByteWriter writer;
    processes.together([&]() {
      if (!processes.isFirst())
        return;
      std::optional<std::string> bytes = readFile(object);
      if (!bytes)
        throw RunError("cannot read " + object);
      writer.number(static_cast<int64_t>(hashBytes(*bytes)));
      writer.text(*bytes);
    });
    sent = processes.receiveFromFirst(writer.bytes);
  }
  processes.together([&]() {
    if (!isNeeded)
      return load(object);
    ByteReader reader(sent);
    auto expected = static_cast<uint64_t>(reader.number());
    std::string bytes = reader.text();
    if (hashBytes(bytes) != expected)
      throw RunError(file + " has been damaged on its way from rank 0");
    TemporaryFile copy(makeTemporaryFile("program.so"));
    std::ofstream stream(copy.name, std::ios::binary);
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    stream.close();
    if (!stream)
      throw RunError("cannot write " + copy.name + ": " + std::strerror(errno));
    load(copy.name);
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
