//===- ErasedEvents.h - Communication that a pass has erased ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_STRUCTURE_ERASEDEVENTS_H
#define BRAID_LIB_ANALYSIS_STRUCTURE_ERASEDEVENTS_H

#include "braid/Analysis/Structure/CommunicationSummary.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace braid {

/// The events of `function` without the starts of `erased`, their waits, the
/// calls of functions that do not communicate any more, and regions without
/// anything else. `communicates` tells of a function of the result.
std::vector<CommunicationEvent>
dropErasedEvents(const FunctionCommunication &function,
                 const llvm::DenseSet<mlir::Operation *> &erased,
                 llvm::function_ref<bool(mlir::StringAttr)> communicates);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_STRUCTURE_ERASEDEVENTS_H
