//===- Harness.h - Running functions on ranks -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// BRAID_TEST_ENGINE names the engine (inproc), BRAID_TEST_OPTIONS its options
// (`reductions=fast,progress=none`). With an engine whose ranks are processes
// every process runs all tests in lockstep and checks its own ranks: a test
// computes what it expects from sources that each process makes for all ranks,
// and nothing that a body writes is read for a rank of another process.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_RUNTIME_HARNESS_H
#define BRAID_TEST_UNIT_RUNTIME_HARNESS_H

#include "DeviceBuffers.h"
#include "braid-rt/braid-rt.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace braid::test {

/// What a rank runs. An error in the runtime leaves it by longjmp, so a body
/// that may fail holds nothing with a destructor.
using Body = std::function<void(int32_t rank)>;

/// The groups that a body uses beside the world.
using Groups = std::vector<const braid_rt_group *>;

/// The value of BRAID_TEST_ENGINE.
const std::string &engineName();

/// Whether the ranks are threads of this process.
bool isInProcess();

/// Whether reductions combine operands in the order of the ranks, and round as
/// the reference does. Else results of floats are compared with a tolerance.
bool reducesInOrder();

/// Why reductions have not the reference's bits; empty when they have.
std::string whyNoOrder();

/// Why the engine does not run a reduction, or the joining and splitting of
/// tensors along a dimension; empty when it does.
std::string whyNoReduction(int32_t reduction, int32_t dtype,
                           int32_t groupSize = 2);
std::string whyNoDimension(int64_t dim);

/// Skips the test where the engine lacks what it is about.
#define BRAID_NEEDS(whyNot)                                                    \
  do {                                                                         \
    const std::string why = whyNot;                                            \
    if (!why.empty())                                                          \
      GTEST_SKIP() << why;                                                     \
  } while (false)

/// How a run of the tests treats those that need a world of their own.
enum class OwnWorlds {
  Usual, ///< In process they run; between processes they are skipped.
  List,  ///< No test runs; those tests are printed, each with its ranks.
  Only   ///< Only those tests run. Between processes it must be one test.
};

/// The value of BRAID_TEST_OWN_WORLDS: unset, `list` or `only`.
OwnWorlds ownWorlds();

/// Ranks of the engine that BRAID_TEST_ENGINE names.
class World {
public:
  /// A world of its own; between processes the only one of the process, which
  /// reports the test's outcome when it ends.
  explicit World(int32_t ranks,
                 const std::function<void(braid_rt_config &)> &adjust = {});
  ~World();
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  /// Announces the groups and runs the body on every rank of this process; true
  /// when all of them succeed.
  bool run(const Body &body, const Groups &groups = {});

  /// The same without an announcement.
  bool runUnannounced(const Body &body);

  /// The message of a local rank's last run.
  std::string error(int32_t rank) const;
  bool isSecondary(int32_t rank) const;

  /// The messages of all local ranks.
  std::string errors() const;

  /// The ranks of this process.
  const std::vector<int32_t> &localRanks() const { return locals; }
  bool isLocal(int32_t rank) const;

  /// A program for the world's target, without groups and entries.
  braid_rt_program emptyProgram(const char *name) const;

  /// What every process gives, in the order of the processes.
  std::vector<std::string> exchange(const std::string &bytes);

  /// The value of every rank, each from the process of that rank.
  std::vector<int64_t> collect(const std::vector<int64_t> &values);

  braid_rt_context *context(int32_t rank) const {
    return braid_rt_world_context(world.get(), rank);
  }
  bool has(const char *capability) const {
    return braid_rt_world_has(world.get(), capability) != 0;
  }
  braid_rt_world *get() const { return world.get(); }
  int32_t size() const { return braid_rt_world_size(world.get()); }

private:
  friend World &sharedWorld(int32_t ranks);

  void announce(const Groups &groups);

  std::vector<int32_t> locals;
  std::set<std::string> announced;
  bool isShared = false;
  std::unique_ptr<braid_rt_world, void (*)(braid_rt_world *)> world;
  /// Of the local ranks; none where the host is the device.
  std::vector<DeviceBuffers> deviceBuffers;
};

/// A world of that many ranks which all tests of the process share; with 0
/// ranks, between processes, the one that the launcher has started.
World &sharedWorld(int32_t ranks);

/// Ends them, when no test will follow.
void endSharedWorlds();

/// Why a test cannot have such a world here; empty when it can.
std::string whyNoSharedWorld(int32_t ranks);
std::string whyNoOwnWorld(int32_t ranks);

/// Skips the test where the shared world has another number of ranks.
#define BRAID_NEEDS_SHARED_WORLD(ranks)                                        \
  do {                                                                         \
    const std::string why = braid::test::whyNoSharedWorld(ranks);              \
    if (!why.empty())                                                          \
      GTEST_SKIP() << why;                                                     \
  } while (false)

/// Skips the test, which fails or configures its world, where this run has no
/// world for it alone.
#define BRAID_NEEDS_OWN_WORLD(ranks)                                           \
  do {                                                                         \
    const std::string why = braid::test::whyNoOwnWorld(ranks);                 \
    if (!why.empty())                                                          \
      GTEST_SKIP() << why;                                                     \
  } while (false)

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
