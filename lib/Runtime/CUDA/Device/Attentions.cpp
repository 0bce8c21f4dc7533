//===- Attentions.cpp - Attention with cuDNN ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Attentions.h"
#include "Base/Error.h"

#include <algorithm>
#include <cstring>

using namespace braid::rt;
using namespace braid::rt::cuda;
using namespace braid::rt::cuda::cudnn;

/// Descriptors that end with their owner.
class Attentions::Descriptors {
public:
  explicit Descriptors(const Cudnn &library) : library(library) {}
  ~Descriptors() {
    for (auto descriptor = all.rbegin(); descriptor != all.rend(); ++descriptor)
      library.destroyDescriptor(*descriptor);
  }
  Descriptors(const Descriptors &) = delete;
  Descriptors &operator=(const Descriptors &) = delete;

  Descriptor create(DescriptorType type) {
    Descriptor descriptor = nullptr;
    library.check(library.createDescriptor(type, &descriptor),
                  "cudnnBackendCreateDescriptor");
    all.push_back(descriptor);
    return descriptor;
  }

private:
  const Cudnn &library;
  std::vector<Descriptor> all;
};

Attentions::Attentions(const Gpu &gpu, DeviceMemory &memory)
    : gpu(gpu), memory(memory) {}

Attentions::~Attentions() {
  plans.clear();
  if (handle)
    library->destroy(handle);
  for (DevicePointer workspace : workspaces)
    memory.freePrivate(workspace);
}

