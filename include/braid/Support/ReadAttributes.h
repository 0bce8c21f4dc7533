//===- ReadAttributes.h - Attributes of reads of elements -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_READATTRIBUTES_H
#define BRAID_SUPPORT_READATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace braid {

/// On reads of a tensor in loops or branches of a body: all iterations and all
/// of these reads together read each element at most once.
constexpr llvm::StringLiteral kReadsOnceAttrName = "braid.reads_once";

} // namespace braid

#endif // BRAID_SUPPORT_READATTRIBUTES_H
