//===- Library.h - The MPI library of this process --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_LIBRARY_H
#define BRAID_RUNTIME_MPI_LIBRARY_H

namespace braid::rt {

/// The MPI library of this process while a world lives: initialized by the
/// first one unless the program has done that, and finalized when the process
/// ends. Throws an Error where the library does not let threads call it.
class MPILibrary {
public:
  MPILibrary();
  ~MPILibrary();
  MPILibrary(const MPILibrary &) = delete;
  MPILibrary &operator=(const MPILibrary &) = delete;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_LIBRARY_H