void Attentions::open() {
  if (handle)
    return;
  if (!library)
    library = std::make_unique<Cudnn>();
  Handle created = nullptr;
  library->check(library->create(&created), "cudnnCreate");
  Status status = library->setStream(created, gpu.stream);
  if (status != STATUS_SUCCESS) {
    library->destroy(created);
    library->fail(status, "cudnnSetStream");
  }
  handle = created;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

std::vector<Descriptor> Attentions::propose(const AttentionGraph &graph,
                                            HeuristicMode mode,
                                            Descriptors &owner) const {
  Descriptor heuristics = owner.create(ENGINEHEUR_DESCRIPTOR);
  Descriptor operations = graph.descriptor();
  library->check(library->setAttribute(heuristics, ENGINEHEUR_OPERATION_GRAPH,
                                       TYPE_BACKEND_DESCRIPTOR, 1, &operations),
                 "cudnnBackendSetAttribute");
  library->check(library->setAttribute(heuristics, ENGINEHEUR_MODE,
                                       TYPE_HEUR_MODE, 1, &mode),
                 "cudnnBackendSetAttribute");
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
    library->check(library->getAttribute(heuristics, ENGINEHEUR_RESULTS,
                                         TYPE_BACKEND_DESCRIPTOR, count, &count,
                                         proposals.data()),
                   "cudnnBackendGetAttribute");
  proposals.resize(static_cast<size_t>(count));
  return proposals;
}

Descriptor Attentions::tryPlan(Descriptor proposal, Descriptors &owner) const {
  Descriptor plan = owner.create(EXECUTION_PLAN_DESCRIPTOR);
  bool works = library->setAttribute(plan, EXECUTION_PLAN_HANDLE, TYPE_HANDLE,
                                     1, &handle) == STATUS_SUCCESS &&
               library->setAttribute(plan, EXECUTION_PLAN_ENGINE_CONFIG,
                                     TYPE_BACKEND_DESCRIPTOR, 1,
                                     &proposal) == STATUS_SUCCESS &&
               library->finalize(plan) == STATUS_SUCCESS;
  return works ? plan : nullptr;
}

bool Attentions::isDeterministic(Descriptor proposal) const {
  Descriptors own(*library);
  Descriptor engine = own.create(ENGINE_DESCRIPTOR);
  constexpr int64_t most = 16;
  NumericalNote notes[most] = {};
  int64_t count = 0;
  if (library->getAttribute(proposal, ENGINECFG_ENGINE, TYPE_BACKEND_DESCRIPTOR,
                            1, &count, &engine) != STATUS_SUCCESS ||
      library->getAttribute(engine, ENGINE_NUMERICAL_NOTE, TYPE_NUMERICAL_NOTE,
                            most, &count, notes) != STATUS_SUCCESS)
    return false;
  return std::find(notes, notes + std::min(count, most),
                   NUMERICAL_NOTE_NONDETERMINISTIC) ==
         notes + std::min(count, most);
}

/// Throws an Error if the results of this version of the library are wrong.
static void checkVersion(size_t version, const Attention &attention) {
  std::string found = "the results of cuDNN " + std::to_string(version) +
                      " are wrong, expected at least ";
  if (version == 91000 || version == 91001)
    throw Error(found + "91002 (9.10.2)");
  int64_t keys = attention.operand(BRAID_RT_ATTENTION_KEYS).sizes[2];
  if (attention.isBackward && version <= 91500 && keys % 128 != 0)
    throw Error(found + "91501 (9.15.1) for gradients of " +
                std::to_string(keys) +
                " keys, no multiple of 128; a newer one, or --attention="
                "decompose when the program is compiled, helps");
}

Attentions::Plan Attentions::build(const Attention &attention) {
  checkVersion(library->getVersion(), attention);
  Plan plan;
  plan.graph = std::make_unique<AttentionGraph>(
      *library, handle, attention, gpu.options.fastAttentionGradients);
  for (HeuristicMode mode : {HEUR_MODE_A, HEUR_MODE_FALLBACK}) {
    plan.owned = std::make_unique<Descriptors>(*library);
    std::vector<Descriptor> proposals = propose(*plan.graph, mode, *plan.owned);
    // What the library notes as deterministic comes first.
    for (bool wanted : {true, false})
      for (Descriptor proposal : proposals)
        if (!plan.plan && isDeterministic(proposal) == wanted)
          plan.plan = tryPlan(proposal, *plan.owned);
    if (plan.plan)
      break;
  }
  if (!plan.plan)
    throw Error("cuDNN " + std::to_string(library->getVersion()) +
                " does not support this attention; compile the program with "
                "--attention=decompose");
  int64_t count = 0;
  library->check(library->getAttribute(plan.plan, EXECUTION_PLAN_WORKSPACE_SIZE,
                                       TYPE_INT64, 1, &count,
                                       &plan.workspaceBytes),
                 "cudnnBackendGetAttribute");
  return plan;
}

DevicePointer Attentions::reserve(int64_t bytes) {
  if (bytes > largest) {
    workspaces.reserve(workspaces.size() + 1);
    workspaces.push_back(
        memory.allocatePrivate(bytes, "the workspace of attention"));
    largest = bytes;
  }
  return workspaces.empty() ? 0 : workspaces.back();
}

Attentions::Plan &Attentions::find(const Attention &attention) {
  Key key = {attention.isBackward, attention.options.window,
             attention.options.causal, 0};
  std::memcpy(&key.back(), &attention.options.scale, sizeof(double));
  for (const Attention::Operand &operand : attention.operands) {
    key.push_back(operand.data ? operand.dtype : -1);
    key.insert(key.end(), operand.sizes.begin(), operand.sizes.end());
    key.insert(key.end(), operand.strides.begin(), operand.strides.end());
  }
  auto found = plans.find(key);
  if (found != plans.end())
    return found->second;
  // Plans compile kernels and allocate memory, which no recording can.
  if (gpu.capturing)
    throw Error("a recording begins before the first use");
  Plan plan = build(attention);
  plan.workspace = reserve(plan.graph->memoryBytes() + plan.workspaceBytes);
  return plans.emplace(std::move(key), std::move(plan)).first->second;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

void Attentions::run(const Plan &plan, const Attention &attention) const {
  std::vector<int64_t> ids;
  std::vector<void *> pointers;
  plan.graph->bind(attention, reinterpret_cast<void *>(plan.workspace), ids,
                   pointers);
  auto *workspace = reinterpret_cast<void *>(
      plan.workspace + static_cast<DevicePointer>(plan.graph->memoryBytes()));
  Descriptors own(*library);
  Descriptor pack = own.create(VARIANT_PACK_DESCRIPTOR);
  auto set = [&](AttributeName name, AttributeType type, size_t count,
                 const void *values) {
    library->check(library->setAttribute(pack, name, type,
                                         static_cast<int64_t>(count), values),
                   "cudnnBackendSetAttribute");
  };
  set(VARIANT_PACK_DATA_POINTERS, TYPE_VOID_PTR, pointers.size(),
      pointers.data());
  set(VARIANT_PACK_UNIQUE_IDS, TYPE_INT64, ids.size(), ids.data());
  set(VARIANT_PACK_WORKSPACE, TYPE_VOID_PTR, 1, &workspace);
  library->check(library->finalize(pack), "cudnnBackendFinalize");
  library->check(library->execute(handle, plan.plan, pack),
                 "cudnnBackendExecute");
}

void Attentions::attend(const Attention &attention) {
  gpu.hooks.enqueues();
  try {
    open();
    for (const Attention::Operand &operand : attention.operands)
      if (auto address = reinterpret_cast<uintptr_t>(operand.data);
          address % AttentionGraph::alignment != 0)
        throw Error("an operand lies at address " + std::to_string(address) +
                    ", expected a multiple of " +
                    std::to_string(AttentionGraph::alignment));
    run(find(attention), attention);
  } catch (const Error &error) {
    throw Error(attention.describe() + " on " + gpu.name + ": " + error.what());
  }
  gpu.checkCapture("attention");
}
