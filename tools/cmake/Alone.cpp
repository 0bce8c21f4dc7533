//===- Alone.cpp - A program for one library ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linker adds every object of one library to this program. The link fails
// if the library needs a library that it does not declare (BraidLibrary.cmake).
//
//===----------------------------------------------------------------------===//

int main() { return 0; }
