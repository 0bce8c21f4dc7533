//===- Findings.cpp - What verification finds -----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Findings.h"

using namespace braid;

void Findings::add(Finding finding) {
  std::string key = std::to_string(reinterpret_cast<uintptr_t>(finding.op)) +
                    (finding.isUnknown ? '?' : '!') + finding.text;
  if (!keys.insert(key).second)
    return;
  numErrors += !finding.isUnknown;
  findings.push_back(std::move(finding));
}
