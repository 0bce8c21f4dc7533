//===- Library.h - A library loaded at run time -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_API_LIBRARY_H
#define BRAID_RUNTIME_CUDA_API_LIBRARY_H

#include <string>
#include <vector>

namespace braid::rt::cuda {

/// Where to look for a library and what to tell a user who lacks it.
struct LibrarySpec {
  const char *what;     ///< `the CUDA driver`
  const char *variable; ///< Environment variable with a path that comes first.
  std::vector<const char *> names; ///< What dlopen is asked for, in order.
  const char *advice;              ///< `install NVIDIA's driver`
};

/// A library of NVIDIA's, loaded when the engine starts and never unloaded: its
/// threads may outlive every world.
class Library {
public:
  /// Throws an Error that names the library, where it was looked for, and what
  /// to do.
  explicit Library(const LibrarySpec &spec);

  /// The address of a function; nullptr where the library lacks it, which
  /// checkComplete reports.
  void *find(const char *symbol);

  /// Sets `function` to the address of the function `symbol`.
  template <typename Function>
  void bind(Function *&function, const char *symbol) {
    function = reinterpret_cast<Function *>(find(symbol));
  }

  /// Throws an Error that names all functions that find did not find.
  void checkComplete() const;

  /// The file that was loaded.
  const std::string &path() const { return file; }

private:
  const LibrarySpec spec;
  void *handle = nullptr;
  std::string file;
  std::vector<std::string> missing;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_API_LIBRARY_H
