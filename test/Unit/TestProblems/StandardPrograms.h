//===- StandardPrograms.h - Programs of known orders ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_TESTPROBLEMS_STANDARDPROGRAMS_H
#define BRAID_TEST_UNIT_TESTPROBLEMS_STANDARDPROGRAMS_H

namespace braid::test {

// The programs that the passes of PyTorch Inductor are usually explained with.
// A collective takes 100 ns, mm 5 ns, everything else 1 ns, unless said
// otherwise.
inline constexpr const char *programA = "ar, w(ar), relu, mm(relu), add(w,mm)";
inline constexpr const char *programA2 = "relu, mm(relu), ar, w(ar), add(w,mm)";
inline constexpr const char *programNS = "ar, w(ar), mm1, mm2(w,mm1)";
inline constexpr const char *programNR =
    "mm1, relu(mm1), mm2(relu), ar(mm1), w(ar), mm3(w,mm2)";
inline constexpr const char *programNSR =
    "mm1, relu1(mm1), mm2(relu1), ar(mm1), w(ar), relu2(mm2), mm3(relu2), "
    "mm4(w,mm3)";
inline constexpr const char *programR =
    "ar1, w1(ar1), g:5, c, d:5(c), f(d,c,w1), ar2(f), w2(ar2), s(d,w1,w2), "
    "e:5(s,g)";
inline constexpr const char *programI3 =
    "a1:10, w1(a1), m1:4, a2:10, w2(a2), m2:4, a3:10, w3(a3), m3:4, m4:30, "
    "o(w1,w2,w3,m1,m2,m3,m4)";

} // namespace braid::test

#endif // BRAID_TEST_UNIT_TESTPROBLEMS_STANDARDPROGRAMS_H
