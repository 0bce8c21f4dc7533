//===- SinkWaits.cpp - Every wait as late as possible ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Baselines/Inductor/SinkWaits.h"

#include "llvm/ADT/STLExtras.h"

using namespace braid;

ScheduleOrder braid::sinkWaits(const ScheduleGraph &graph) {
  ScheduleOrder order;
  order.reserve(graph.size());
  std::vector<bool> held(graph.size(), false);
  llvm::SmallVector<unsigned> needed;

  for (unsigned node = 0, end = graph.size(); node != end; ++node) {
    if (graph[node].kind == NodeKind::Wait) {
      held[node] = true;
      continue;
    }
    // A held wait may depend on another held wait. Edges follow the program
    // order, so waits in this order are after those that they depend on.
    needed.clear();
    auto need = [&](unsigned from) {
      for (unsigned wait : graph.predecessors(from)) {
        if (held[wait]) {
          held[wait] = false;
          needed.push_back(wait);
        }
      }
    };
    need(node);
    for (size_t i = 0; i != needed.size(); ++i)
      need(needed[i]);
    llvm::sort(needed);
    llvm::append_range(order, needed);
    order.push_back(node);
  }

  for (unsigned node = 0, end = graph.size(); node != end; ++node)
    if (held[node])
      order.push_back(node);
  return order;
}
