//===- LaunchGroups.cpp - Operations that one launch can start ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchGroups.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <utility>

using namespace llvm;
using namespace braid;

namespace {
/// The bucket of one key that is being filled.
struct OpenBucket {
  Bucket bucket;
  int64_t bytes = 0;
  /// The number of the limit that holds for it.
  size_t limitIndex = 0;
};
} // namespace

SmallVector<Bucket> braid::computeBucketAssignment(ArrayRef<BucketItem> items,
                                                   ArrayRef<int64_t> limits) {
  assert(!limits.empty() && "expected at least one limit");
  SmallVector<Bucket> buckets;
  // In the order in which the keys come, so that the result is one and the
  // same on every run.
  MapVector<unsigned, OpenBucket> openBuckets;
  for (auto [index, item] : enumerate(items)) {
    if (item.alone) {
      buckets.push_back({{static_cast<unsigned>(index)}, Bucket::noLimit});
      continue;
    }
    OpenBucket &open = openBuckets[item.key];
    open.bucket.items.push_back(index);
    open.bucket.limit = limits[open.limitIndex];
    open.bytes += item.bytes;
    if (open.bytes < open.bucket.limit)
      continue;
    buckets.push_back(std::exchange(open.bucket, Bucket()));
    open.bytes = 0;
    if (open.limitIndex + 1 < limits.size())
      ++open.limitIndex;
  }
  for (auto &[key, open] : openBuckets)
    if (!open.bucket.items.empty())
      buckets.push_back(std::move(open.bucket));
  llvm::sort(buckets, [](const Bucket &lhs, const Bucket &rhs) {
    return lhs.items.front() < rhs.items.front();
  });
  return buckets;
}

namespace {

class GroupFinder {
public:
  explicit GroupFinder(const ScheduleGraph &graph)
      : graph(graph), position(graph.size()), groupOf(graph.size(), none),
        roles(graph.size(), {0, Role::other}), isWaiting(graph.size(), false) {
    found.order = getProgramOrder(graph);
    for (auto [place, node] : enumerate(found.order))
      position[node] = place;
  }

  /// Makes groups of `starts`, which may share a launch.
  void addBucket(SmallVector<unsigned> starts);
  LaunchGroups takeResult() { return std::move(found); }

private:
  enum class Role : uint8_t { other, member, dependent };

  SmallVector<unsigned, 4> findMembers(unsigned first, size_t numWaiting);
  bool dependsOnGroup(unsigned node) const;
  void closeGroup(SmallVector<unsigned, 4> members);

  Role getRole(unsigned node) const {
    return roles[node].first == round ? roles[node].second : Role::other;
  }
  void setRole(unsigned node, Role role) { roles[node] = {round, role}; }

  static constexpr unsigned none = ~0u;
  /// Starts in a row that depend on a group, after which it ends: a chain of
  /// starts then takes linear time.
  static constexpr unsigned mostDependent = 16;

  const ScheduleGraph &graph;
  LaunchGroups found;
  /// The place of each node in the order, and its group.
  std::vector<unsigned> position, groupOf;
  /// What a node is to the group that is formed in the round.
  std::vector<std::pair<unsigned, Role>> roles;
  unsigned round = 0;
  /// The starts of the bucket that have no group yet.
  std::vector<bool> isWaiting;
};

} // namespace

/// True if `node`, or a node of its group, has to follow the group that is
/// being formed.
bool GroupFinder::dependsOnGroup(unsigned node) const {
  auto follows = [&](unsigned other) {
    return any_of(graph.predecessors(other), [&](unsigned before) {
      Role role = getRole(before);
      return role == Role::member || role == Role::dependent;
    });
  };
  if (groupOf[node] == none)
    return follows(node);
  return any_of(found.groups[groupOf[node]], follows);
}

