//===- Arguments.h - The arguments of --arg ---------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TENSORS_ARGUMENTS_H
#define BRAID_TOOLS_BRAID_RUN_TENSORS_ARGUMENTS_H

#include "Tensors/Tensor.h"

#include <string>
#include <vector>

namespace braid::run {

/// Replaces every `{key}` in a file name.
std::string expandPattern(std::string pattern, const std::string &key,
                          int64_t value);

/// The inputs of an entry on one rank, in the order of its arguments, without
/// the results. `values` are the --arg options: one for each input, or one for
/// all. Throws UsageError if they do not fit the entry.
std::vector<Tensor> makeInputs(const braid_rt_entry &entry,
                               const std::vector<std::string> &values,
                               int32_t rank);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TENSORS_ARGUMENTS_H
