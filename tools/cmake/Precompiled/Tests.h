//===- Tests.h - Headers of GoogleTest --------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_CMAKE_PRECOMPILED_TESTS_H
#define BRAID_TOOLS_CMAKE_PRECOMPILED_TESTS_H

#include "Standard.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#endif // BRAID_TOOLS_CMAKE_PRECOMPILED_TESTS_H