/// Puts the nodes from the first member to the last one, in the order: what the
/// members do not lead to, the members, and the rest.
void GroupFinder::closeGroup(SmallVector<unsigned, 4> members) {
  size_t first = position[members.front()], last = position[members.back()];
  llvm::sort(members);
  SmallVector<unsigned> before, behind;
  for (size_t place = first; place <= last; ++place) {
    unsigned node = found.order[place];
    Role role = getRole(node);
    if (role == Role::dependent)
      behind.push_back(node);
    else if (role != Role::member)
      before.push_back(node);
  }
  size_t place = first;
  for (ArrayRef<unsigned> part :
       {ArrayRef<unsigned>(before), ArrayRef<unsigned>(members),
        ArrayRef<unsigned>(behind)})
    for (unsigned node : part) {
      found.order[place] = node;
      position[node] = place++;
    }
  for (unsigned node : members) {
    groupOf[node] = found.groups.size();
    isWaiting[node] = false;
  }
  found.groups.push_back(std::move(members));
}

/// `first` and the waiting starts behind it that may join it, in the order.
/// `numWaiting` starts behind it wait.
SmallVector<unsigned, 4> GroupFinder::findMembers(unsigned first,
                                                  size_t numWaiting) {
  ++round;
  SmallVector<unsigned, 4> members = {first};
  setRole(first, Role::member);
  unsigned numDependent = 0;
  for (size_t place = position[first] + 1;
       numWaiting != 0 && numDependent != mostDependent; ++place) {
    unsigned node = found.order[place];
    numWaiting -= isWaiting[node];
    if (dependsOnGroup(node)) {
      setRole(node, Role::dependent);
      // A group moves as a whole.
      if (groupOf[node] != none)
        for (unsigned other : found.groups[groupOf[node]])
          setRole(other, Role::dependent);
      numDependent += isWaiting[node];
    } else if (isWaiting[node]) {
      setRole(node, Role::member);
      members.push_back(node);
      numDependent = 0;
    }
  }
  return members;
}

void GroupFinder::addBucket(SmallVector<unsigned> starts) {
  for (unsigned start : starts)
    isWaiting[start] = true;
  auto isBefore = [&](unsigned a, unsigned b) {
    return position[a] < position[b];
  };
  llvm::sort(starts, isBefore);
  size_t index = 0;
  while (index < starts.size()) {
    unsigned first = starts[index++];
    isWaiting[first] = false;
    SmallVector<unsigned, 4> members =
        findMembers(first, starts.size() - index);
    if (members.size() < 2)
      continue;
    closeGroup(std::move(members));
    // What depends on the group has moved.
    llvm::erase_if(starts, [&](unsigned start) { return !isWaiting[start]; });
    llvm::sort(starts, isBefore);
    index = 0;
  }
}

LaunchGroups braid::findLaunchGroups(const ScheduleGraph &graph,
                                     ArrayRef<LaunchItem> items,
                                     const LaunchLimits &limits) {
  GroupFinder finder(graph);
  for (auto [key, bytes] : enumerate(limits.bytes)) {
    if (bytes.empty())
      continue;
    SmallVector<BucketItem> sizes;
    SmallVector<unsigned> nodes;
    for (const LaunchItem &item : items) {
      if (item.key != key)
        continue;
      sizes.push_back({item.bytes, item.key});
      nodes.push_back(item.node);
    }
    for (const Bucket &bucket : computeBucketAssignment(sizes, bytes)) {
      SmallVector<unsigned> starts;
      for (unsigned index : bucket.items) {
        unsigned node = nodes[index];
        bool isFull = (limits.count != 0 && starts.size() >= limits.count) ||
                      (limits.span != 0 && !starts.empty() &&
                       node - starts.front() > limits.span);
        if (isFull)
          finder.addBucket(std::exchange(starts, {}));
        starts.push_back(node);
      }
      finder.addBucket(std::move(starts));
    }
  }
  LaunchGroups found = finder.takeResult();
  assert(isLegalOrder(graph, found.order) && "the order keeps all edges");
  return found;
}
