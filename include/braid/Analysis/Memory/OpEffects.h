//===- OpEffects.h - What ops do besides computing -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_ANALYSIS_MEMORY_OPEFFECTS_H
#define BRAID_ANALYSIS_MEMORY_OPEFFECTS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Support/TypeID.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>

namespace mlir::gpu {
class LaunchFuncOp;
} // namespace mlir::gpu

namespace braid {

class CallEffects;
class KernelAccesses;

/// What an op, with all that is nested in it, does besides computing its
/// results from its operands.
struct OpEffects {
  /// A read or write of the memory that `buffer` points to; of memory that
  /// nothing names if `buffer` is null.
  struct Access {
    mlir::Value buffer;
    bool isWrite;
  };
  llvm::SmallVector<Access, 4> accesses;

  /// Reads and writes of resources other than memory, such as an output stream.
  struct ResourceAccess {
    mlir::TypeID resource;
    bool isWrite;
  };
  llvm::SmallVector<ResourceAccess, 0> resources;

  /// True if the effects of some part of the op are unknown.
  bool isUnknown = false;
  /// True if the op, or an op nested in it, starts an operation.
  bool hasStart = false;
  /// True if such an operation is a send or a receive.
  bool hasMessage = false;
  /// True if the op, or an op nested in it, waits for an operation.
  bool hasWait = false;

  /// True if the op has an effect other than reads and writes of known buffers.
  bool hasSideEffects() const;
};

/// True if `op` has a region with something in it. Most ops have none, and need
/// not be walked.
bool hasNestedOps(mlir::Operation *op);

/// Collects the effects of `op` and of what is nested in it. `calls` gives the
/// effects of calls and launches of kernels.
OpEffects getOpEffects(mlir::Operation *op, CallEffects &calls);

/// The effects of calls and launches of kernels. A function's effects are those
/// of its body and of all that it calls, also in circles. A declaration has the
/// effects that its `comm.effects` attribute states; without one, nothing is
/// known of it. A kernel accesses the buffers that it gets as its body does;
/// without a body, it reads and writes all of them.
class CallEffects {
public:
  /// Without `entersBodies` it looks at declarations alone, and nothing is
  /// known of a function or a kernel that has a body. This is for passes on
  /// functions, which may not look into other functions, as those may be
  /// changing.
  explicit CallEffects(bool entersBodies);
  ~CallEffects();

  /// Adds the effects of `call` itself to `effects`. A function is analysed at
  /// its first call, and the result is kept: the time is linear in the ops of
  /// the callees, and in the calls times their arguments.
  void addEffects(mlir::CallOpInterface call, OpEffects &effects);

  /// Adds the effects of the kernel of `launch`, which has no way to memory but
  /// its operands.
  void addEffects(mlir::gpu::LaunchFuncOp launch, OpEffects &effects);

private:
  /// The effects of a function in terms of its arguments.
  struct Summary {
    bool isUnknown = false;
    bool hasStart = false;
    bool hasMessage = false;
    bool hasWait = false;
    bool readsMemory = false;
    bool writesMemory = false;
    llvm::SmallVector<bool> readsArgument, writesArgument;

    bool operator==(const Summary &other) const;
  };
  /// The effects of the body of `function`, with what is known of its calls.
  Summary summarize(mlir::Operation *function);
  void summarizeWithCallees(mlir::Operation *callee);
  mlir::FunctionOpInterface getCallee(mlir::CallOpInterface call);

  bool entersBodies;
  mlir::SymbolTableCollection symbolTables;
  llvm::DenseMap<mlir::Operation *, Summary> summaries;
  std::unique_ptr<KernelAccesses> kernels;
};

} // namespace braid

#endif // BRAID_ANALYSIS_MEMORY_OPEFFECTS_H
