//===- ResourceChoice.cpp - Options of each op ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResourceChoice.h"

#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace llvm;

void braid::applyOption(SchedulingProblem &problem, unsigned node,
                        const ResourceOption &option) {
  problem.graph.setCost(node, option.costNs);
  problem.demands[node] = option.demand;
}

void braid::applyChoice(SchedulingProblem &problem, ArrayRef<OpClass> opClasses,
                        ArrayRef<unsigned> choice) {
  for (auto [opClass, option] : zip_equal(opClasses, choice))
    for (unsigned node : opClass.ops)
      applyOption(problem, node, opClass.options[option]);
}
