//===- CapturedElements.cpp - Elements that bodies use --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Rewrite/Rewrites.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

/// The ops whose bodies use `element`; none if another op uses it.
static std::optional<llvm::SetVector<linalg::GenericOp>>
findBodies(tensor::ExtractOp element) {
  llvm::SetVector<linalg::GenericOp> bodies;
  for (Operation *user : element->getUsers()) {
    auto body = user->getParentOfType<linalg::GenericOp>();
    if (!body || !body.hasPureTensorSemantics() ||
        body->isProperAncestor(element))
      return std::nullopt;
    bodies.insert(body);
  }
  return bodies;
}

void braid::comm::takeElementsAsInputs(RewriterBase &rewriter,
                                       Operation *root) {
  SmallVector<tensor::ExtractOp> elements;
  root->walk([&](tensor::ExtractOp element) {
    if (element.getIndices().empty() &&
        !element->getParentOfType<linalg::LinalgOp>())
      elements.push_back(element);
  });
  for (tensor::ExtractOp element : elements) {
    auto bodies = findBodies(element);
    if (!bodies || bodies->empty())
      continue;
    for (linalg::GenericOp op : *bodies)
      rewriter.modifyOpInPlace(op, [&] {
        unsigned number = op.getNumDpsInputs();
        SmallVector<AffineMap> maps = op.getIndexingMapsArray();
        maps.insert(maps.begin() + number,
                    AffineMap::get(op.getNumLoops(), 0, rewriter.getContext()));
        op.getInputsMutable().append(element.getTensor());
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
        BlockArgument argument = op.getBody()->insertArgument(
            number, element.getType(), element.getLoc());
        element.getResult().replaceUsesWithIf(argument, [&](OpOperand &use) {
          return op->isProperAncestor(use.getOwner());
        });
      });
    rewriter.eraseOp(element);
  }
}
