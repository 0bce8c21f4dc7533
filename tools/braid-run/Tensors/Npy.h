//===- Npy.h - Files of NumPy arrays ----------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TENSORS_NPY_H
#define BRAID_TOOLS_BRAID_RUN_TENSORS_NPY_H

#include "Tensors/Tensor.h"

#include <istream>
#include <string>

namespace braid::run {

/// Reads an .npy file (format 1 to 3, either order of bytes, C or Fortran
/// order) as a tensor of `dtype`. bf16 and the 8-bit floats, which NumPy lacks,
/// are raw bytes: `|V2` and `|V1` as ml_dtypes writes them, or unsigned
/// integers of the same width. Throws a RunError that names the file, the found
/// and the expected contents.
Tensor readNpy(const std::string &file, int32_t dtype);

/// The same from a stream; the RunError does not name the file.
Tensor readNpy(std::istream &stream, int32_t dtype);

/// Writes an .npy file; bf16 as `|V2`, 8-bit floats as `|V1`.
void writeNpy(const std::string &file, const Tensor &tensor);

/// The bytes of that file.
std::string formatNpy(const Tensor &tensor);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TENSORS_NPY_H
