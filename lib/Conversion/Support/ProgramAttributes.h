//===- ProgramAttributes.h - Module attributes of the lowering --*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Discardable attributes by which the passes of the lowering describe a
// program. `braid-emit-entry-table` copies them to the program's table and
// removes them.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_SUPPORT_PROGRAMATTRIBUTES_H
#define BRAID_LIB_CONVERSION_SUPPORT_PROGRAMATTRIBUTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringRef.h"

namespace braid {

/// The device that runs the kernels: "cuda", or the host without the attribute.
constexpr llvm::StringLiteral kTargetAttrName = "braid_rt.target";

/// The hash of the program's text after scheduling, a string.
constexpr llvm::StringLiteral kScheduleAttrName = "braid_rt.schedule";

/// The sums that may have another order than in the program as written, an
/// array of dictionaries.
constexpr llvm::StringLiteral kNumericsAttrName = "braid_rt.numerics";

/// The bytes of the largest arena of an entry, an i64.
constexpr llvm::StringLiteral kArenaBytesAttrName = "braid_rt.arena_bytes";

/// The number of ops that make the host wait for the device, whose memory they
/// read, an i64.
constexpr llvm::StringLiteral kHostReadsAttrName = "braid_rt.host_reads";

/// The number of ops that allocate buffers outside of the arena, an i64.
constexpr llvm::StringLiteral kBufferAllocsAttrName = "braid_rt.buffer_allocs";

/// The number of constants that the lowering has named, an i64.
constexpr llvm::StringLiteral kConstantsAttrName = "braid_rt.constants";

/// On a `memref.alloc`: the arena of an entry, which the runtime provides.
constexpr llvm::StringLiteral kArenaAttrName = "braid.arena";

/// On a kernel that computes the iterations between its last two arguments: the
/// iterations of each part but the last one, an i64.
constexpr llvm::StringLiteral kPartSizeAttrName = "braid.part_size";

/// The attribute of functions that are entry points: an array with one
/// dictionary for each argument and then for each result. A dictionary has
/// `name`, `type` and `direction` ("in", "inout" or "out"). The unit attribute
/// `result` marks a value that the function returns instead of writing it to an
/// argument.
constexpr llvm::StringLiteral kEntryAttrName = "braid.entry";

} // namespace braid

#endif // BRAID_LIB_CONVERSION_SUPPORT_PROGRAMATTRIBUTES_H
