//===- CommSplitInterface.cpp - Ops that can be split ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/CommSplitInterface.h"

#include "braid/Dialect/Comm/IR/CommSplitInterface.cpp.inc"
