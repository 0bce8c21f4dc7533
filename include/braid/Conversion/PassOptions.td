//===- PassOptions.td - Options that passes share ----------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_CONVERSION_PASSOPTIONS_TD
#define BRAID_CONVERSION_PASSOPTIONS_TD

include "mlir/Pass/PassBase.td"

class TargetOption<string does>
    : Option<"target", "target", "::braid::KernelTarget",
             /*default=*/"::braid::KernelTarget::Host",
             "The target, " # does # ": host or cuda", "::braid::getKernelTargetValues()">;

#endif // BRAID_CONVERSION_PASSOPTIONS_TD
