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

/// How many proposals for a graph a trial compares.
static constexpr size_t mostTrialCandidates = 8;

/// A proposal with a larger workspace has no trial: a plan that is a bit faster
/// is not worth the memory.
static constexpr int64_t mostTrialWorkspaceBytes = int64_t(256) << 20;

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

/// A plan for one of `proposals`; an empty one if the library cannot build it.
CudnnPlan
CudnnPlans::tryPlan(Descriptor proposal,
                    const std::shared_ptr<Descriptors> &proposals) const {
  auto owned = std::make_unique<Descriptors>(*library);
  Descriptor plan = owned->create(EXECUTION_PLAN_DESCRIPTOR);
  bool works = library->setAttribute(plan, EXECUTION_PLAN_HANDLE, TYPE_HANDLE,
                                     1, &opened) == STATUS_SUCCESS &&
               library->setAttribute(plan, EXECUTION_PLAN_ENGINE_CONFIG,
                                     TYPE_BACKEND_DESCRIPTOR, 1,
                                     &proposal) == STATUS_SUCCESS &&
               library->finalize(plan) == STATUS_SUCCESS;
  if (!works)
    return {};
  int64_t count = 0, workspaceBytes = 0;
  library->call(library->getAttribute, plan, EXECUTION_PLAN_WORKSPACE_SIZE,
                TYPE_INT64, 1, &count, &workspaceBytes);
  return {proposals, std::move(owned), plan, workspaceBytes};
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

/// The number of the candidate that all ranks choose. Its plan is in `built` if
/// this rank has measured it.
size_t CudnnPlans::choose(const std::vector<Descriptor> &candidates,
                          const std::shared_ptr<Descriptors> &proposals,
                          const CudnnTrial &trial, CudnnPlan &built) const {
  std::vector<CudnnPlan> plans;
  auto measure = [&]() {
    for (Descriptor candidate : candidates) {
      plans.push_back(tryPlan(candidate, proposals));
      if (plans.back().workspaceBytes > mostTrialWorkspaceBytes)
        plans.back() = {};
    }
    return static_cast<int32_t>(trial.findFastest(plans));
  };
  auto choice = static_cast<size_t>(gpu.hooks.chooseAlgorithm(
      gpu.model + ", cuDNN " + std::to_string(library->getVersion()) + ", " +
          trial.graph,
      measure));
  if (choice < plans.size())
    built = std::move(plans[choice]);
  return choice;
}

CudnnPlan CudnnPlans::build(Descriptor graph,
                            const std::vector<HeuristicMode> &modes,
                            const std::function<bool(const Notes &)> &takes,
                            const CudnnTrial *trial) const {
  if (gpu.capturing)
    throw Error("a recording begins before the first use");
  auto proposals = std::make_shared<Descriptors>(*library);
  std::vector<Descriptor> others;
  for (HeuristicMode mode : modes) {
    std::vector<Descriptor> candidates;
    for (Descriptor proposal : propose(graph, mode, *proposals)) {
      Notes notes = getNotes(proposal);
      if (takes(notes))
        (std::count(notes.begin(), notes.end(), NUMERICAL_NOTE_NONDETERMINISTIC)
             ? others
             : candidates)
            .push_back(proposal);
    }
    if (trial && gpu.options.measureAlgorithms && candidates.size() > 1) {
      std::vector<Descriptor> compared = candidates;
      compared.resize(std::min(compared.size(), mostTrialCandidates));
      CudnnPlan built;
      size_t choice = choose(compared, proposals, *trial, built);
      trial = nullptr; // The choice is one for each graph.
      if (built.plan)
        return built;
      // What another rank or run has chosen comes first.
      if (choice < compared.size())
        candidates.insert(candidates.begin(), compared[choice]);
    }
    for (Descriptor candidate : candidates)
      if (CudnnPlan plan = tryPlan(candidate, proposals); plan.plan)
        return plan;
  }
  for (Descriptor other : others)
    if (CudnnPlan plan = tryPlan(other, proposals); plan.plan)
      return plan;
  return {};
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

void CudnnPlans::useStream(Stream stream,
                           const std::function<void()> &body) const {
  library->call(library->setStream, opened, stream);
  try {
    body();
  } catch (...) {
    library->setStream(opened, gpu.stream);
    throw;
  }
  library->call(library->setStream, opened, gpu.stream);
}
