//===- Attentions.cpp - Attention with cuDNN ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Cudnn/Attentions.h"
#include "Base/Error.h"

#include <cstring>

using namespace braid::rt;
using namespace braid::rt::cuda;
using namespace braid::rt::cuda::cudnn;

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

Attentions::Plan Attentions::build(const Attention &attention) const {
  size_t version = cudnn.cudnn().getVersion();
  checkVersion(version, attention);
  Plan plan;
  plan.graph =
      std::make_unique<AttentionGraph>(cudnn.cudnn(), cudnn.handle(), attention,
                                       gpu.options.fastAttentionGradients);
  // No trial: other plans take 1.5 times as long or more, and seconds to build.
  plan.plan =
      cudnn.build(plan.graph->descriptor(), {HEUR_MODE_A, HEUR_MODE_FALLBACK},
                  [](const CudnnPlans::Notes &) { return true; });
  if (!plan.plan.plan)
    throw Error("cuDNN " + std::to_string(version) +
                " does not support this attention; compile the program with "
                "--attention=decompose");
  return plan;
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
  Plan plan = build(attention);
  plan.workspace =
      cudnn.reserve(plan.graph->memoryBytes() + plan.plan.workspaceBytes);
  return plans.emplace(std::move(key), std::move(plan)).first->second;
}

void Attentions::run(const Plan &plan, const Attention &attention) const {
  std::vector<int64_t> ids;
  std::vector<void *> pointers;
  plan.graph->bind(attention, reinterpret_cast<void *>(plan.workspace), ids,
                   pointers);
  cudnn.run(plan.plan, ids, pointers,
            plan.workspace +
                static_cast<DevicePointer>(plan.graph->memoryBytes()));
}

void Attentions::attend(const Attention &attention) {
  gpu.hooks.enqueues();
  try {
    cudnn.open();
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
