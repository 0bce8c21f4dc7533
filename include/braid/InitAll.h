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

/// Adds all that Braid's passes and pipelines need to `registry`: Braid's
/// dialects, their interfaces on other dialects and their lowerings, and the
/// dialects and extensions of MLIR with the interfaces that the lowering asks
/// for (bufferization, conversion to LLVM). A context loads a dialect when a
/// program or a pass uses the dialect.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers Braid's passes and pipelines with MLIR's global pass registry.
void registerAllPasses();

/// Adds the options of Braid's passes that hold for all of them to the command
/// line, and Braid's version to what `--version` prints. Call it before the
/// command line is read.
void registerAllOptions();

/// The version of the Braid that is linked, such as "0.1.0"; the version of the
/// headers is `BRAID_VERSION_STRING` of braid-c/Version.h.
const char *getVersion();

} // namespace braid

#endif // BRAID_INITALL_H
