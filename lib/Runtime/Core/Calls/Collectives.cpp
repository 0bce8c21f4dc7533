//===- Collectives.cpp - Collectives of compiled code -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid-rt/Collectives.h"
#include "Core/Context.h"

#include <cstring>

using namespace braid::rt;

namespace {
/// The common arguments of all starts.
struct Launch {
  int32_t kind;
  const braid_rt_group *group;
  int64_t count;
  const braid_rt_view *sources;
  const braid_rt_view *destinations;
  const braid_rt_site *site;
};
} // namespace

/// True for collectives that join the members' tensors or split a tensor.
static bool joinsOrSplits(int32_t kind) {
  braid_rt_shape shape = braid_rt_get_traits(kind)->shape;
  return shape == BRAID_RT_SHAPE_JOIN || shape == BRAID_RT_SHAPE_SPLIT;
}

static void setSizes(Sizes &sizes, const braid_rt_view &view, int32_t kind) {
  // A tensor without dimensions is one element along dimension 0.
  if (view.rank == 0 && joinsOrSplits(kind))
    sizes.assign(1, 1);
  else
    sizes.assign(view.sizes, view.sizes + view.rank);
}

static void checkView(const braid_rt_view &view) {
  if (!braid_rt_dtype_size(view.dtype))
    throw Error(std::to_string(view.dtype) + " is no element type");
  if (view.rank < 0)
    throw Error("a tensor has rank " + std::to_string(view.rank));
  for (int32_t i = 0; i < view.rank; ++i)
    if (view.sizes[i] < 0)
      throw Error("dimension " + std::to_string(i) + " has size " +
                  std::to_string(view.sizes[i]));
}

/// The operands may be those of an earlier operation.
static void fillOperation(Operation &operation, const Launch &launch) {
  operation.kind = launch.kind;
  if (launch.site)
    operation.site = *launch.site;
  if (launch.count < 0)
    throw Error("a launch has " + std::to_string(launch.count) + " operands");
  operation.operands.resize(launch.count);
  for (int64_t i = 0; i < launch.count; ++i) {
    Operand &operand = operation.operands[i];
    operand.source = nullptr;
    operand.destination = nullptr;
    operand.sourceSizes.clear();
    operand.destinationSizes.clear();
    if (launch.sources) {
      checkView(launch.sources[i]);
      operand.source = static_cast<const char *>(launch.sources[i].data);
      operand.dtype = launch.sources[i].dtype;
      setSizes(operand.sourceSizes, launch.sources[i], launch.kind);
    }
    if (launch.destinations) {
      const braid_rt_view &view = launch.destinations[i];
      checkView(view);
      operand.destination = static_cast<char *>(view.data);
      setSizes(operand.destinationSizes, view, launch.kind);
      if (launch.sources && view.dtype != operand.dtype)
        throw Error(
            std::string(braid_rt_kind_name(launch.kind)) + ": the operand is " +
            tensorType(operand.sourceSizes, operand.dtype) + ", the result " +
            tensorType(operand.destinationSizes, view.dtype) +
            ", expected the same element type");
      operand.dtype = view.dtype;
    }
  }
}

static void setReduction(Operation &operation, int32_t reduction,
                         const void *scale) {
  if (!braid_rt_reduction_name(reduction))
    throw Error(std::to_string(reduction) + " is no reduction");
  operation.reduction = reduction;
  if (reduction != BRAID_RT_PREMUL_SUM)
    return;
  if (!scale)
    throw Error("premul_sum has no scale");
  int32_t dtype = operation.operands.empty() ? int32_t(BRAID_RT_F32)
                                             : operation.operands[0].dtype;
  for (const Operand &operand : operation.operands)
    if (operand.dtype != dtype)
      throw Error(operation.signature() +
                  ": a premul_sum's operands have different element types");
  std::memcpy(operation.scale, scale,
              static_cast<size_t>(braid_rt_dtype_size(dtype)));
}

