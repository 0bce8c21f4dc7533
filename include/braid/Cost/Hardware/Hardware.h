//===- Hardware.h - Machines that costs are estimated for -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_COST_HARDWARE_HARDWARE_H
#define BRAID_COST_HARDWARE_HARDWARE_H

#include "braid/Schedule/Model/Machine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace braid {

/// The classes of element types that machines have different peaks for.
enum class ElementClass { F64, F32, BF16, F16, F8, I8, Integer };
constexpr unsigned numElementClasses = 7;

/// What files call them, by `ElementClass`.
extern const llvm::StringLiteral elementClassNames[numElementClasses];

/// The generation of an NVIDIA GPU as collective models tell them apart.
enum class GpuGeneration { None, Volta, Ampere, Hopper, Blackwell };

/// The model that prices collectives.
enum class CollectiveModelKind { Nccl, Inductor, InductorNewest, Link };

/// The maker of the host's processors: NCCL has rules of its own for AMD's.
enum class CpuVendor { Intel, Amd };

/// What NCCL finds on a machine, and how it is told to use it.
struct NcclFigures {
  /// The channels that NCCL's search finds within a node, before it doubles
  /// them for its kernels, and bytes per second of one. 0: not a machine of
  /// NCCL's.
  int64_t numChannels = 0;
  double channelBandwidth = 0;
  /// All channels visit the GPUs of a node in the same order.
  bool hasSameChannels = true;
  /// The GPUs of a node are connected by switches.
  bool hasNvSwitch = true;
  CpuVendor cpuVendor = CpuVendor::Intel;
  /// NCCL_MAX_CTAS: the most CTAs of a collective; 0 for no limit.
  int64_t maxCtas = 0;
  /// Multicast in the switches (NVLS) and reduction in the network (CollNet)
  /// are used.
  bool enableNvls = false;
  bool enableCollNet = false;
  /// NCCL_CTA_POLICY_ZERO: copy engines run all-gathers, all-to-alls, gathers
  /// and scatters within a node.
  bool useCopyEngine = false;
  /// Nanoseconds of such a collective before the first byte, and bytes per
  /// second that a rank sends; 0 if nobody has measured them.
  double copyEngineLatencyNs = 0;
  double copyEngineBandwidth = 0;
};

/// One machine: figures of one GPU (or of one rank's share of a host), and of
/// the links between them. All are datasheet figures for dense operands; the
/// sources stand beside the table in Hardware.cpp.
struct Hardware {
  /// What `comm.hardware` and the pass options call the machine.
  std::string name;
  /// One line for lists of machines.
  std::string summary;
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
  /// Multiprocessors of one GPU; 0 if compute and collectives share none.
  int64_t multiprocessors;
  /// Nanoseconds between two kernels of a stream.
  int64_t launchNs;
  NcclFigures nccl;
  ContentionFigures contention = {};

  /// True if NCCL runs on the machine, so that its tuner can be asked.
  bool hasNccl() const {
    return generation != GpuGeneration::None && nccl.numChannels > 0;
  }

  /// Peak operations per second on elements of class `element`.
  double getPeak(ElementClass element) const {
    return peakOpsPerSecond[static_cast<unsigned>(element)];
  }
};

/// All machines known by name, in the order in which lists show them.
llvm::ArrayRef<Hardware> getKnownHardware();

/// The machine called `name`; null if there is none.
const Hardware *lookupHardware(llvm::StringRef name);

/// The machine that costs are estimated for unless a program or an option names
/// another one: h100x8.
const Hardware &getDefaultHardware();

/// The names of all machines, separated by spaces, for messages.
std::string joinHardwareNames();

/// The machine that `text` describes: a JSON object with the fields of
/// docs/cost-models.md. Its `base` names a machine whose figures hold where the
/// text says nothing; without one it must say all. The machine is called by its
/// `name`, or else `defaultName`. Fails with a `JsonError` that says what was
/// found and what was expected.
llvm::Expected<Hardware> parseHardware(llvm::StringRef text,
                                       llvm::StringRef defaultName);

/// The name of a collective model, as options spell it; and the reverse, none
/// if there is no such model.
llvm::StringRef stringifyCollectiveModel(CollectiveModelKind kind);
std::optional<CollectiveModelKind>
symbolizeCollectiveModel(llvm::StringRef name);

/// The names of all collective models, separated by spaces, for messages.
std::string joinCollectiveModelNames();

} // namespace braid

#endif // BRAID_COST_HARDWARE_HARDWARE_H
