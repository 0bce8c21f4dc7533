//===- PlanRoom.h - Room beside products for kernels ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_PLANROOM_H
#define BRAID_LIB_SCHEDULE_SEARCH_PLANROOM_H

#include "ResourcePlan.h"

namespace braid {

/// True if all products leave room for all kernels on few multiprocessors that
/// `choice` asks for, in whatever order. Without room the two slow each other
/// down by more than the model knows: a symmetric kernel on 4 blocks took 1.7
/// times as long beside products on all multiprocessors of an H200, and 1.2
/// times beside products on 128 of 132; a product took 1.43 times as long
/// beside one on 8. Copy engines begin with a kernel of a few blocks. In a
/// replayed graph, a product that awaits one gather begins before the next
/// gather, which then waits for the product's end: 1.94 ms instead of 1.61 for
/// eight layers.
bool leavesRoom(const MachineModel &machine,
                llvm::ArrayRef<ResourceFamily> families,
                llvm::ArrayRef<unsigned> choice);

/// True if each product leaves room for the kernels that may run beside it in
/// `order`: those that are started before it and awaited behind it. In the body
/// of a loop operations may be in flight from one iteration to the next, so
/// that all products have to leave room. O(n * operations in flight).
bool leavesRoomInOrder(const SchedulingProblem &problem,
                       llvm::ArrayRef<ResourceFamily> families,
                       llvm::ArrayRef<unsigned> choice,
                       llvm::ArrayRef<unsigned> order);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_PLANROOM_H
