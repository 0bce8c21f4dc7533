//===- Roofline.cpp - Time of work on a machine ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Roofline.h"

#include "Analysis/Memory/TypeSize.h"
#include "Cost/Hardware/MatrixTiles.h"
#include "braid/Support/IR/Operations.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace braid;
using namespace mlir;
using comm::Work;

ElementClass braid::classifyElementType(Type elementType) {
  if (auto complexType = dyn_cast<ComplexType>(elementType))
    elementType = complexType.getElementType();
  if (elementType.isBF16())
    return ElementClass::BF16;
  if (isa<FloatType>(elementType)) {
    unsigned width = elementType.getIntOrFloatBitWidth();
    if (width <= 8)
      return ElementClass::F8;
    if (width <= 16)
      return ElementClass::F16;
    return width <= 32 ? ElementClass::F32 : ElementClass::F64;
  }
  return elementType.isInteger(8) ? ElementClass::I8 : ElementClass::Integer;
}

/// Peak operations per second on elements of `elementType`. A tensor core of
/// Ampere and later generations multiplies TF32 half as fast as bf16.
static double getPeak(Type elementType, const Hardware &hardware) {
  double peak = hardware.getPeak(classifyElementType(elementType));
  if (isa<FloatTF32Type>(elementType) &&
      hardware.generation >= GpuGeneration::Ampere)
    return std::max(peak, hardware.getPeak(ElementClass::BF16) / 2);
  return peak;
}

/// The time to load the tiles of a matmul whose operands a kernel collects, as
/// a multiple of that of its operations: as long as to multiply tiles of 128 x
/// 128, a little longer than at the peak. Tiles of fewer columns load the left
/// operand more often. cuDNN's kernels load 10.5 TB/s from the second cache on
/// an H200: 3 x 3 convolutions of 64 features take 1.65 times as long as their
/// operations, those of 256 features no longer.
static double getLoadStretch(const comm::Matmul &matmul) {
  constexpr double rows = 128, ofSquares = 1.1;
  if (matmul.collectedColumns == 0)
    return 1.0;
  auto columns =
      static_cast<double>(std::min(matmul.columns, matmul.collectedColumns));
  return ofSquares * (rows / columns + 1.0) / 2;
}

/// The most that a matmul in TF32 takes beside its operations on an H200, where
/// these take as long: the median of 70 shapes of models, which take 4 to 120
/// us.
static constexpr double mostTF32StartSeconds = 7e-6;

/// The time of a matmul in TF32 as a multiple of that of its operations. A
/// tensor core of Hopper reads TF32 along the sum alone: where the sum stands
/// outside in both operands, kernels transpose on the way.
static double getTF32Stretch(const comm::Matmul &matmul,
                             const Hardware &hardware) {
  constexpr double transposed = 1.6;
  bool isTransposed = matmul.isLeftTransposed && !matmul.isRightTransposed;
  return isTransposed && hardware.generation >= GpuGeneration::Hopper
             ? transposed
             : 1.0;
}

Arithmetic braid::estimateArithmetic(const Work &work, const Hardware &hardware,
                                     int64_t target) {
  double seconds = 0.0, longestSeconds = 0.0;
  uint64_t numTiles = 0;
  for (const Work::Operations &entry : work.operations)
    seconds +=
        static_cast<double>(entry.count) / getPeak(entry.elementType, hardware);
  // The tiles of matmuls say below how many multiprocessors they fill.
  if (work.matmuls.empty() && target > 0 && target < hardware.multiprocessors)
    seconds *= static_cast<double>(hardware.multiprocessors) /
               static_cast<double>(target);
  if (hardware.multiprocessors > 0)
    for (const comm::Matmul &matmul : work.matmuls) {
      ElementClass element = classifyElementType(matmul.elementType);
      uint64_t results = llvm::SaturatingMultiply(
          llvm::SaturatingMultiply(matmul.rows, matmul.columns), matmul.batch);
      // TF32 has twice the bytes of the types that tiles were measured with.
      uint64_t depth = matmul.operations / 2 / results;
      if (isa<FloatTF32Type>(matmul.elementType))
        depth *= 2;
      TileGrid grid =
          chooseTiles(matmul.rows, matmul.columns, matmul.batch, element,
                      hardware.multiprocessors, target, depth);
      grid.stretch = std::max(grid.stretch, getLoadStretch(matmul));
      double peakSeconds = static_cast<double>(matmul.operations) /
                           getPeak(matmul.elementType, hardware);
      if (isa<FloatTF32Type>(matmul.elementType) &&
          matmul.collectedColumns == 0) {
        grid.stretch *= getTF32Stretch(matmul, hardware);
        seconds += std::min(grid.stretch * peakSeconds, mostTF32StartSeconds);
      }
      // The sum already counts the operations once.
      seconds += (grid.stretch - 1.0) * peakSeconds;
      if (grid.stretch * peakSeconds > longestSeconds) {
        longestSeconds = grid.stretch * peakSeconds;
        numTiles = grid.numTiles;
      }
    }
  constexpr auto most = std::numeric_limits<int64_t>::max();
  if (longestSeconds < seconds / 2)
    numTiles = 0;
  return {seconds * 1e9,
          static_cast<int64_t>(std::min<uint64_t>(numTiles, most))};
}

