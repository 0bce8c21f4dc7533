//===- Findings.h - What verification finds ------------------- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_VERIFICATION_FINDINGS_H
#define BRAID_LIB_ANALYSIS_VERIFICATION_FINDINGS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace braid {

/// Something that is wrong at `op`, or that is not known.
struct Finding {
  struct Note {
    mlir::Location location;
    std::string text;
  };

  mlir::Operation *op;
  std::string text;
  llvm::SmallVector<Note, 2> notes;
  /// Not proven: an error only where everything has to be proven.
  bool isUnknown = false;
};

/// Findings in the order in which they were found, each once.
class Findings {
public:
  /// Adds `finding` unless there is one with the same text at the same op.
  void add(Finding finding) {
    std::string key = std::to_string(reinterpret_cast<uintptr_t>(finding.op)) +
                      (finding.isUnknown ? '?' : '!') + finding.text;
    if (!keys.insert(key).second)
      return;
    numErrors += !finding.isUnknown;
    findings.push_back(std::move(finding));
  }

  llvm::ArrayRef<Finding> get() const { return findings; }
  /// The number of findings that are wrong, not only unknown.
  unsigned getNumErrors() const { return numErrors; }

private:
  std::vector<Finding> findings;
  llvm::StringSet<> keys;
  unsigned numErrors = 0;
};

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_VERIFICATION_FINDINGS_H
