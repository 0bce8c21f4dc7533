//===- Alone.cpp - A program for one library ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linker completes this program with every object of one library. It fails
// where the library needs anything that it does not name (BraidLibrary.cmake).
//
//===----------------------------------------------------------------------===//

int main() { return 0; }
