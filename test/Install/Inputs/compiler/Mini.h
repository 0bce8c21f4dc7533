#ifndef MINI_H
#define MINI_H

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/IR/CommCostInterface.h"

#include "MiniDialect.h.inc"

#define GET_OP_CLASSES
#include "MiniOps.h.inc"

namespace mini {

/// The cost of a matmul in this compiler, in place of Braid's estimate.
void registerCosts(mlir::DialectRegistry &registry);

void registerPasses();

} // namespace mini

#endif // MINI_H
