//===- Library.h - The MPI library of this process --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_LIBRARY_LIBRARY_H
#define BRAID_RUNTIME_MPI_LIBRARY_LIBRARY_H

#include <string>

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

  /// What a launcher says of several ranks (see describeLaunchedRanks); empty
  /// if it says of none.
  const std::string &launchedRanks() const { return launched; }

private:
  const std::string launched;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_LIBRARY_LIBRARY_H
