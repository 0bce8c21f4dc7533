//===- TuningCache.cpp - Algorithms that stay on disk ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/TuningCache.h"
#include "Base/Bytes.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace braid::rt::cuda;

/// A file of another format has another first line, and is left alone.
static constexpr const char *firstLine = "braid algorithms 1";
/// A larger file is left alone: some 100,000 operations.
static constexpr int64_t mostBytes = int64_t(16) << 20;

std::string braid::rt::cuda::findTuningCache(const Variables &variables) {
  if (const char *given = variables("BRAID_TUNING_CACHE"))
    return given;
  for (auto [variable, folder] : {std::pair("XDG_CACHE_HOME", "/braid"),
                                  std::pair("HOME", "/.cache/braid")})
    if (const char *base = variables(variable); base && *base == '/')
      return std::string(base) + folder + "/algorithms.txt";
  return "";
}

TuningCache::TuningCache(std::string file) : path(std::move(file)) {
  struct stat status = {};
  if (path.empty() || stat(path.c_str(), &status) != 0 || status.st_size == 0)
    return;
  std::ifstream stream(path);
  std::string line;
  if (!S_ISREG(status.st_mode) || status.st_size > mostBytes ||
      !std::getline(stream, line) || line != firstLine) {
    path.clear();
    return;
  }
  isNew = false;
  while (std::getline(stream, line)) {
    size_t tab = line.rfind('\t');
    if (tab == std::string::npos)
      continue;
    int32_t algorithm = -1;
    const char *last = line.data() + line.size();
    auto [end, error] = std::from_chars(line.data() + tab + 1, last, algorithm);
    // A line that another process has yet to finish has no number.
    if (error == std::errc() && end == last && algorithm >= 0)
      algorithms.emplace(line.substr(0, tab), algorithm);
  }
}

std::optional<int32_t> TuningCache::find(const std::string &operation) const {
  auto found = algorithms.find(operation);
  return found == algorithms.end() ? std::nullopt
                                   : std::optional<int32_t>(found->second);
}

std::string TuningCache::add(const std::string &operation, int32_t algorithm) {
  if (path.empty() || !algorithms.emplace(operation, algorithm).second)
    return "";
  std::string text = operation + '\t' + std::to_string(algorithm) + '\n';
  if (isNew) {
    std::error_code error;
    std::filesystem::create_directories(
        std::filesystem::path(path).parent_path(), error);
    text = std::string(firstLine) + '\n' + text;
  }
  int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
                  S_IRUSR | S_IWUSR);
  // Processes may write at a time: a line is one write at the end of the file.
  bool written = file >= 0 && write(file, text.data(), text.size()) ==
                                  static_cast<ssize_t>(text.size());
  std::string problem;
  if (!written) {
    problem = "cannot write " + path + ": " + std::strerror(errno);
    path.clear();
  }
  if (file >= 0)
    close(file);
  isNew = false;
  return problem;
}
