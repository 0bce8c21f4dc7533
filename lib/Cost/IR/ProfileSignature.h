//===- ProfileSignature.h - Signatures of ops in profiles -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_IR_PROFILESIGNATURE_H
#define BRAID_LIB_COST_IR_PROFILESIGNATURE_H

#include "Cost/Profile/Profile.h"
#include "braid/Cost/IR/OpCostModel.h"

namespace braid {

/// The signature of `op` in the profile format (see
/// docs/reference/profile-files.md): its computation and its types, but not its
/// location or label. The signature is the same on tensors and on buffers, and
/// in every program. Dynamic dimensions have the size of the options of
/// `model`. Empty for waits, which take no time of their own.
std::string getProfileSignature(mlir::Operation *op, OpCostModel &model);

/// The time of `op` in `profile`, by its label or else by its signature.
std::optional<ProfiledTime>
lookupProfile(const Profile &profile, mlir::Operation *op, OpCostModel &model);

} // namespace braid

#endif // BRAID_LIB_COST_IR_PROFILESIGNATURE_H
