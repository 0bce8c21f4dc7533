//===- CostOptions.td - Options of passes that ask for costs *- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_TRANSFORMS_COSTOPTIONS_TD
#define BRAID_DIALECT_COMM_TRANSFORMS_COSTOPTIONS_TD

include "mlir/Pass/PassBase.td"

/// The options of passes that use costs; `CostSettings` holds their values.
defvar costOptions = [
  Option<"machine", "machine", "std::string", /*default=*/"\"\"",
         "The machine of the estimates: v100x8 a100x8 h100x8 h200x8 b200x8 cpu ideal, or "
         "a .json file. Without it the module's comm.machine, or else h100x8">,
  Option<"ranks", "ranks", "int64_t", /*default=*/"0",
         "The number of ranks in a group of all; 0 is the ranks per node">,
  Option<"ranksPerNode", "ranks-per-node", "int64_t", /*default=*/"0",
         "The number of ranks on each node; 0 is the machine's">,
  Option<"collectiveModel", "collective-model", "::braid::comm::CollectiveModelOption",
         /*default=*/"::braid::comm::CollectiveModelOption::Auto",
         "The model of collectives: nccl (the tuner of NCCL 2.28), inductor (the "
         "formula of PyTorch 2.4), link (latency and bandwidth, as braid-run --link "
         "rehearses them), or auto: nccl on GPUs, link elsewhere",
         "::braid::comm::getCollectiveModelValues()">,
  Option<"linkLatency", "link-latency", "std::string", /*default=*/"\"\"",
         "The latency of the link model, such as 20us; the machine's without it">,
  Option<"linkBandwidth", "link-bandwidth", "std::string", /*default=*/"\"\"",
         "The bandwidth of the link model, such as 10GB/s; 0GB/s is no limit. The "
         "machine's without it">,
  Option<"dynamicSize", "dynamic-size", "int64_t", /*default=*/"0",
         "The elements of a dynamic dimension; 0 is 64">,
  Option<"profile", "profile", "std::string", /*default=*/"\"\"",
         "A file of measured times, which replace estimates (docs/reference/profile-files.md)">,
  Option<"cudaGraph", "cuda-graph", "std::string", /*default=*/"\"\"",
         "1 if the program runs as CUDA graphs, 0 if it does not, or auto: if all ranks are on one "
         "node. Profiles have times for both">
];

/// Options that several passes have.
class MinGain<string what>
    : Option<"minGain", "min-gain", "std::string", /*default=*/"\"auto\"",
             "The fraction by which " # what # ", such as 0.01; auto is 0.005">;
defvar planResources =
    Option<"planResources", "plan-resources", "bool", /*default=*/"true",
           "Plan resources in predictions, on machines that were measured">;
defvar maxMemory = Option<"maxMemory", "max-memory", "std::string", /*default=*/"\"\"",
                          "The most bytes that may be live at once, such as 80GiB">;
defvar numerics =
    Option<"numerics", "numerics", "::braid::comm::Numerics",
           /*default=*/"::braid::comm::Numerics::Exact",
           "What may happen to sums of floats", "::braid::comm::getNumericsValues()">;
defvar keepOrder = Option<"keepOrder", "keep-order", "bool", /*default=*/"false",
                          "Keep the program's order of the starts">;
defvar lanes =
    Option<"lanes", "lanes", "::braid::comm::LaneSharing",
           /*default=*/"::braid::comm::LaneSharing::Communicator",
           "Which collectives run beside each other: communicator (those of different "
           "groups) or shared (none)",
           "::braid::comm::getLaneSharingValues()">;

#endif // BRAID_DIALECT_COMM_TRANSFORMS_COSTOPTIONS_TD
