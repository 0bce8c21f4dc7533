//===- MachineBuilder.cpp - Build the machine of a simulation -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineBuilder.h"

#include "braid/Cost/Hardware/HardwareMachine.h"

using namespace braid;
using namespace mlir;

MachineModel braid::buildMachine(OpCostModel &model,
                                 ArrayRef<Operation *> firstStarts) {
  MachineModel machine = getMachineModel(*model.getOptions().hardware);
  if (machine.linkBandwidth.empty())
    return machine;
  for (Operation *start : firstStarts) {
    auto collective = dyn_cast<comm::CollectiveOpInterface>(start);
    if (!collective)
      machine.linkOfLane.push_back(-1);
    else
      machine.linkOfLane.push_back(model.describe(collective).numNodes > 1
                                       ? interNodeLink
                                       : intraNodeLink);
  }
  return machine;
}
