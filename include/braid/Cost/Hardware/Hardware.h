//===- Hardware.h - Machines of the cost models -----------------*- C++ -*-===//
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

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace braid {

/// The classes of element types with different peak rates.
enum class ElementClass { F64, F32, BF16, F16, F8, I8, Integer };
constexpr unsigned numElementClasses = 7;

/// The names of element classes in files, by `ElementClass`.
extern const llvm::StringLiteral elementClassNames[numElementClasses];

/// The generations of NVIDIA GPUs that the models of collectives distinguish.
enum class GpuGeneration { None, Volta, Ampere, Hopper, Blackwell };

/// The model of the time of collectives.
enum class CollectiveModelKind { Nccl, Inductor, Link };

/// The maker of the host's processors: NCCL has rules of its own for AMD's.
enum class CpuVendor { Intel, Amd };

/// The topology that NCCL finds on a machine, and NCCL's settings.
struct NcclFigures {
  /// The number of channels that NCCL's search finds within a node, before NCCL
  /// doubles the number for its kernels, and the bytes per second of one
  /// channel. 0 if NCCL does not run on the machine.
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
  /// The latency in nanoseconds of a collective of the copy engines, and the
  /// bytes per second that a rank sends; 0 if not measured.
  double copyEngineLatencyNs = 0;
  double copyEngineBandwidth = 0;
};

/// The network behind the ports of the ranks: leaf switches, and a spine that
/// connects these.
struct NetworkFigures {
  /// The ports of a leaf switch that lead to ranks; 0 for a network without
  /// bottlenecks.
  int64_t leafPorts = 0;
  /// Each port of a node leads to a leaf switch of its own (a rail). Otherwise
  /// all ports of a node lead to one leaf switch.
  bool hasRails = false;
  /// The bandwidth of these ports divided by the bandwidth of the leaf switch
  /// to the spine; at least 1.
  double oversubscription = 1;
};

/// One machine: the rates of one GPU (or of one rank's share of a host), and of
/// the links between them. All values are from datasheets, for dense operands;
/// the table in Hardware.cpp gives the sources.
struct Hardware {
  /// The name of the machine in `comm.machine` and in options of passes.
  std::string name;
  /// One line for lists of machines.
  std::string summary;
  /// Peak operations per second, by `ElementClass`. If the machine converts a
  /// class before computing, the class has the peak of the other class.
  double peakOpsPerSecond[numElementClasses];
  /// Bytes per second of the device memory.
  double memoryBandwidth;
  /// Bytes of the device memory.
  int64_t memoryBytes;
  /// Ranks of one node; also the default size of a group `all`.
  int64_t ranksPerNode;
  /// Bytes per second and direction of one rank's links within a node.
  double intraNodeBandwidth;
  /// Bytes per second and direction of one rank's links between nodes.
  double interNodeBandwidth;
  /// Nanoseconds of one message between neighbours, for the `link` model.
  double linkLatencyNs;
  GpuGeneration generation;
  /// The default model of collectives.
  CollectiveModelKind defaultCollectiveModel;
  /// Multiprocessors of one GPU; 0 if collectives take none from compute.
  int64_t multiprocessors;
  /// Nanoseconds between two kernels of a stream.
  int64_t launchNs;
  NcclFigures nccl;
  ContentionFigures contention = {};
  NetworkFigures network = {};

  /// True if NCCL runs on the machine.
  bool hasNccl() const {
    return generation != GpuGeneration::None && nccl.numChannels > 0;
  }

  /// The nodes whose ranks reach each other without the spine; 0 for all nodes.
  int64_t getNodesPerLeaf() const {
    int64_t portsOfNode = network.hasRails ? 1 : ranksPerNode;
    return network.leafPorts > 0 && network.oversubscription > 1
               ? std::max<int64_t>(1, network.leafPorts / portsOfNode)
               : 0;
  }

  /// Peak operations per second on elements of class `element`.
  double getPeak(ElementClass element) const {
    return peakOpsPerSecond[static_cast<unsigned>(element)];
  }
};

/// All machines with a name, in the order of lists for users.
llvm::ArrayRef<Hardware> getKnownHardware();

/// The machine called `name`; null if there is none.
const Hardware *lookupHardware(llvm::StringRef name);

/// The default machine of all estimates: h100x8.
const Hardware &getDefaultHardware();

/// The names of all machines, separated by spaces, for messages.
std::string joinHardwareNames();

/// Parses a machine from `text`, a JSON object with the fields of
/// docs/reference/machine-files.md. The field `base` names a machine that
/// gives all missing fields; without `base` no field may be missing. The field
/// `name` gives the name of the machine, by default `defaultName`. The error
/// gives the path of the field, the found and the expected value.
llvm::Expected<Hardware> parseHardware(llvm::StringRef text,
                                       llvm::StringRef defaultName);

/// The name of a model of collectives, as options spell it; and the reverse,
/// none if there is no such model.
llvm::StringRef stringifyCollectiveModel(CollectiveModelKind kind);
std::optional<CollectiveModelKind>
symbolizeCollectiveModel(llvm::StringRef name);

/// The names of all collective models, separated by spaces, for messages.
std::string joinCollectiveModelNames();

} // namespace braid

#endif // BRAID_COST_HARDWARE_HARDWARE_H
