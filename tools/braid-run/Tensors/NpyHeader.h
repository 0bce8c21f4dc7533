//===- NpyHeader.h - Headers of .npy files ----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TENSORS_NPYHEADER_H
#define BRAID_TOOLS_BRAID_RUN_TENSORS_NPYHEADER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace braid::run {

/// What the header of an .npy file says of the data behind it.
struct NpyHeader {
  std::string descr; ///< NumPy's name of the element type, such as `<f4`.
  bool isFortran = false;
  std::vector<int64_t> shape; ///< All sizes are at least 0.
};

/// Headers have at most as many bytes as NumPy allows characters.
inline constexpr size_t longestNpyHeader = 10000;

/// Reads the text of a header of format `major`, 1 to 3: a dictionary with the
/// keys descr, fortran_order and shape and no others, in the form that NumPy
/// and its like write. Refuses other forms of Python literals, which NumPy
/// reads. Throws a RunError with the place in the header, the found and the
/// expected text.
NpyHeader parseNpyHeader(std::string_view text, int major);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TENSORS_NPYHEADER_H
