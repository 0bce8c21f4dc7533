//===- Sequential.cpp - Kernels that run reductions in order --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBody.h"
#include "Kernels.h"
#include "Reduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace braid::kernels;

/// Emits loops over the reductions of an op, in its order, around its body.
void braid::kernels::emitSequential(KernelModule &kernels, Operation *op,
                                    LoopNest nest) {
  KernelBuilder builder(kernels, op, "sequential");
  ImplicitLocOpBuilder &b = builder.b;
  nest.collapse();
  builder.addOperands(nest);
  builder.setIndexType(nest);
  builder.start(kBlockSize);
  SmallVector<unsigned> parallel, reductions;
  SmallVector<int64_t> sizes;
  int64_t threads = 1;
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop) {
    if (nest.isReduction[loop]) {
      reductions.push_back(loop);
      continue;
    }
    parallel.push_back(loop);
    sizes.push_back(nest.sizes[loop]);
    threads *= nest.sizes[loop];
  }
  Value thread = builder.add(builder.multiply(builder.blockId(), kBlockSize),
                             builder.threadId());
  auto isActive = scf::IfOp::create(b, builder.isLess(thread, threads));
  b.setInsertionPointToStart(isActive.thenBlock());
  SmallVector<Value> indices(nest.getNumLoops());
  for (auto [loop, index] :
       llvm::zip(parallel, builder.delinearize(thread, sizes)))
    indices[loop] = index;
  SmallVector<Value> values, addresses;
  for (auto [output, access] : llvm::enumerate(nest.outputs)) {
    addresses.push_back(builder.getAddress(access, indices));
    values.push_back(builder.getInitial(nest, output, indices));
  }
  auto getSize = [&](unsigned loop) {
    return builder.constantIndex(nest.sizes[loop]);
  };
  auto mapIteration = [&](ValueRange args, IRMapping &mapping) {
    builder.mapCaptured(nest, mapping);
    for (auto [access, value] : llvm::zip(nest.outputs, args))
      if (access.argument)
        mapping.map(access.argument, value);
    for (Access &access : nest.inputs)
      if (!access.argument.use_empty())
        mapping.map(access.argument,
                    builder.load(builder.getMemory(access.buffer),
                                 builder.getAddress(access, indices), 1));
    return builder.getAskedIndices(nest, indices, /*lanes=*/1,
                                   /*vectorLoop=*/0);
  };
  reduceInOrder(b, nest, reductions, getSize, indices, values, mapIteration);
  for (auto [access, address, value] :
       llvm::zip(nest.outputs, addresses, values))
    builder.store(value, builder.getMemory(access.buffer), address);
  builder.launch(llvm::divideCeil(threads, kBlockSize));
}
