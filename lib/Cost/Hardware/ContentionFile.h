//===- ContentionFile.h - Contention described in files ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_HARDWARE_CONTENTIONFILE_H
#define BRAID_LIB_COST_HARDWARE_CONTENTIONFILE_H

#include "Support/JsonObjectReader.h"
#include "braid/Schedule/Model/Machine.h"

namespace braid {

/// Reads the field `contention` of `parent`; false if it is absent. Machines
/// and profiles have the same one (docs/reference/machine-files.md).
bool readContention(JsonObjectReader &parent, ContentionFigures &contention);

/// Writes the value of the field `contention`.
void writeContention(llvm::json::OStream &json,
                     const ContentionFigures &contention);

} // namespace braid

#endif // BRAID_LIB_COST_HARDWARE_CONTENTIONFILE_H
