//===- SanitizeLLVM.h - First include of builds with assertions -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llvm::Statistic has more members if NDEBUG is not defined. The installed MLIR
// was built with NDEBUG and constructs the statistics of Braid's passes, so
// builds with assertions must use the layout of NDEBUG.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_CMAKE_SANITIZELLVM_H
#define BRAID_TOOLS_CMAKE_SANITIZELLVM_H

#if __has_include("llvm/ADT/Statistic.h")
#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
#endif

#endif // BRAID_TOOLS_CMAKE_SANITIZELLVM_H