/// Builds the operation, lets `adjust` complete it and starts it.
template <typename Adjust>
static void *start(const Launch &launch, Adjust adjust) {
  return leaveOnError([&](Context &context) {
    Operation operation;
    operation.operands = context.takeOperands();
    try {
      fillOperation(operation, launch);
      adjust(operation);
    } catch (const Error &error) {
      throw Error(messagePrefix(launch.site ? *launch.site : braid_rt_site{},
                                context.rank) +
                  error.what());
    }
    return context.start(*launch.group, std::move(operation));
  });
}

void *braid_rt_all_reduce(const braid_rt_group *group, int64_t count,
                          const braid_rt_view *sources,
                          const braid_rt_view *destinations, int32_t reduction,
                          const void *scale, const braid_rt_site *site) {
  return start(
      {BRAID_RT_ALL_REDUCE, group, count, sources, destinations, site},
      [&](Operation &operation) { setReduction(operation, reduction, scale); });
}

void *braid_rt_reduce(const braid_rt_group *group, int64_t count,
                      const braid_rt_view *sources,
                      const braid_rt_view *destinations, int32_t reduction,
                      const void *scale, int64_t root,
                      const braid_rt_site *site) {
  return start({BRAID_RT_REDUCE, group, count, sources, destinations, site},
               [&](Operation &operation) {
                 setReduction(operation, reduction, scale);
                 operation.root = root;
               });
}

void *braid_rt_broadcast(const braid_rt_group *group, int64_t count,
                         const braid_rt_view *sources,
                         const braid_rt_view *destinations, int64_t root,
                         const braid_rt_site *site) {
  return start({BRAID_RT_BROADCAST, group, count, sources, destinations, site},
               [&](Operation &operation) { operation.root = root; });
}

void *braid_rt_all_gather(const braid_rt_group *group, int64_t count,
                          const braid_rt_view *sources,
                          const braid_rt_view *destinations, int64_t dim,
                          const braid_rt_site *site) {
  return start({BRAID_RT_ALL_GATHER, group, count, sources, destinations, site},
               [&](Operation &operation) { operation.dim = dim; });
}

void *braid_rt_reduce_scatter(const braid_rt_group *group, int64_t count,
                              const braid_rt_view *sources,
                              const braid_rt_view *destinations,
                              int32_t reduction, const void *scale, int64_t dim,
                              const braid_rt_site *site) {
  return start(
      {BRAID_RT_REDUCE_SCATTER, group, count, sources, destinations, site},
      [&](Operation &operation) {
        setReduction(operation, reduction, scale);
        operation.dim = dim;
      });
}

void *braid_rt_all_to_all(const braid_rt_group *group, int64_t count,
                          const braid_rt_view *sources,
                          const braid_rt_view *destinations,
                          const braid_rt_site *site) {
  return start({BRAID_RT_ALL_TO_ALL, group, count, sources, destinations, site},
               [](Operation &) {});
}

void *braid_rt_all_to_all_splits(const braid_rt_group *group, int64_t count,
                                 const braid_rt_view *sources,
                                 const braid_rt_view *destinations,
                                 int64_t splitCount,
                                 const int64_t *sourceSplits,
                                 const int64_t *destinationSplits,
                                 const braid_rt_site *site) {
  return start({BRAID_RT_ALL_TO_ALL, group, count, sources, destinations, site},
               [&](Operation &operation) {
                 operation.splits = Splits::Lists;
                 operation.sourceSplits.assign(sourceSplits,
                                               sourceSplits + splitCount);
                 operation.destinationSplits.assign(
                     destinationSplits, destinationSplits + splitCount);
               });
}

void *braid_rt_all_to_all_matrix(const braid_rt_group *group, int64_t count,
                                 const braid_rt_view *sources,
                                 const braid_rt_view *destinations,
                                 int64_t splitCount, const int64_t *matrix,
                                 const braid_rt_site *site) {
  return start({BRAID_RT_ALL_TO_ALL, group, count, sources, destinations, site},
               [&](Operation &operation) {
                 operation.splits = Splits::Matrix;
                 operation.matrix.assign(matrix,
                                         matrix + splitCount * splitCount);
               });
}

