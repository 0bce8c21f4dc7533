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

/// The default number of threads of a block.
constexpr int64_t kBlockSize = 256;
/// The most threads of a block.
constexpr int64_t kMaxThreads = 1024;
/// The most bytes of shared memory that a block has without asking for more.
constexpr int64_t kMaxWorkgroupBytes = 48 * 1024;
/// Threads of a warp.
constexpr int64_t kWarpSize = 32;
/// The most bytes that one access moves.
constexpr int64_t kAccessBytes = 16;

/// The gpu.module of a program. Equal ops share one kernel.
class KernelModule {
public:
  explicit KernelModule(mlir::ModuleOp module) : module(module) {}

  /// Creates an empty kernel.
  mlir::gpu::GPUFuncOp create(mlir::Location loc, llvm::StringRef name,
                              mlir::FunctionType type,
                              mlir::TypeRange workgroupMemory);
  /// Returns an earlier kernel that equals the finished `kernel`, and erases
  /// `kernel`; returns `kernel` if there is none.
  mlir::gpu::GPUFuncOp share(mlir::gpu::GPUFuncOp kernel);

private:
  mlir::ModuleOp module;
  mlir::gpu::GPUModuleOp kernels;
  std::optional<mlir::SymbolTable> symbols;
  llvm::DenseMap<size_t, llvm::SmallVector<mlir::gpu::GPUFuncOp>> byHash;
};

/// Builds one kernel and its launch. The caller first adds the operands, then
/// opens the body with `start`, and ends the body with `launch`.
class KernelBuilder {
public:
  /// The launch is inserted before `before`.
  KernelBuilder(KernelModule &kernels, mlir::Operation *before,
                llvm::StringRef name)
      : kernels(kernels), before(before), name(name),
        b(before->getLoc(), before->getContext()) {}

  void addBuffer(mlir::Value buffer, bool isWritten);
  /// Adds a scalar argument. Constants are copied into the kernel instead.
  void addScalar(mlir::Value value);
  /// Adds all buffers that `nest` accesses, and all values from outside that
  /// its body reads.
  void addOperands(LoopNest &nest);
  /// Threads may read what other threads of the block have written, and bodies
  /// read the memory of roots, which are the buffers.
  void shareWrittenBuffers() { sharesWrittenBuffers = true; }

  /// Opens the body. `workgroupMemory` are the types of the shared memory of a
  /// block.
  void start(int64_t blockSize, mlir::TypeRange workgroupMemory = {});
  mlir::Value getWorkgroupMemory(unsigned index);

  /// Maps all values from outside that the body of `nest` reads to their values
  /// in the kernel.
  void mapCaptured(const LoopNest &nest, mlir::IRMapping &mapping);
  /// The memory of `buffer` as one dimension.
  mlir::Value getMemory(mlir::Value buffer);

  /// Sets the type of linear indices: 32 bits if all indices fit.
  void setIndexType(const LoopNest &nest) { setIndexType({&nest}); }
  void setIndexType(llvm::ArrayRef<const LoopNest *> nests);
  /// The same, for indices below `end`.
  void setIndexType(int64_t end);
  mlir::Type getIndexType() { return indexType; }
  mlir::Value constantIndex(int64_t value);
  mlir::Value blockId();
  mlir::Value threadId();
  /// Converts `value` from the type of linear indices to `index`.
  mlir::Value toIndex(mlir::Value value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value addConstant(mlir::Value value, int64_t constant);
  mlir::Value multiply(mlir::Value value, int64_t factor);
  mlir::Value divide(mlir::Value value, int64_t divisor);
  mlir::Value remainder(mlir::Value value, int64_t divisor);
  mlir::Value isLess(mlir::Value value, int64_t bound);
  /// The indices of loops of `sizes` in their iteration `linear`.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value linear,
                                             llvm::ArrayRef<int64_t> sizes);
  /// The address of the element of `access` at `indices`.
  mlir::Value getAddress(const Access &access,
                         llvm::ArrayRef<mlir::Value> indices);

  /// The results of `linalg.index` in `nest`, at `indices` of its loops;
  /// vectors of `lanes` elements along the loop `vectorLoop`.
  llvm::SmallVector<mlir::Value>
  getAskedIndices(const LoopNest &nest, llvm::ArrayRef<mlir::Value> indices,
                  int64_t lanes, unsigned vectorLoop);

  /// Emits code that runs if `condition` is true or null.
  void emitIf(mlir::Value condition, llvm::function_ref<void()> emit);
  /// The conjunction of two conditions; null is true.
  mlir::Value both(mlir::Value a, mlir::Value other);

  /// The type of shared memory with `size` elements.
  mlir::Type getWorkgroupType(int64_t size, mlir::Type element);
  /// Loads `lanes` adjacent elements, as a scalar if `lanes` is 1, in accesses
  /// of at most `kAccessBytes` and `widest` elements, which have to be aligned.
  /// A vector that no thread reads again (`isReadOnce`) is loaded as
  /// nontemporal.
  mlir::Value load(mlir::Value memory, mlir::Value address, int64_t lanes,
                   bool isReadOnce = false, int64_t widest = kAccessBytes);
  /// Loads if `condition` is true; otherwise the result is zero.
  mlir::Value loadIf(mlir::Value condition, mlir::Value memory,
                     mlir::Value address, int64_t lanes,
                     bool isReadOnce = false, int64_t widest = kAccessBytes);
  /// Stores a scalar, or a vector in accesses as those of `load`.
  void store(mlir::Value value, mlir::Value memory, mlir::Value address,
             int64_t widest = kAccessBytes);
  /// The initial value of the output `output` of `nest`.
  mlir::Value getInitial(const LoopNest &nest, unsigned output,
                         llvm::ArrayRef<mlir::Value> indices);

  /// Ends the body and launches `numBlocks` blocks.
  void launch(int64_t numBlocks);

private:
  /// Views the buffers as one-dimensional memory.
  void flattenBuffers();

  KernelModule &kernels;
  mlir::Operation *before;
  llvm::StringRef name;
  int64_t blockSize = 0;
  bool sharesWrittenBuffers = false;
  mlir::Type indexType;
  mlir::gpu::GPUFuncOp kernel;
  /// The buffers on the host, with whether the kernel writes them.
  llvm::MapVector<mlir::Value, bool> buffers;
  llvm::SetVector<mlir::Value> scalars, constants;
  llvm::DenseMap<mlir::Value, mlir::Value> memory;
  /// The dynamic offset of each buffer: first its value on the host, after
  /// `start` its value in the kernel.
  llvm::DenseMap<mlir::Value, mlir::Value> offsets;
  mlir::IRMapping fromHost;
  llvm::SmallVector<mlir::Value> launchOperands;

public:
  /// Inserts into the body.
  mlir::ImplicitLocOpBuilder b;
};

/// The widest access of `access` along the loop `loop`, in elements: the
/// largest power of two up to `lanes` for which all addresses are aligned.
/// `loops` are the other loops that the address depends on.
int64_t getAlignedLanes(const Access &access, const LoopNest &nest,
                        unsigned loop, int64_t lanes);

/// Loads a vector of `type` by one access, which has to be aligned.
mlir::Value loadVector(mlir::ImplicitLocOpBuilder &b, mlir::VectorType type,
                       mlir::Value memory, mlir::ValueRange indices,
                       bool isReadOnce = false);

/// Values from outside `body` that its ops use.
llvm::SetVector<mlir::Value> getCaptured(mlir::Block &body);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_KERNELBUILDER_H
