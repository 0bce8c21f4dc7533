//===- Library.h - The MPI library of this process --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_LIBRARY_LIBRARY_H
#define BRAID_RUNTIME_MPI_LIBRARY_LIBRARY_H

#include "Base/Launcher.h"

namespace braid::rt {

/// The MPI library of this process. The first world initializes the library,
/// unless the program has done so; the end of the process finalizes it. Throws
/// an Error if the library does not allow calls from several threads.
class MPILibrary {
public:
  MPILibrary();
  ~MPILibrary();
  MPILibrary(const MPILibrary &) = delete;
  MPILibrary &operator=(const MPILibrary &) = delete;

  /// Who has started this process, before the library has set variables of its
  /// own.
  const Launcher launcher;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_LIBRARY_LIBRARY_H