double braid::estimateMemoryNs(const Work &work, const Hardware &hardware) {
  // Kernels of TF32 that move single elements read 1.75 TB/s on an H200, where
  // vectors have 4.08: both matmuls of attention over 201 positions.
  constexpr double ofSingleElements = 2.33;
  bool movesSingleElements =
      llvm::any_of(work.matmuls, [](const comm::Matmul &matmul) {
        return matmul.hasUnalignedRows &&
               isa<FloatTF32Type>(matmul.elementType);
      });
  return (movesSingleElements ? ofSingleElements : 1.0) *
         static_cast<double>(work.getBytes()) / hardware.memoryBandwidth * 1e9;
}

double braid::estimateRooflineNs(const Work &work, const Hardware &hardware,
                                 int64_t target) {
  // A short kernel takes about as long as its launch.
  double extraNs =
      2.0 * static_cast<double>(work.extraKernels) *
          static_cast<double>(hardware.launchNs) +
      static_cast<double>(work.extraBytes) / hardware.memoryBandwidth * 1e9;
  return std::max(estimateArithmetic(work, hardware, target).ns,
                  estimateMemoryNs(work, hardware)) +
         extraNs;
}

int64_t braid::roundToNs(double ns) {
  if (!(ns > 0.0))
    return 0;
  constexpr auto limit = std::numeric_limits<int64_t>::max();
  if (ns >= static_cast<double>(limit))
    return limit;
  return std::max<int64_t>(1, std::llround(ns));
}

/// True if all memory effects of `op` are allocations and deallocations.
static bool onlyAllocatesOrFrees(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return false;
  SmallVector<MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  return !instances.empty() &&
         llvm::all_of(
             instances, [](const MemoryEffects::EffectInstance &effect) {
               return isa<MemoryEffects::Allocate, MemoryEffects::Free>(
                   effect.getEffect());
             });
}

Work braid::getDefaultWork(Operation *op, const comm::SizeDefaults &sizes) {
  Work work;
  if (op->hasTrait<OpTrait::IsTerminator>() || matchPattern(op, m_Constant()) ||
      isa<ViewLikeOpInterface>(op) || isa<UnrealizedConversionCastOp>(op) ||
      onlyAllocatesOrFrees(op))
    return work;
  work.addBytes(getDistinctBytes(op->getOperands(), sizes),
                getDistinctBytes(op->getResults(), sizes));
  return work;
}

Work braid::getFusedOperations(Region &region,
                               const comm::SizeDefaults &defaults) {
  Work work;
  for (Operation &op : region.getOps()) {
    // An op on scalars is one point of an explicit loop.
    if (op.hasTrait<OpTrait::Elementwise>() && op.getNumResults() == 1 &&
        op.getResult(0).getType().isIntOrFloat()) {
      work.addOperations(op.getOperand(0).getType(), 1);
      continue;
    }
    if (std::optional<Work> known = comm::getKnownWork(&op, defaults)) {
      work.addOperationsOf(*known);
      continue;
    }
    uint64_t times = 1;
    if (auto loop = dyn_cast<LoopLikeOpInterface>(&op))
      times = static_cast<uint64_t>(
          getStaticTripCount(loop).value_or(defaults.tripCount));
    for (Region &nested : op.getRegions())
      work.addOperationsOf(getFusedOperations(nested, defaults), times);
  }
  return work;
}
