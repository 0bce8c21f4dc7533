//===- RenamedOptions.h - Former names of pass options ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options of passes that had other names or units in the last release. The old
// spelling works for one release, with a warning that says the new one. This is
// the only place that knows old spellings of options of passes and pipelines.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_TRANSFORMS_RENAMEDOPTIONS_H
#define BRAID_DIALECT_COMM_TRANSFORMS_RENAMEDOPTIONS_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace braid::comm {

/// Returns `options`, the text between the braces behind `pass` in a textual
/// pipeline, with the present spelling of each option. Prints one warning to
/// `warnings` for each old spelling. Options of passes in the values of options
/// stay as they are, because these passes read their options themselves.
std::string renameOptions(llvm::StringRef pass, llvm::StringRef options,
                          llvm::raw_ostream &warnings = llvm::errs());

/// A pass that accepts old spellings of its options, wherever the text of its
/// options comes from: a command line, a textual pipeline, Python or C.
template <typename Base> class PassWithRenamedOptions : public Base {
public:
  using Base::Base;

  llvm::LogicalResult
  initializeOptions(llvm::StringRef options,
                    llvm::function_ref<llvm::LogicalResult(const llvm::Twine &)>
                        errorHandler) override {
    return Base::initializeOptions(renameOptions(this->getArgument(), options),
                                   errorHandler);
  }
};

/// Registers a pipeline that accepts old spellings of its options, as
/// `mlir::PassPipelineRegistration` registers one that does not.
template <typename Options>
void registerPipeline(llvm::StringRef name, llvm::StringRef description,
                      void (*build)(mlir::OpPassManager &, const Options &)) {
  mlir::registerPassPipeline(
      name, description,
      [name = name.str(),
       build](mlir::OpPassManager &pm, llvm::StringRef text,
              llvm::function_ref<llvm::LogicalResult(const llvm::Twine &)>) {
        Options options;
        if (failed(options.parseFromString(renameOptions(name, text))))
          return llvm::failure();
        build(pm, options);
        return llvm::success();
      },
      [](llvm::function_ref<void(const mlir::detail::PassOptions &)> handle) {
        handle(Options());
      });
}

} // namespace braid::comm

#endif // BRAID_DIALECT_COMM_TRANSFORMS_RENAMEDOPTIONS_H
