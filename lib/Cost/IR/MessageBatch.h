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

/// The messages of the block that run as one launch, of which `first` is the
/// first: those of its lane that start without a wait for one of them in
/// between (docs/design/engine-cuda.md). Empty if an earlier one is the first.
llvm::SmallVector<comm::CollectiveOpInterface, 2>
getMessageBatch(comm::CollectiveOpInterface first);

} // namespace braid

#endif // BRAID_LIB_COST_IR_MESSAGEBATCH_H
