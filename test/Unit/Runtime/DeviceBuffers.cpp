//===- DeviceBuffers.cpp - Operands of tests in device memory -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceBuffers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

// Functions that the linker calls in the place of the runtime's, and the
// runtime's themselves.
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier)
extern "C" {
decltype(braid_rt_all_reduce) __real_braid_rt_all_reduce;
decltype(braid_rt_reduce) __real_braid_rt_reduce;
decltype(braid_rt_broadcast) __real_braid_rt_broadcast;
decltype(braid_rt_all_gather) __real_braid_rt_all_gather;
decltype(braid_rt_reduce_scatter) __real_braid_rt_reduce_scatter;
decltype(braid_rt_all_to_all) __real_braid_rt_all_to_all;
decltype(braid_rt_all_to_all_splits) __real_braid_rt_all_to_all_splits;
decltype(braid_rt_all_to_all_matrix) __real_braid_rt_all_to_all_matrix;
decltype(braid_rt_gather) __real_braid_rt_gather;
decltype(braid_rt_scatter) __real_braid_rt_scatter;
decltype(braid_rt_send) __real_braid_rt_send;
decltype(braid_rt_recv) __real_braid_rt_recv;
decltype(braid_rt_permute) __real_braid_rt_permute;
decltype(braid_rt_wait) __real_braid_rt_wait;
decltype(braid_rt_host_wait) __real_braid_rt_host_wait;
}

using namespace braid::test;

namespace {
/// Bytes of the host's and their place on the device.
struct Range {
  char *begin, *end;
  char *device;
};

/// What a thread's rank has on its device. Kept outside of the functions: an
/// error leaves them by longjmp.
struct ThreadState {
  DeviceBuffers *buffers = nullptr;
  std::vector<Range> ranges; ///< Of the start that is being made.
  std::vector<braid_rt_view> sources, destinations;
  std::map<void *, std::vector<Range>> requests;
  std::vector<char> copy;
};
} // namespace

static thread_local ThreadState state;

void braid::test::useDeviceBuffers(DeviceBuffers *buffers) {
  state.buffers = buffers;
  state.requests.clear();
  if (buffers)
    buffers->used = 0;
}

/// Whether a start with this view will be refused before it touches memory.
static bool isUsable(const braid_rt_view &view) {
  return braid_rt_dtype_size(view.dtype) > 0 &&
         std::all_of(view.sizes, view.sizes + std::max(0, view.rank),
                     [](int64_t size) { return size >= 0; });
}

static int64_t bytesOf(const braid_rt_view &view) {
  int64_t bytes = braid_rt_dtype_size(view.dtype);
  for (int32_t i = 0; i < view.rank; ++i)
    bytes *= view.sizes[i];
  return bytes;
}

/// Notes the view's bytes, as one range with those that overlap it.
static void addRange(const braid_rt_view &view) {
  Range range = {static_cast<char *>(view.data),
                 static_cast<char *>(view.data) + bytesOf(view), nullptr};
  if (range.begin == range.end)
    return;
  std::vector<Range> apart;
  for (const Range &other : state.ranges)
    if (other.end <= range.begin || range.end <= other.begin) {
      apart.push_back(other);
    } else {
      range.begin = std::min(range.begin, other.begin);
      range.end = std::max(range.end, other.end);
    }
  apart.push_back(range);
  state.ranges.swap(apart);
}

/// Copies a range to the device, small ones without waiting for it.
static void toDevice(Range &range) {
  DeviceBuffers &buffers = *state.buffers;
  auto bytes = static_cast<size_t>(range.end - range.begin);
  size_t begin = (buffers.used + 255) / 256 * 256;
  if (begin + bytes > DeviceBuffers::bytes) {
    std::fputs("conformance: a test's operands need more device memory\n",
               stderr);
    std::abort();
  }
  range.device = buffers.memory + begin;
  buffers.used = begin + bytes;
  constexpr size_t most = 16384, piece = 64;
  char error[512];
  if (bytes <= most) {
    for (size_t i = 0; i < bytes; i += piece)
      braid_rt_write(range.device + i, range.begin + i,
                     static_cast<int64_t>(std::min(piece, bytes - i)), nullptr);
  } else if (braid_rt_copy_to_device(buffers.context, range.device, range.begin,
                                     static_cast<int64_t>(bytes), error,
                                     sizeof(error)) != BRAID_RT_OK) {
    std::fprintf(stderr, "conformance: %s\n", error);
    std::abort();
  }
}

