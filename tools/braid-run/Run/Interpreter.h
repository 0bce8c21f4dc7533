//===- Interpreter.h - The target interpreter ----------------- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_RUN_INTERPRETER_H
#define BRAID_TOOLS_BRAID_RUN_RUN_INTERPRETER_H

#include "Options/Options.h"

namespace braid::run {

/// Runs all ranks of the program in one process of braid-opt, one op at a time
/// (the pass comm-interpret). Throws a Failure if the program or an option is
/// wrong.
void runInterpreter(const Options &options);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_RUN_INTERPRETER_H
