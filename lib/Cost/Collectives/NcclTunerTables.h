//===- NcclTunerTables.h - The constants of NCCL's tuner --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constants of NCCL v2.28.9-1: src/graph/tuning.cc, src/graph/search.cc,
// src/include/device.h, in microseconds and GB/s.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_COLLECTIVES_NCCLTUNERTABLES_H
#define BRAID_LIB_COST_COLLECTIVES_NCCLTUNERTABLES_H

#include "NcclTuner.h"
#include "llvm/ADT/ArrayRef.h"

namespace braid::nccl::tables {

enum Link { NvLink, Pci, Net, NumLinks };

/// The base latency, by algorithm and protocol.
constexpr double baseLatency[numAlgorithms][numProtocols] = {
    {6.8, 14.0, 8.4}, // Tree
    {6.6, 14.0, 8.4}, // Ring
    {0, 0, 0},        // CollNetDirect
    {0, 0, 0},        // CollNetChain
    {0, 0, 0},        // NVLS
    {0, 0, 0},        // NVLSTree
    {8, 8, 8},        // PAT
};

/// The latency of one step, by link, algorithm and protocol.
constexpr double linkLatency[NumLinks][numAlgorithms][numProtocols] = {
    {{0.6, 1.25, 4.0},
     {0.6, 1.9, 3.4},
     {0, 0, 3.7},
     {0, 0, 2.8},
     {0, 0, 25},
     {0, 0, 25},
     {0, 0, 4.0}},
    {{1.0, 1.9, 4.0},
     {1.0, 2.5, 5.7},
     {0, 0, 3.7},
     {0, 0, 2.8},
     {0, 0, 0},
     {0, 0, 0},
     {0, 0, 4.0}},
    {{5.0, 8.5, 14},
     {2.7, 4.0, 14.0},
     {0, 0, 31},
     {0, 0, 30},
     {0, 0, 18},
     {0, 0, 20.9},
     {0, 0, 14}},
};

constexpr unsigned numGenerations = 4; // Volta, Ampere, Hopper, Blackwell

/// By generation, and 1, 2, or 4 and more nodes.
using ByScale = double[numGenerations][3];

/// The largest bus bandwidth of the LL protocol. For several nodes the
/// processor selects the row: that of Volta for Intel, that of Ampere for AMD.
constexpr ByScale llMaxBandwidth = {
    {39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141, 45, 35}, {282, 90, 70}};

/// The largest bandwidth of one channel.
constexpr ByScale ringLL128PerChannel = {
    {20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {73.4, 34.6, 73.4}};
constexpr ByScale treeLL128PerChannel = {
    {20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}};
constexpr ByScale treePerChannel = {
    {26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}};
constexpr ByScale nvlsTreePerChannel = {
    {26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 43.8}};

constexpr double nvlsEfficiency[numGenerations] = {0, 0, 0.85, 0.74};

/// The efficiency of trees in an all-reduce of 64 B, 128 B, ... 256 MB, by
/// protocol.
constexpr unsigned numTreeCorrections = 23;
constexpr double treeCorrection[numProtocols][numTreeCorrections] = {
    {1,  1,  1,  1,  .9, .8, .7, .7, .7, .7, .6, .5,
     .4, .4, .5, .6, .7, .8, .9, 1,  1,  1,  1},
    {1,  1,  1,  1,  1,  .9, .8, .8, .8, .7, .6, .6,
     .6, .6, .6, .6, .8, .9, .9, .9, .9, 1,  1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9},
};

/// The collectives in one batch of a kernel: 1024 B of descriptors of 96 B.
constexpr int64_t maxBatchOperations = 10;

/// The threads of a CTA, and the least number of bytes for each thread.
constexpr int64_t maxThreads[numProtocols] = {512, 640, 512};
constexpr int64_t threadThreshold[numProtocols] = {8, 8, 64};
constexpr int64_t collNetThreads = 640;
constexpr int64_t collNetThreshold = 512;

/// The least traffic of a channel, in bytes.
constexpr uint64_t minTrafficPerChannel = 16 << 10;

/// A message between two ranks with at most this many bytes in each channel
/// uses the LL protocol (NCCL_P2P_LL_THRESHOLD).
constexpr uint64_t pointToPointLLBytes = 16 << 10;

/// The bytes of a chunk of a message within and between nodes
/// (NCCL_P2P_NVL_CHUNKSIZE, NCCL_P2P_NET_CHUNKSIZE), and the number of chunks
/// of one channel before NCCL uses another channel.
constexpr uint64_t intraNodeChunk = 512 << 10;
constexpr uint64_t intraNodeChunksPerChannel = 32;
constexpr uint64_t interNodeChunk = 128 << 10;
constexpr uint64_t interNodeChunksPerChannel = 1;

/// The largest number of channels of a communicator.
constexpr int64_t maxChannels = 64;

/// The GB/s of one channel between nodes that the search tries, in its order.
constexpr double interSpeeds[] = {48, 30, 28, 24, 20, 18,  15,  12,  10, 9,
                                  7,  6,  5,  4,  3,  2.4, 1.2, .24, .12};
constexpr double interSpeedsHopper[] = {48, 45, 42, 40, 30,  24,  22,  20, 17.5,
                                        15, 12, 6,  3,  2.4, 1.2, .24, .12};
constexpr double interSpeedsBlackwell[] = {96, 48, 45.1, 42,   40,  30,
                                           24, 22, 20,   17.5, 15,  12,
                                           6,  3,  2.4,  1.2,  .24, .12};

/// The GB/s of one channel of NVLS that the search tries.
constexpr double nvlsSpeedsHopper[] = {60, 50, 40, 30, 24, 20,
                                       15, 12, 11, 6,  3};
constexpr double nvlsSpeedsBlackwell[] = {90, 80, 70, 60, 50, 40,
                                          30, 24, 20, 19, 18};

} // namespace braid::nccl::tables

#endif // BRAID_LIB_COST_COLLECTIVES_NCCLTUNERTABLES_H