static void moveView(braid_rt_view &view) {
  auto *data = static_cast<char *>(view.data);
  for (const Range &range : state.ranges)
    if (data >= range.begin && data < range.end)
      view.data = range.device + (data - range.begin);
}

/// Puts the operands on the device and starts with `start(sources,
/// destinations)`.
template <typename Start>
static void *startOnDevice(int64_t count, const braid_rt_view *sources,
                           const braid_rt_view *destinations, Start start) {
  if (!state.buffers || count <= 0)
    return start(sources, destinations);
  state.ranges.clear();
  state.sources.assign(sources, sources ? sources + count : sources);
  state.destinations.assign(destinations,
                            destinations ? destinations + count : destinations);
  for (std::vector<braid_rt_view> *views :
       {&state.sources, &state.destinations})
    for (const braid_rt_view &view : *views) {
      if (!isUsable(view))
        return start(sources, destinations);
      addRange(view);
    }
  for (Range &range : state.ranges)
    toDevice(range);
  for (std::vector<braid_rt_view> *views :
       {&state.sources, &state.destinations})
    for (braid_rt_view &view : *views)
      moveView(view);
  void *request = start(sources ? state.sources.data() : nullptr,
                        destinations ? state.destinations.data() : nullptr);
  state.requests[request] = state.ranges;
  return request;
}

/// Copies back what has changed: another rank of this process may be reading
/// what has not.
static void fromDevice(const std::vector<Range> &ranges,
                       const braid_rt_site *site) {
  for (const Range &range : ranges) {
    auto bytes = static_cast<size_t>(range.end - range.begin);
    state.copy.resize(bytes);
    braid_rt_read(state.copy.data(), range.device, static_cast<int64_t>(bytes),
                  site);
    if (std::memcmp(range.begin, state.copy.data(), bytes) != 0)
      std::memcpy(range.begin, state.copy.data(), bytes);
  }
}

static void waitOnDevice(void *request, const braid_rt_site *site,
                         bool onHost) {
  auto found = state.requests.find(request);
  bool hasBuffers = found != state.requests.end();
  // Tests look at what a wait promises on the host.
  bool looks = state.buffers && !hasBuffers;
  if (onHost || looks)
    __real_braid_rt_host_wait(request, site);
  else
    __real_braid_rt_wait(request, site);
  if (!hasBuffers)
    return;
  fromDevice(found->second, site);
  state.requests.erase(found);
}

extern "C" {

void *__wrap_braid_rt_all_reduce(const braid_rt_group *group, int64_t count,
                                 const braid_rt_view *sources,
                                 const braid_rt_view *destinations,
                                 int32_t reduction, const void *scale,
                                 const braid_rt_site *site) {
  return startOnDevice(count, sources, destinations,
                       [&](const braid_rt_view *from, const braid_rt_view *to) {
                         return __real_braid_rt_all_reduce(
                             group, count, from, to, reduction, scale, site);
                       });
}

void *__wrap_braid_rt_reduce(const braid_rt_group *group, int64_t count,
                             const braid_rt_view *sources,
                             const braid_rt_view *destinations,
                             int32_t reduction, const void *scale, int64_t root,
                             const braid_rt_site *site) {
  return startOnDevice(count, sources, destinations,
                       [&](const braid_rt_view *from, const braid_rt_view *to) {
                         return __real_braid_rt_reduce(group, count, from, to,
                                                       reduction, scale, root,
                                                       site);
                       });
}

void *__wrap_braid_rt_reduce_scatter(const braid_rt_group *group, int64_t count,
                                     const braid_rt_view *sources,
                                     const braid_rt_view *destinations,
                                     int32_t reduction, const void *scale,
                                     int64_t dim, const braid_rt_site *site) {
  return startOnDevice(count, sources, destinations,
                       [&](const braid_rt_view *from, const braid_rt_view *to) {
                         return __real_braid_rt_reduce_scatter(
                             group, count, from, to, reduction, scale, dim,
                             site);
                       });
}

/// Calls that have one number after the views: a root or a dimension.
#define BRAID_WRAP_WITH_NUMBER(name)                                           \
  void *__wrap_##name(const braid_rt_group *group, int64_t count,              \
                      const braid_rt_view *sources,                            \
                      const braid_rt_view *destinations, int64_t number,       \
                      const braid_rt_site *site) {                             \
    return startOnDevice(                                                      \
        count, sources, destinations,                                          \
        [&](const braid_rt_view *from, const braid_rt_view *to) {              \
          return __real_##name(group, count, from, to, number, site);          \
        });                                                                    \
  }
