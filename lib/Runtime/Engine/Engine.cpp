//===- Engine.cpp - Engines, devices and communicators --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine/Engine.h"

using namespace braid::rt;

// The destructors anchor the vtables in this library.
EngineRequest::~EngineRequest() = default;
Communicator::~Communicator() = default;
Engine::~Engine() = default;

const std::vector<Replacement> &Engine::replacements(int32_t) const {
  static const std::vector<Replacement> none;
  return none;
}

void Engine::prepare(const std::vector<RankSpecs> &specs) {
  for (const RankSpecs &ofRank : specs)
    for (const CommunicatorSpec &spec : ofRank)
      if (!spec.ranks.empty())
        communicator(ofRank.rank, spec);
}
