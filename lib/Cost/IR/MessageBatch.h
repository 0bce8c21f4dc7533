//===- MessageBatch.h - Messages of one launch ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_IR_MESSAGEBATCH_H
#define BRAID_LIB_COST_IR_MESSAGEBATCH_H

#include "braid/Dialect/Comm/IR/Comm.h"

namespace braid {

/// The last of the messages of the block that run as one launch with `message`:
/// those of its lane that start without a wait for one of them in between
/// (docs/design/engine-cuda.md). The launch begins when the last one starts.
comm::CollectiveOpInterface getLastOfBatch(comm::CollectiveOpInterface message);

/// The messages of the launch of which `last` is the last one, in their order.
/// Empty if a later one is the last.
llvm::SmallVector<comm::CollectiveOpInterface, 2>
getMessageBatch(comm::CollectiveOpInterface last);

} // namespace braid

#endif // BRAID_LIB_COST_IR_MESSAGEBATCH_H
