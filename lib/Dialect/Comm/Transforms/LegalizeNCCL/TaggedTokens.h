//===- TaggedTokens.h - Tokens with a number --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tagged token is a token and an index, the tag. While a pass works, one
// value of a type of its own stands for both, so that the pass need not rewrite
// the control flow that passes the token on. `lowerTags` does that at the end.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_TAGGEDTOKENS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_TAGGEDTOKENS_H

#include "braid/Dialect/Comm/IR/Comm.h"

namespace braid::comm {

/// The type of a token of `type`, whose value is a tensor, with a tag.
TokenType getTaggedType(TokenType type);

/// Has the users of `old` use `token` with the tag `tag`.
void replaceByTagged(mlir::Value old, mlir::Value token, unsigned tag);

/// The token, of type `type`, and the tag of `tagged`, before `op`.
std::pair<mlir::Value, mlir::Value>
splitTagged(mlir::Value tagged, TokenType type, mlir::Operation *op);

/// Turns tagged tokens in `function` into tokens and indices. Fails after an
/// error.
llvm::LogicalResult lowerTags(mlir::Operation *function);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_TAGGEDTOKENS_H
