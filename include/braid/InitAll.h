//===- InitAll.h - Everything that Braid's tools register -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place where tools, plugins and embedders register Braid.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_INITALL_H
#define BRAID_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace braid {

/// Adds Braid's dialects, their interfaces on other dialects and their
/// lowerings to `registry`.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers Braid's passes and pipelines with MLIR's global pass registry.
void registerAllPasses();

/// Adds the options of Braid's passes that hold for all of them to the command
/// line. Call it before the command line is read.
void registerAllOptions();

} // namespace braid

#endif // BRAID_INITALL_H
