//===- KernelBuilder.h - Kernels and their launches -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOGPU_KERNELBUILDER_H
#define BRAID_LIB_CONVERSION_LINALGTOGPU_KERNELBUILDER_H

#include "LoopNest.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

namespace braid::kernels {

/// Threads of a block where nothing speaks for another number.
constexpr int64_t kBlockSize = 256;
/// Threads of a warp.
constexpr int64_t kWarpSize = 32;
/// The most bytes that one access moves.
constexpr int64_t kAccessBytes = 16;

/// The gpu.module of a program. Equal kernels are kept once.
class KernelModule {
public:
  explicit KernelModule(mlir::ModuleOp module) : module(module) {}

  /// An empty kernel.
  mlir::gpu::GPUFuncOp create(mlir::Location loc, llvm::StringRef name,
                              mlir::FunctionType type,
                              mlir::TypeRange workgroupMemory);
  /// The kernel to launch for the finished `kernel`: itself, or an equal one,
  /// and then `kernel` is gone.
  mlir::gpu::GPUFuncOp share(mlir::gpu::GPUFuncOp kernel);

private:
  mlir::ModuleOp module;
  mlir::gpu::GPUModuleOp kernels;
  std::optional<mlir::SymbolTable> symbols;
  llvm::DenseMap<size_t, llvm::SmallVector<mlir::gpu::GPUFuncOp>> byHash;
};

/// Builds one kernel and its launch. First the operands are named, then
/// `start` opens the body, then `launch` ends it.
class KernelBuilder {
public:
  /// `before`: what the launch stands in front of.
  KernelBuilder(KernelModule &kernels, mlir::Operation *before,
                llvm::StringRef name)
      : kernels(kernels), before(before), name(name),
        b(before->getLoc(), before->getContext()) {}

  void addBuffer(mlir::Value buffer, bool isWritten);
  /// A value of the host that the kernel gets. Constants are copied into it.
  void addScalar(mlir::Value value);
  /// All that `nest` accesses and that its body reads from outside.
  void addOperands(LoopNest &nest);

  /// Opens the body. `workgroupMemory` are the types of buffers that a block
  /// shares.
  void start(int64_t blockSize, mlir::TypeRange workgroupMemory = {});
  mlir::Value getWorkgroupMemory(unsigned index);

  /// Gives everything that `nest`'s body reads from outside its value in the
  /// kernel.
  void mapCaptured(const LoopNest &nest, mlir::IRMapping &mapping);
  /// The memory of `buffer` as one dimension.
  mlir::Value getMemory(mlir::Value buffer);

  /// The type that linear indices have: 32 bits if all of them fit.
  void setIndexType(const LoopNest &nest) { setIndexType({&nest}); }
  void setIndexType(llvm::ArrayRef<const LoopNest *> nests);
  mlir::Type getIndexType() { return indexType; }
  mlir::Value constantIndex(int64_t value);
  mlir::Value blockId();
  mlir::Value threadId();
  /// `value` of the index type, as an `index`.
  mlir::Value toIndex(mlir::Value value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value addConstant(mlir::Value value, int64_t constant);
  mlir::Value multiply(mlir::Value value, int64_t factor);
  mlir::Value divide(mlir::Value value, int64_t divisor);
  mlir::Value remainder(mlir::Value value, int64_t divisor);
  mlir::Value isLess(mlir::Value value, int64_t bound);
  /// The indices of loops of `sizes` in iteration `linear` of them.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value linear,
                                             llvm::ArrayRef<int64_t> sizes);
  /// The element that `access` names at `indices`.
  mlir::Value getAddress(const Access &access,
                         llvm::ArrayRef<mlir::Value> indices);

  /// What `linalg.index` asks for in `nest`, at `indices` of its loops; along
  /// the loop `vectorLoop` for `lanes` neighbours.
  llvm::SmallVector<mlir::Value>
  getAskedIndices(const LoopNest &nest, llvm::ArrayRef<mlir::Value> indices,
                  int64_t lanes, unsigned vectorLoop);

  /// Emits something that runs where `condition` holds; always without one.
  void emitIf(mlir::Value condition, llvm::function_ref<void()> emit);
  /// True where both hold; one that is null always does.
  mlir::Value both(mlir::Value a, mlir::Value other);

  /// The type of `size` elements that a block shares.
  mlir::Type getWorkgroupType(int64_t size, mlir::Type element);
  /// Loads `lanes` neighbouring elements, a scalar for one.
  mlir::Value load(mlir::Value memory, mlir::Value address, int64_t lanes);
  /// The same where `condition` holds, and zeros elsewhere.
  mlir::Value loadIf(mlir::Value condition, mlir::Value memory,
                     mlir::Value address, int64_t lanes);
  void store(mlir::Value value, mlir::Value memory, mlir::Value address);
  /// What `nest`'s output `output` holds at first.
  mlir::Value getInitial(const LoopNest &nest, unsigned output,
                         llvm::ArrayRef<mlir::Value> indices);

  /// Ends the body and launches `numBlocks` blocks.
  void launch(int64_t numBlocks);

private:
  KernelModule &kernels;
  mlir::Operation *before;
  llvm::StringRef name;
  int64_t blockSize = 0;
  mlir::Type indexType;
  mlir::gpu::GPUFuncOp kernel;
  /// Buffers, with whether they are written, and scalars, by their values on
  /// the host.
  llvm::MapVector<mlir::Value, bool> buffers;
  llvm::SetVector<mlir::Value> scalars, constants;
  llvm::DenseMap<mlir::Value, mlir::Value> memory;
  /// For each buffer whose type does not have its offset, the offset: on the
  /// host first, then in the kernel.
  llvm::DenseMap<mlir::Value, mlir::Value> offsets;
  mlir::IRMapping fromHost;
  llvm::SmallVector<mlir::Value> launchOperands;

public:
  /// Where the body grows.
  mlir::ImplicitLocOpBuilder b;
};

/// The widest access of `access` along the loop `loop`, in elements: the
/// largest power of two up to `lanes` for which all addresses are aligned.
/// `loops` are the loops that the address depends on beside it.
int64_t getAlignedLanes(const Access &access, const LoopNest &nest,
                        unsigned loop, int64_t lanes);

/// Values from outside `body` that its ops use.
llvm::SetVector<mlir::Value> getCaptured(mlir::Block &body);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_KERNELBUILDER_H
