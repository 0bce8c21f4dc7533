//===- HostTarget.h - Code for the host -------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TARGET_HOST_HOSTTARGET_H
#define BRAID_TARGET_HOST_HOSTTARGET_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>

namespace braid {

/// How code for the host is made.
struct HostTargetOptions {
  /// What to generate code for: `native` is the CPU of this machine.
  std::string cpu = "native";
  /// From 0 (none) to 3.
  unsigned optimizationLevel = 3;
};

/// Turns modules of the LLVM dialect into code for the host. Floating-point
/// operations are neither reassociated nor contracted, so that results do not
/// depend on how code was optimized.
class HostTarget {
public:
  /// The target with `options`; reports at `loc` a CPU that LLVM does not know
  /// and returns null.
  static std::unique_ptr<HostTarget> create(const HostTargetOptions &options,
                                            mlir::Location loc);

  /// Translates `module` to LLVM IR in `context`, optimized; null, with an
  /// error at the op, if it holds anything but the LLVM dialect.
  std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module,
                                          llvm::LLVMContext &context);

  /// Writes `module` to `output` as a relocatable object.
  llvm::LogicalResult emitObject(llvm::Module &module, mlir::Location loc,
                                 llvm::raw_pwrite_stream &output);

private:
  HostTarget(std::unique_ptr<llvm::TargetMachine> machine, unsigned level)
      : machine(std::move(machine)), optimizationLevel(level) {}

  std::unique_ptr<llvm::TargetMachine> machine;
  unsigned optimizationLevel;
};

/// Links `objectPath` to the shared object `outputPath`, with the C compiler or
/// the linker on the PATH. If `runtimePath` names the runtime library, every
/// symbol has to be defined. Reports errors, with what the linker said, at
/// `loc`. If this process is killed, the linker ends and its files go only
/// where the process has a CleanUp (braid/Support/CleanUp.h).
llvm::LogicalResult linkSharedObject(llvm::StringRef objectPath,
                                     llvm::StringRef outputPath,
                                     llvm::StringRef runtimePath,
                                     mlir::Location loc);

} // namespace braid

#endif // BRAID_TARGET_HOST_HOSTTARGET_H
