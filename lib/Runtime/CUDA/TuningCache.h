//===- TuningCache.h - Algorithms that stay on disk -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_TUNINGCACHE_H
#define BRAID_RUNTIME_CUDA_TUNINGCACHE_H

#include "CUDA/Processes/Launch.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace braid::rt::cuda {

/// The file of the cache: what BRAID_TUNING_CACHE names, else
/// `braid/algorithms.txt` in XDG_CACHE_HOME or in `.cache` of HOME. Empty: no
/// cache.
std::string findTuningCache(const Variables &variables);

/// The algorithms that earlier runs have chosen by measurement, for matmuls and
/// convolutions. An operation is the text that names it, with the GPU and the
/// version of the library. Without a
/// file nothing stays; a file that has another format, or is too large, is
/// neither read nor written.
class TuningCache {
public:
  /// Reads `file`, if there is one.
  explicit TuningCache(std::string file);

  std::optional<int32_t> find(const std::string &operation) const;

  /// Keeps the algorithm of an operation that has none. Gives a message if the
  /// file cannot be written, and then writes no more.
  std::string add(const std::string &operation, int32_t algorithm);

private:
  std::string path; ///< Empty: nothing stays.
  bool isNew = true;
  std::map<std::string, int32_t> algorithms;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_TUNINGCACHE_H
