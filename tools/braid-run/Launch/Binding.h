//===- Binding.h - Advice on the cores of a rank ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_LAUNCH_BINDING_H
#define BRAID_TOOLS_BRAID_RUN_LAUNCH_BINDING_H

#include "Base/Launcher.h"

#include <string>

namespace braid::run {

/// One line with the cores that this process may use, the BLAS threads of a
/// rank, and advice on binding the ranks if they share cores.
std::string describeBinding(const rt::Launcher &launcher);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_LAUNCH_BINDING_H
