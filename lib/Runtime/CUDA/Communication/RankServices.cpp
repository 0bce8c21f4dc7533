//===- RankServices.cpp - What ranks need of their engine -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Communication/RankServices.h"
#include "Engine/EngineOptions.h"

#include <utility>

using namespace braid::rt;
using namespace braid::rt::cuda;

RankServices::RankServices(const Environment &environment,
                           LaneOptions laneOptions,
                           std::shared_ptr<Activities> activities)
    : environment(environment), laneOptions(std::move(laneOptions)),
      activities(std::move(activities)),
      blocking(isFirstChoice(environment, "blocking", "1", "0")),
      registering(!isFirstChoice(environment, "register-buffers", "0", "1")) {}

const nccl::NCCL &RankServices::nccl() const {
  std::call_once(ncclFlag,
                 [&]() { ncclLibrary = std::make_unique<nccl::NCCL>(); });
  return *ncclLibrary;
}