BRAID_WRAP_WITH_NUMBER(braid_rt_broadcast)
BRAID_WRAP_WITH_NUMBER(braid_rt_all_gather)
BRAID_WRAP_WITH_NUMBER(braid_rt_gather)
BRAID_WRAP_WITH_NUMBER(braid_rt_scatter)

void *__wrap_braid_rt_all_to_all(const braid_rt_group *group, int64_t count,
                                 const braid_rt_view *sources,
                                 const braid_rt_view *destinations,
                                 const braid_rt_site *site) {
  return startOnDevice(count, sources, destinations,
                       [&](const braid_rt_view *from, const braid_rt_view *to) {
                         return __real_braid_rt_all_to_all(group, count, from,
                                                           to, site);
                       });
}

void *__wrap_braid_rt_all_to_all_splits(
    const braid_rt_group *group, int64_t count, const braid_rt_view *sources,
    const braid_rt_view *destinations, int64_t splitCount,
    const int64_t *sourceSplits, const int64_t *destinationSplits,
    const braid_rt_site *site) {
  return startOnDevice(count, sources, destinations,
                       [&](const braid_rt_view *from, const braid_rt_view *to) {
                         return __real_braid_rt_all_to_all_splits(
                             group, count, from, to, splitCount, sourceSplits,
                             destinationSplits, site);
                       });
}

void *__wrap_braid_rt_all_to_all_matrix(
    const braid_rt_group *group, int64_t count, const braid_rt_view *sources,
    const braid_rt_view *destinations, int64_t splitCount,
    const int64_t *matrix, const braid_rt_site *site) {
  return startOnDevice(count, sources, destinations,
                       [&](const braid_rt_view *from, const braid_rt_view *to) {
                         return __real_braid_rt_all_to_all_matrix(
                             group, count, from, to, splitCount, matrix, site);
                       });
}

void *__wrap_braid_rt_permute(const braid_rt_group *group, int64_t count,
                              const braid_rt_view *sources,
                              const braid_rt_view *destinations,
                              int64_t pairCount, const int64_t *pairs,
                              const braid_rt_site *site) {
  return startOnDevice(count, sources, destinations,
                       [&](const braid_rt_view *from, const braid_rt_view *to) {
                         return __real_braid_rt_permute(group, count, from, to,
                                                        pairCount, pairs, site);
                       });
}

void *__wrap_braid_rt_send(const braid_rt_group *group, int64_t count,
                           const braid_rt_view *sources, int64_t peer,
                           const braid_rt_site *site) {
  return startOnDevice(count, sources, nullptr,
                       [&](const braid_rt_view *from, const braid_rt_view *) {
                         return __real_braid_rt_send(group, count, from, peer,
                                                     site);
                       });
}

void *__wrap_braid_rt_recv(const braid_rt_group *group, int64_t count,
                           const braid_rt_view *destinations, int64_t peer,
                           const braid_rt_site *site) {
  return startOnDevice(count, nullptr, destinations,
                       [&](const braid_rt_view *, const braid_rt_view *to) {
                         return __real_braid_rt_recv(group, count, to, peer,
                                                     site);
                       });
}

void __wrap_braid_rt_wait(void *request, const braid_rt_site *site) {
  waitOnDevice(request, site, /*onHost=*/false);
}

void __wrap_braid_rt_host_wait(void *request, const braid_rt_site *site) {
  waitOnDevice(request, site, /*onHost=*/true);
}
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
