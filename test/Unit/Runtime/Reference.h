//===- Reference.h - What collectives must compute --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_RUNTIME_REFERENCE_H
#define BRAID_TEST_UNIT_RUNTIME_REFERENCE_H

#include "Harness.h"

#include <cstdint>
#include <vector>

namespace braid::test {

/// The real part (or only part) of an element, exactly; 64-bit integers are
/// read elsewhere.
double decode(const Buffer &buffer, int64_t index, int part = 0);

/// Stores an element: the nearest value of the type, of two the even one.
void encode(Buffer &buffer, int64_t index, double real, double imaginary);

/// The reduction of the sources, element by element, in their order.
/// `scales` has one element for each source, for premul_sum.
Buffer reduceReference(int32_t reduction, const std::vector<Buffer> &sources,
                       const std::vector<Buffer> &scales);

/// A part of `parts` equal ones along a dimension.
Buffer slice(const Buffer &buffer, int64_t dim, int64_t part, int64_t parts);

/// The buffers one after the other along a dimension.
Buffer concatenate(const std::vector<Buffer> &buffers, int64_t dim);

/// Zeros of a shape.
Buffer zeros(int32_t dtype, const std::vector<int64_t> &sizes);

/// Whether a reduction has found what the reference expects: the same bits, or,
/// where the engine combines floats in another order, about the same values.
bool isReduced(const Buffer &found, const Buffer &expected, int64_t operands);

/// Why the engine reduces no elements of a type; empty when it does.
std::string whyNoReductions(int32_t dtype);

/// All reductions that an element type allows and the engine runs in a group of
/// so many ranks.
std::vector<int32_t> reductionsOf(int32_t dtype, int32_t groupSize = 2);

} // namespace braid::test

#endif // BRAID_TEST_UNIT_RUNTIME_REFERENCE_H
