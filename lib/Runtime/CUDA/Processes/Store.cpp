//===- Store.cpp - The store of one process -------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Processes/Store.h"
#include "Base/Error.h"

#include <mutex>

using namespace braid::rt;
using namespace braid::rt::cuda;

Store::~Store() = default;

namespace {
class LocalStore final : public Store {
public:
  std::vector<std::string> exchange(const std::string &bytes) override {
    std::lock_guard<std::mutex> lock(mutex);
    if (!failure.empty())
      throw Error(failure);
    return {bytes};
  }
  void post(const std::string &) override {}
  void interrupt(const std::string &text) override {
    std::lock_guard<std::mutex> lock(mutex);
    failure = text;
  }

private:
  std::mutex mutex;
  std::string failure;
};
} // namespace

std::unique_ptr<Store> braid::rt::cuda::createLocalStore() {
  return std::make_unique<LocalStore>();
}
