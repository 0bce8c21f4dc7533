//===- RowLength.h - Rows that registers hold -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_ROWLENGTH_H
#define BRAID_SUPPORT_ROWLENGTH_H

#include <cstdint>

namespace braid {

/// The most elements of a row that a kernel of rows keeps in registers.
constexpr int64_t kMaxRowLength = 16384;

} // namespace braid

#endif // BRAID_SUPPORT_ROWLENGTH_H
