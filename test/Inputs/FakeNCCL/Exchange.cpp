//===- Exchange.cpp - How ranks of the fake NCCL meet ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exchange.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace fakenccl;

namespace {
class LocalExchange final : public Exchange {
public:
  void put(const std::string &name, std::string bytes, int readers) override {
    if (readers == 0)
      return;
    std::lock_guard<std::mutex> lock(mutex);
    entries[name] = {std::move(bytes), readers};
    changed.notify_all();
  }

  bool take(const std::string &name, std::string &bytes,
            const std::atomic<bool> &cancelled) override {
    std::unique_lock<std::mutex> lock(mutex);
    auto found = entries.end();
    while ((found = entries.find(name)) == entries.end()) {
      if (cancelled)
        return false;
      changed.wait_for(lock, std::chrono::milliseconds(1));
    }
    bytes = found->second.bytes;
    if (--found->second.readers == 0)
      entries.erase(found);
    return true;
  }

private:
  struct Entry {
    std::string bytes;
    int readers;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, Entry> entries;
};

/// Files stay: the test removes its folder.
class FolderExchange final : public Exchange {
public:
  explicit FolderExchange(std::string folder) : folder(std::move(folder)) {}

  void put(const std::string &name, std::string bytes, int) override {
    std::string path = folder + "/" + name;
    std::string unfinished = path + "." + std::to_string(getpid());
    std::FILE *file = std::fopen(unfinished.c_str(), "wb");
    bool written = file && std::fwrite(bytes.data(), 1, bytes.size(), file) ==
                               bytes.size();
    if (!file || std::fclose(file) != 0 || !written ||
        std::rename(unfinished.c_str(), path.c_str()) != 0) {
      std::fprintf(stderr, "fake NCCL: cannot write %s\n", path.c_str());
      std::abort();
    }
  }

  bool take(const std::string &name, std::string &bytes,
            const std::atomic<bool> &cancelled) override {
    std::string path = folder + "/" + name;
    while (true) {
      if (std::FILE *file = std::fopen(path.c_str(), "rb")) {
        char buffer[65536];
        bytes.clear();
        while (size_t count = std::fread(buffer, 1, sizeof(buffer), file))
          bytes.append(buffer, count);
        std::fclose(file);
        return true;
      }
      if (cancelled)
        return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

private:
  const std::string folder;
};
} // namespace

Exchange &fakenccl::exchange() {
  // Never destroyed: threads of streams may still use it.
  static Exchange *instance = [] {
    const char *folder = std::getenv("FAKE_NCCL_DIRECTORY");
    return folder && *folder
               ? static_cast<Exchange *>(new FolderExchange(folder))
               : new LocalExchange();
  }();
  return *instance;
}
