//===- ProfiledMachine.h - The machine of a profile -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TOOLS_PROFILEDMACHINE_H
#define BRAID_TOOLS_BRAID_RUN_TOOLS_PROFILEDMACHINE_H

#include <string>

namespace braid::run {

/// The profile that a list of passes names (`profile=FILE`); empty if none.
std::string findProfile(const std::string &passes);

/// The model of the GPU that the text of a profile names; empty for a profile
/// of no machine. The passes check the profile itself.
std::string findProfiledGpu(const std::string &profile);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TOOLS_PROFILEDMACHINE_H
