//===- Harness.h - Running functions on ranks -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_RUNTIME_HARNESS_H
#define BRAID_TEST_UNIT_RUNTIME_HARNESS_H

#include "braid-rt/braid-rt.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace braid::test {

/// What a rank runs. An error in the runtime leaves it by longjmp, so a body
/// that may fail holds nothing with a destructor.
using Body = std::function<void(int32_t rank)>;

/// A world of ranks with a short timeout.
class World {
public:
  explicit World(int32_t ranks,
                 const std::function<void(braid_rt_config &)> &adjust = {});

  /// Runs the body on every rank; true when all succeed.
  bool run(const Body &body);

  /// The message of a rank's last run.
  std::string error(int32_t rank) const;
  bool isSecondary(int32_t rank) const;

  braid_rt_context *context(int32_t rank) const {
    return braid_rt_world_context(world.get(), rank);
  }
  braid_rt_world *get() const { return world.get(); }
  int32_t size() const { return ranks; }

private:
  int32_t ranks;
  std::unique_ptr<braid_rt_world, void (*)(braid_rt_world *)> world;
};

/// A world of that many ranks which all tests of the process share.
World &sharedWorld(int32_t ranks);

/// `comm.group @world all`.
extern const braid_rt_group worldGroup;

/// A site with a line and a label.
braid_rt_site siteAt(int32_t line, const char *label = nullptr);

/// A group of lists that lives as long as the object.
class Group {
public:
  Group(const char *name, const std::vector<std::vector<int32_t>> &lists);
  Group(Group &&) = default;
  const braid_rt_group *get() const { return &group; }

private:
  std::vector<int32_t> offsets, ranks;
  braid_rt_group group;
};

/// Bytes with a shape.
struct Buffer {
  Buffer() = default;
  Buffer(int32_t dtype, std::vector<int64_t> sizes);

  braid_rt_view view();
  int64_t count() const;
  int64_t bytes() const { return count() * braid_rt_dtype_size(dtype); }
  /// Fills it with values that depend on the seed, of a range in which sums and
  /// products of eight stay finite.
  void fill(uint64_t seed);
  template <typename T> T *as() { return reinterpret_cast<T *>(data.data()); }

  int32_t dtype = BRAID_RT_F32;
  std::vector<int64_t> sizes;
  std::vector<char> data;
};

} // namespace braid::test

#endif // BRAID_TEST_UNIT_RUNTIME_HARNESS_H
