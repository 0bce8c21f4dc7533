//===- Plans.cpp - Plans of cuDNN -----------------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Cudnn/Plans.h"
#include "Base/Error.h"

#include <algorithm>

using namespace braid::rt;
using namespace braid::rt::cuda;
using namespace braid::rt::cuda::cudnn;

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

Descriptors::~Descriptors() {
  for (auto descriptor = all.rbegin(); descriptor != all.rend(); ++descriptor)
    library.destroyDescriptor(*descriptor);
}

Descriptor Descriptors::create(DescriptorType type) {
  all.reserve(all.size() + 1);
  Descriptor descriptor = nullptr;
  library.call(library.createDescriptor, type, &descriptor);
  all.push_back(descriptor);
  return descriptor;
}

void Descriptors::set(Descriptor descriptor, AttributeName name,
                      AttributeType type, int64_t count,
                      const void *values) const {
  library.call(library.setAttribute, descriptor, name, type, count, values);
}

void Descriptors::finalize(Descriptor descriptor) const {
  library.call(library.finalize, descriptor);
}

Descriptor Descriptors::createGraph(Handle handle,
                                    const std::vector<Descriptor> &operations) {
  Descriptor graph = create(OPERATIONGRAPH_DESCRIPTOR);
  set(graph, OPERATIONGRAPH_OPS, TYPE_BACKEND_DESCRIPTOR,
      static_cast<int64_t>(operations.size()), operations.data());
  set(graph, OPERATIONGRAPH_HANDLE, TYPE_HANDLE, handle);
  finalize(graph);
  return graph;
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

CudnnPlans::CudnnPlans(const Gpu &gpu, DeviceMemory &memory)
    : gpu(gpu), memory(memory) {}

CudnnPlans::~CudnnPlans() {
  if (opened)
    library->destroy(opened);
  for (DevicePointer workspace : workspaces)
    memory.freePrivate(workspace);
}

void CudnnPlans::open() {
  if (opened)
    return;
  if (!library)
    library = std::make_unique<Cudnn>();
  Handle created = nullptr;
  library->call(library->create, &created);
  Status status = library->setStream(created, gpu.stream);
  if (status != STATUS_SUCCESS) {
    library->destroy(created);
    library->fail(status, "cudnnSetStream");
  }
  opened = created;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// The proposals of the library for `graph`, best first, which `owner` owns.
std::vector<Descriptor> CudnnPlans::propose(Descriptor graph,
                                            HeuristicMode mode,
                                            Descriptors &owner) const {
  Descriptor heuristics = owner.create(ENGINEHEUR_DESCRIPTOR);
  owner.set(heuristics, ENGINEHEUR_OPERATION_GRAPH, TYPE_BACKEND_DESCRIPTOR,
            graph);
  owner.set(heuristics, ENGINEHEUR_MODE, TYPE_HEUR_MODE, mode);
  int64_t count = 0;
  // A graph that the library does not support has no proposals.
  if (library->finalize(heuristics) != STATUS_SUCCESS ||
      library->getAttribute(heuristics, ENGINEHEUR_RESULTS,
                            TYPE_BACKEND_DESCRIPTOR, 0, &count,
                            nullptr) != STATUS_SUCCESS)
    return {};
  std::vector<Descriptor> proposals;
  for (int64_t i = 0; i < count; ++i)
    proposals.push_back(owner.create(ENGINECFG_DESCRIPTOR));
  // The first count is of what may be proposed.
  if (count > 0)
    library->call(library->getAttribute, heuristics, ENGINEHEUR_RESULTS,
                  TYPE_BACKEND_DESCRIPTOR, count, &count, proposals.data());
  proposals.resize(static_cast<size_t>(count));
  return proposals;
}

/// A plan for `proposal`, which `owner` owns; null if the library cannot build
/// it.
Descriptor CudnnPlans::tryPlan(Descriptor proposal, Descriptors &owner) const {
  Descriptor plan = owner.create(EXECUTION_PLAN_DESCRIPTOR);
  bool works = library->setAttribute(plan, EXECUTION_PLAN_HANDLE, TYPE_HANDLE,
                                     1, &opened) == STATUS_SUCCESS &&
               library->setAttribute(plan, EXECUTION_PLAN_ENGINE_CONFIG,
                                     TYPE_BACKEND_DESCRIPTOR, 1,
                                     &proposal) == STATUS_SUCCESS &&
               library->finalize(plan) == STATUS_SUCCESS;
  return works ? plan : nullptr;
}

/// What the library notes of the engine of `proposal`; it has the note that its
/// results may differ from run to run if there is no answer.
CudnnPlans::Notes CudnnPlans::getNotes(Descriptor proposal) const {
  Descriptors own(*library);
  Descriptor engine = own.create(ENGINE_DESCRIPTOR);
  constexpr int64_t most = 16;
  Notes notes(most);
  int64_t count = 0;
  if (library->getAttribute(proposal, ENGINECFG_ENGINE, TYPE_BACKEND_DESCRIPTOR,
                            1, &count, &engine) != STATUS_SUCCESS ||
      library->getAttribute(engine, ENGINE_NUMERICAL_NOTE, TYPE_NUMERICAL_NOTE,
                            most, &count, notes.data()) != STATUS_SUCCESS)
    return {NUMERICAL_NOTE_NONDETERMINISTIC};
  notes.resize(static_cast<size_t>(std::min(count, most)));
  return notes;
}

CudnnPlan
CudnnPlans::build(Descriptor graph,
                  const std::function<bool(const Notes &)> &takes) const {
  if (gpu.capturing)
    throw Error("a recording begins before the first use");
  CudnnPlan plan;
  plan.owned = std::make_unique<Descriptors>(*library);
  std::vector<Descriptor> others;
  auto attempt = [&](Descriptor proposal) {
    if (!plan.plan)
      plan.plan = tryPlan(proposal, *plan.owned);
  };
  for (HeuristicMode mode : {HEUR_MODE_A, HEUR_MODE_FALLBACK}) {
    if (plan.plan)
      break;
    for (Descriptor proposal : propose(graph, mode, *plan.owned)) {
      if (plan.plan)
        break;
      Notes notes = getNotes(proposal);
      if (!takes(notes))
        continue;
      if (std::count(notes.begin(), notes.end(),
                     NUMERICAL_NOTE_NONDETERMINISTIC))
        others.push_back(proposal);
      else
        attempt(proposal);
    }
  }
  for (Descriptor proposal : others)
    attempt(proposal);
  if (!plan.plan)
    return plan;
  int64_t count = 0;
  library->call(library->getAttribute, plan.plan, EXECUTION_PLAN_WORKSPACE_SIZE,
                TYPE_INT64, 1, &count, &plan.workspaceBytes);
  return plan;
}

DevicePointer CudnnPlans::reserve(int64_t bytes) {
  if (bytes > largest) {
    workspaces.reserve(workspaces.size() + 1);
    workspaces.push_back(
        memory.allocatePrivate(bytes, "the workspace of cuDNN"));
    largest = bytes;
  }
  return workspaces.empty() ? 0 : workspaces.back();
}

void CudnnPlans::run(const CudnnPlan &plan, const std::vector<int64_t> &ids,
                     const std::vector<void *> &pointers,
                     DevicePointer workspace) const {
  Descriptors own(*library);
  Descriptor pack = own.create(VARIANT_PACK_DESCRIPTOR);
  own.set(pack, VARIANT_PACK_DATA_POINTERS, TYPE_VOID_PTR,
          static_cast<int64_t>(pointers.size()), pointers.data());
  own.set(pack, VARIANT_PACK_UNIQUE_IDS, TYPE_INT64,
          static_cast<int64_t>(ids.size()), ids.data());
  own.set(pack, VARIANT_PACK_WORKSPACE, TYPE_VOID_PTR,
          reinterpret_cast<void *>(workspace));
  own.finalize(pack);
  library->call(library->execute, opened, plan.plan, pack);
}
