//===- ProblemCount.h - How many problems tests look at ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_TESTPROBLEMS_PROBLEMCOUNT_H
#define BRAID_TEST_UNIT_TESTPROBLEMS_PROBLEMCOUNT_H

namespace braid::test {

/// How many of `all` random problems a property test looks at.
/// A sanitizer looks at the code, which is the same for the first fifth; that
/// no result is wrong is checked without sanitizers.
constexpr unsigned getNumProblems(unsigned all) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return (all + 4) / 5;
#endif
#endif
  return all;
}

} // namespace braid::test

#endif // BRAID_TEST_UNIT_TESTPROBLEMS_PROBLEMCOUNT_H
