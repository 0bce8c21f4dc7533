//===- Library.h - A library loaded at run time -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_BASE_LIBRARY_H
#define BRAID_RUNTIME_BASE_LIBRARY_H

#include "braid-rt/Types.h"

#include <string>
#include <utility>
#include <vector>

namespace braid::rt {

/// The names of a library, and the advice to a user if it is missing.
struct LibrarySpec {
  const char *what;     ///< `the CUDA driver`
  const char *variable; ///< Environment variable with a path that comes first.
  std::vector<const char *> names; ///< What dlopen is asked for, in order.
  const char *advice;              ///< `install NVIDIA's driver`
};

/// True if a user names the library with the variable of `spec`.
BRAID_RT_API bool isNamedLibrary(const LibrarySpec &spec);

/// Checks the file that a user names with the variable of `spec`, if any,
/// without loading it. Throws an Error if the file is no library that this
/// process can load, so that a wrong name is an error even if nothing needs the
/// library.
BRAID_RT_API void checkNamedLibrary(const LibrarySpec &spec);

/// A function of a library, and its name for messages.
template <typename Signature> struct LibraryFunction;
template <typename Result, typename... Parameters>
struct LibraryFunction<Result(Parameters...)> {
  Result (*address)(Parameters...);
  const char *name;
  Result operator()(Parameters... parameters) const {
    return address(parameters...);
  }
};

/// A library that is loaded when it is needed and never unloaded, because its
/// threads may outlive every world.
class BRAID_RT_API Library {
public:
  /// Throws an Error with the name of the library, the searched paths, and the
  /// advice.
  explicit Library(const LibrarySpec &spec);
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;

  /// The address of a function, which converts to a pointer of any type.
  struct Symbol {
    void *address;
    template <typename Function> operator Function *() const {
      return reinterpret_cast<Function *>(address);
    }
  };

  /// The function `symbol`; nullptr if the library lacks it, which
  /// checkComplete reports.
  Symbol find(const char *symbol);

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

/// A library with a function `check`, which throws an Error with the name of a
/// function unless its result is a success.
template <typename Self> class CheckedLibrary : public Library {
public:
  using Library::Library;

  /// Calls a function and checks its result.
  template <typename Signature, typename... Arguments>
  void call(const LibraryFunction<Signature> &function,
            Arguments &&...arguments) const {
    static_cast<const Self *>(this)->check(
        function(std::forward<Arguments>(arguments)...), function.name);
  }
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_BASE_LIBRARY_H