void *braid_rt_gather(const braid_rt_group *group, int64_t count,
                      const braid_rt_view *sources,
                      const braid_rt_view *destinations, int64_t root,
                      const braid_rt_site *site) {
  return start({BRAID_RT_GATHER, group, count, sources, destinations, site},
               [&](Operation &operation) { operation.root = root; });
}

void *braid_rt_scatter(const braid_rt_group *group, int64_t count,
                       const braid_rt_view *sources,
                       const braid_rt_view *destinations, int64_t root,
                       const braid_rt_site *site) {
  return start({BRAID_RT_SCATTER, group, count, sources, destinations, site},
               [&](Operation &operation) { operation.root = root; });
}

void *braid_rt_send(const braid_rt_group *group, int64_t count,
                    const braid_rt_view *sources, int64_t peer,
                    const braid_rt_site *site) {
  return start({BRAID_RT_SEND, group, count, sources, nullptr, site},
               [&](Operation &operation) { operation.peer = peer; });
}

void *braid_rt_recv(const braid_rt_group *group, int64_t count,
                    const braid_rt_view *destinations, int64_t peer,
                    const braid_rt_site *site) {
  return start({BRAID_RT_RECV, group, count, nullptr, destinations, site},
               [&](Operation &operation) { operation.peer = peer; });
}

void *braid_rt_permute(const braid_rt_group *group, int64_t count,
                       const braid_rt_view *sources,
                       const braid_rt_view *destinations, int64_t pairCount,
                       const int64_t *pairs, const braid_rt_site *site) {
  return start({BRAID_RT_PERMUTE, group, count, sources, destinations, site},
               [&](Operation &operation) {
                 operation.pairs.assign(pairs, pairs + 2 * pairCount);
               });
}

void *braid_rt_barrier(const braid_rt_group *group, const braid_rt_site *site) {
  return start({BRAID_RT_BARRIER, group, 0, nullptr, nullptr, site},
               [](Operation &) {});
}

void braid_rt_wait(void *request, const braid_rt_site *site) {
  leaveOnError(
      [&](Context &context) { context.wait(request, site, /*onHost=*/false); });
}

void braid_rt_host_wait(void *request, const braid_rt_site *site) {
  leaveOnError(
      [&](Context &context) { context.wait(request, site, /*onHost=*/true); });
}

void *braid_rt_stream(void) {
  return leaveOnError(
      [&](Context &context) { return context.device.computeStream(); });
}

/// The rank's communicator of a group. Errors begin with the site.
static Communicator *findCommunicator(Context &context,
                                      const braid_rt_group *group,
                                      const braid_rt_site *site) {
  try {
    return context.communicator(*group);
  } catch (const Error &error) {
    throw Error(messagePrefix(site ? *site : braid_rt_site{}, context.rank) +
                error.what());
  }
}

int64_t braid_rt_rank(const braid_rt_group *group, const braid_rt_site *site) {
  return leaveOnError([&](Context &context) {
    Communicator *communicator = findCommunicator(context, group, site);
    return communicator ? communicator->spec.index : -1;
  });
}

int64_t braid_rt_size(const braid_rt_group *group, const braid_rt_site *site) {
  return leaveOnError([&](Context &context) -> int64_t {
    if (Communicator *communicator = findCommunicator(context, group, site))
      return communicator->spec.size();
    // The compiler folds `comm.size` to this value if all lists have one
    // length.
    int64_t size = group->offsets[1];
    for (int32_t list = 1; list < group->listCount; ++list)
      if (group->offsets[list + 1] - group->offsets[list] != size)
        return 0;
    return size;
  });
}

void braid_rt_fail(const char *message, const braid_rt_site *site) {
  leaveOnError([&](Context &context) {
    throw Error(messagePrefix(site ? *site : braid_rt_site{}, context.rank) +
                (message ? message : "the program failed"));
  });
  // The lambda always throws.
  failOutsideOfRank();
}
