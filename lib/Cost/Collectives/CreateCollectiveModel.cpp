//===- CreateCollectiveModel.cpp - Models of collectives by name ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InductorCollectiveModel.h"
#include "NcclCollectiveModel.h"

using namespace braid;

std::unique_ptr<CollectiveCostModel>
braid::createCollectiveModel(CollectiveModelKind kind, const Hardware &hardware,
                             double linkLatencyNs, double linkBandwidth) {
  switch (kind) {
  case CollectiveModelKind::Nccl:
    return std::make_unique<NcclCollectiveModel>(hardware);
  case CollectiveModelKind::Inductor:
    return std::make_unique<InductorCollectiveModel>(
        inductor::getGpuType(hardware));
  case CollectiveModelKind::Link:
    return std::make_unique<LinkCollectiveModel>(linkLatencyNs, linkBandwidth);
  }
  llvm_unreachable("unknown model of collectives");
}
