//===- OneInterface.h - Whether two functions are called alike --*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_RUNTIME_ONEINTERFACE_H
#define BRAID_TEST_UNIT_RUNTIME_ONEINTERFACE_H

#include <type_traits>

namespace braid::test {

/// Whether two types are passed alike: pointers, numbers of one size.
template <typename A, typename B> constexpr bool isPassedAlike() {
  if constexpr (std::is_same_v<A, B>)
    return true;
  else if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>)
    return true;
  else if constexpr (std::is_class_v<A> && std::is_class_v<B>)
    return sizeof(A) == sizeof(B);
  else
    return (std::is_integral_v<A> || std::is_enum_v<A>) &&
           (std::is_integral_v<B> || std::is_enum_v<B>) &&
           sizeof(A) == sizeof(B);
}

template <typename A, typename B> struct HaveOneInterface : std::false_type {};
template <typename ResultA, typename... A, typename ResultB, typename... B>
struct HaveOneInterface<ResultA (*)(A...), ResultB (*)(B...)> {
  static constexpr bool compare() {
    if constexpr (sizeof...(A) != sizeof...(B))
      return false;
    else
      return isPassedAlike<ResultA, ResultB>() &&
             (isPassedAlike<A, B>() && ...);
  }
  static constexpr bool value = compare();
};

static_assert(HaveOneInterface<int (*)(void *), unsigned (*)(int *)>::value);
static_assert(!HaveOneInterface<int (*)(void *), int (*)(long)>::value);
static_assert(!HaveOneInterface<int (*)(long), int (*)(int)>::value);
static_assert(!HaveOneInterface<int (*)(int), int (*)(int, int)>::value);

} // namespace braid::test

#endif // BRAID_TEST_UNIT_RUNTIME_ONEINTERFACE_H
