//===- Hardware.h - Machines that costs are estimated for -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_HARDWARE_H
#define BRAID_SCHEDULE_HARDWARE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace braid {

/// The classes of element types that machines have different peaks for.
enum class ElementClass { F64, F32, BF16, F16, F8, I8, Integer };
constexpr unsigned numElementClasses = 7;

/// The generation of an NVIDIA GPU as collective models tell them apart.
enum class GpuGeneration { None, Volta, Ampere, Hopper, Blackwell };

/// The model that prices collectives.
enum class CollectiveModelKind { Inductor, Link };

/// One machine: figures of one GPU (or of one rank's share of a host), and of
/// the links between them. All are datasheet figures for dense operands; the
/// sources stand beside the table in Hardware.cpp.
struct Hardware {
  /// What `comm.hardware` and the pass options call the machine.
  llvm::StringLiteral name;
  /// One line for lists of machines.
  llvm::StringLiteral summary;
  /// Peak operations per second, by `ElementClass`. A class that the machine
  /// does not compute in has the figure of the class that it is converted to.
  double peakOpsPerSecond[numElementClasses];
  /// Bytes per second of the device memory.
  double memoryBandwidth;
  /// Bytes of the device memory.
  int64_t memoryBytes;
  /// Ranks of one node; also the size of a group `all` unless told otherwise.
  int64_t ranksPerNode;
  /// Bytes per second and direction of one rank's links within a node.
  double intraNodeBandwidth;
  /// Bytes per second and direction of one rank's links between nodes.
  double interNodeBandwidth;
  /// Nanoseconds of one message between neighbours, for the `link` model.
  double linkLatencyNs;
  GpuGeneration generation;
  /// The model of collectives that is used unless one is asked for.
  CollectiveModelKind defaultCollectiveModel;

  /// Peak operations per second on elements of class `element`.
  double getPeak(ElementClass element) const {
    return peakOpsPerSecond[static_cast<unsigned>(element)];
  }
};

/// All machines known, in the order in which lists show them. A table that is
/// read from a file would be appended here.
llvm::ArrayRef<Hardware> getKnownHardware();

/// The machine called `name`; null if there is none.
const Hardware *lookupHardware(llvm::StringRef name);

/// The machine that costs are estimated for unless a program or an option names
/// another one: h100x8.
const Hardware &getDefaultHardware();

/// The names of all machines, separated by spaces, for messages.
std::string joinHardwareNames();

/// The name of a collective model, as options spell it.
llvm::StringRef stringifyCollectiveModel(CollectiveModelKind kind);

} // namespace braid

#endif // BRAID_SCHEDULE_HARDWARE_H
