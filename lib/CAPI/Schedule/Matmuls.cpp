//===- Matmuls.cpp - Times of matmuls -------------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include "Objects.h"

#include "Cost/Hardware/MatrixTiles.h"
#include "Cost/Profile/Calibration.h"
#include "braid/Cost/Hardware/HardwareMachine.h"

using namespace braid;

namespace {

/// The bytes of an element, by `ElementClass`; whole numbers of unknown width
/// count as 32 bits.
constexpr int64_t elementBytes[numElementClasses] = {8, 4, 2, 2, 1, 1, 4};

/// The most rows, columns or matmuls: those of real tensors are fewer, and
/// the sums below stay far from the largest number.
constexpr int64_t mostElements = int64_t(1) << 24;

} // namespace

/// Times of `matmul` on the multiprocessors that it may take.
static void estimate(const braid_machine &machine, const braid_matmul &matmul,
                     braid_matmul_time &time) {
  auto element = static_cast<ElementClass>(matmul.element);
  const Hardware &hardware = machine.hardware;
  ResourceDemand demand;
  double stretch = 1;
  if (hardware.multiprocessors > 0) {
    TileGrid grid =
        chooseTiles(matmul.rows, matmul.columns, matmul.batch, element,
                    hardware.multiprocessors, matmul.multiprocessors,
                    static_cast<uint64_t>(matmul.depth));
    stretch = grid.stretch;
    demand.tiles = static_cast<int64_t>(grid.numTiles);
    setPersistentBlocks(demand, matmul.multiprocessors);
  }
  double operations = 2.0 * static_cast<double>(matmul.rows) *
                      static_cast<double>(matmul.columns) *
                      static_cast<double>(matmul.depth) *
                      static_cast<double>(matmul.batch);
  double elements =
      static_cast<double>(matmul.batch) *
      (static_cast<double>(matmul.rows) * static_cast<double>(matmul.depth) +
       static_cast<double>(matmul.depth) * static_cast<double>(matmul.columns) +
       static_cast<double>(matmul.rows) * static_cast<double>(matmul.columns));
  double bytes = elements * static_cast<double>(elementBytes[matmul.element]);
  constexpr double nsPerSecond = 1e9;
  double arithmeticNs =
      nsPerSecond * stretch * operations / hardware.getPeak(element);
  time.ns =
      std::max(arithmeticNs, nsPerSecond * bytes / hardware.memoryBandwidth);
  time.tiles = demand.tiles;
  time.memory_bytes = static_cast<int64_t>(bytes);
  time.blocks = demand.blocks > 0     ? demand.blocks
                : demand.isPersistent ? -1
                                      : 0;
  if (machine.calibration && matmul.batch == 1)
    if (std::optional<MatmulEstimate> measured =
            machine.calibration->estimateMatmul(
                {matmul.rows, matmul.columns, matmul.depth, element,
                 static_cast<TransposedOperands>(matmul.transposed)},
                matmul.multiprocessors)) {
      // The same work at another speed.
      arithmeticNs *= measured->ns / time.ns;
      time.ns = measured->ns;
      time.is_measured = measured->isMeasured;
    }
  time.arithmetic_ns = static_cast<int64_t>(std::min(arithmeticNs, time.ns));
}

int32_t braid_matmul_estimate(const braid_machine *machine,
                              const braid_matmul *matmul,
                              braid_matmul_time *time, braid_error *error) {
  if (!isGiven(machine, "machine", error) ||
      !hasSize(matmul, "matmul", error) || !hasSize(time, "time", error))
    return BRAID_INVALID_ARGUMENT;
  braid_matmul given = read(*matmul);
  for (int64_t size : {given.rows, given.columns, given.depth, given.batch})
    if (size < 1 || size > mostElements)
      return fail(error, BRAID_INVALID_ARGUMENT,
                  "found a matmul of size " + llvm::Twine(size) +
                      ", expected 1 to 2^24");
  if (given.element < 0 || given.element >= int32_t(numElementClasses))
    return fail(error, BRAID_INVALID_ARGUMENT,
                "found elements of the class " + llvm::Twine(given.element) +
                    ", expected 0 to " + llvm::Twine(numElementClasses - 1));
  if (given.transposed < 0 || given.transposed > 3)
    return fail(error, BRAID_INVALID_ARGUMENT,
                "found transposed operands " + llvm::Twine(given.transposed) +
                    ", expected 0 to 3");
  int64_t most = machine->hardware.multiprocessors;
  if (given.multiprocessors < 0 || given.multiprocessors > most)
    return fail(error, BRAID_INVALID_ARGUMENT,
                "found a matmul on " + llvm::Twine(given.multiprocessors) +
                    " multiprocessors, expected 0 to " + llvm::Twine(most));
  braid_matmul_time result = {};
  estimate(*machine, given, result);
  write(result, *time);
  return BRAID_OK;
}
